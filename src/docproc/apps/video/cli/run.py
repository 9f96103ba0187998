"""`docproc video run`: a film in, a film out, on this machine alone."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any
from uuid import uuid4

import typer

from docproc.apps.video.cli.options import (
    AsJson,
    Codec,
    Filters,
    FrameBar,
    Processing,
    check_folder,
    check_target,
    parse_filters,
)
from docproc.errors import UsageError
from docproc.settings import Settings
from docproc.terminal.output import console, load_settings, print_json, run_async


def run(
    file: Path = typer.Argument(help="The film", show_default=False),
    processing: str = Processing,
    filters: list[str] = Filters,
    out: Path = typer.Option("output.mp4", "--out", "-o", help="The film that is made"),
    codec: str = Codec,
    processes: int = typer.Option(
        None, "--processes", min=1, help="Frames filtered at once (default DOCPROC_PROCESSES, the cores)"
    ),
    frames: Path = typer.Option(None, "--frames", help="Keep the filtered frames there"),
    as_json: bool = AsJson,
) -> None:
    """Filter a film here and now, in processes of this machine; needs no server and no Redis."""
    if not file.is_file():
        raise UsageError(f"there is no file {file}", remedy="Name a film")
    check_target(out, file)
    if frames is not None:
        check_folder(frames)
    settings = load_settings()
    count = processes or settings.processes
    kept = tempfile.TemporaryDirectory(prefix="docproc-video-", ignore_cleanup_errors=True)
    with kept as folder, FrameBar(shown=not as_json) as bar:
        made = _Run(settings, Path(folder), file, out, frames, count, bar)
        metrics = run_async(made.main(processing, parse_filters(filters), codec))
    if as_json:
        return print_json(metrics)
    console.print_json(data=metrics)


class _Run:
    def __init__(
        self,
        settings: Settings,
        folder: Path,
        film: Path,
        out: Path,
        frames: Path | None,
        processes: int,
        bar: FrameBar,
    ) -> None:
        self.settings = settings
        self.folder = folder
        self.film = film
        self.out = out
        self.frames = frames
        self.processes = processes
        self.bar = bar

    async def main(self, processing: str, filters: list[dict[str, Any]], codec: str) -> dict[str, Any]:
        from docproc.apps.video.conductor import (  # OpenCV and FFmpeg, only where films are made
            Conductor,
            Order,
        )
        from docproc.apps.video.film.writing import codec_named
        from docproc.apps.video.filters.chain import requested
        from docproc.apps.video.sessions import Sessions
        from docproc.apps.video.settings import VideoSettings
        from docproc.apps.video.work.local import LocalWork
        from docproc.engine.running.child import Limits
        from docproc.engine.running.pools import Pools

        video = self.settings.section(VideoSettings)
        video = video.model_copy(update={"video_keep_frames": self.frames is not None})
        chain = requested(processing, filters, video.video_max_filters)
        order = Order(chain, codec_named(codec), self.film.name)
        session = Sessions(self.folder).of(uuid4())
        session.make()
        session.film.symlink_to(self.film.absolute())
        pools = Pools(workers=self.processes, limits=Limits(self.settings.child_memory_mb))
        work = LocalWork(
            self.folder,
            pools.run_in_process,
            retries=video.video_frame_retries,
            time_limit_seconds=video.video_frame_seconds,
        )

        async def report(progress: Any) -> None:
            self.bar.frames(progress.numbers())

        try:
            metrics = await Conductor(session, order, work, video, pools.run_in_process, report).run()
        finally:
            pools.close()
        self._keep(session)
        return {**metrics, "output_path": str(self.out), "size_bytes": self.out.stat().st_size}

    def _keep(self, session: Any) -> None:
        shutil.move(session.output, self.out)
        if self.frames is not None:
            for path in sorted(session.frames.glob("frame_*")):
                shutil.move(path, self.frames / path.name)
