"""What the commands that process films have in common."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as Bar

from docproc.errors import UsageError
from docproc.terminal.output import errors

Processing = typer.Option(
    "blur", "--processing", help="blur, edges, faces, motion, another filter, or custom with --filter"
)
Filters = typer.Option(
    None, "--filter", help="NAME or NAME:key=value,key=value; with custom several times, in order"
)
Codec = typer.Option("h264", "--codec", help="h264, hevc or mp4v")
AsJson = typer.Option(False, "--json", help="Only the metrics, on one line")


def parse_filters(given: list[str] | None) -> list[dict[str, Any]]:
    """`blur:kind=median,size=5` as a handshake has it; values are checked by the filter's own schema."""
    return [_parse(one) for one in given or ()]


def _parse(text: str) -> dict[str, Any]:
    name, _, rest = text.partition(":")
    spec: dict[str, Any] = {"name": name.strip()}
    for pair in filter(None, rest.split(",")):
        key, equals, value = pair.partition("=")
        if not (equals and key.strip()):
            raise UsageError(f"--filter {text!r}: {pair!r} is no parameter", remedy="Write NAME:key=value")
        spec[key.strip()] = value.strip()
    return spec


def check_target(out: Path, film: Path) -> None:
    """Before hours of work: raises UsageError for a place where the new film cannot be put."""
    if out.is_dir():
        raise UsageError(f"--out {out} is a folder", remedy=f"Name a file in it: {out / 'output.mp4'}")
    if out.exists() and out.samefile(film):
        raise UsageError(f"--out {out} is the film itself", remedy="Name another file")
    check_folder(out.parent)


def check_folder(folder: Path) -> None:
    """Made, and something can be written there; else raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(
            f"nothing can be written to {folder}: {error.strerror}", remedy="Name another place"
        ) from error


class FrameBar:
    """A progress bar on standard error, for people."""

    def __init__(self, *, shown: bool) -> None:
        self._bar = Bar(
            TextColumn("{task.description:10}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[said]}"),
            console=errors,
            transient=True,
            disable=not shown,
        )
        self._task: TaskID = self._bar.add_task("starting", total=None, said="")

    def show(self, what: str, done: int, total: int | None, said: str = "") -> None:
        self._bar.update(self._task, description=what, completed=done, total=total or None, said=said)

    def frames(self, numbers: dict[str, Any]) -> None:
        eta = numbers.get("eta_seconds")
        said = f"{numbers['fps']:.1f} frames/s" + ("" if eta is None else f"  {eta:.0f} s left")
        self.show("frames", numbers["frames_processed"], numbers["frames_total"], said)

    def __enter__(self) -> FrameBar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
