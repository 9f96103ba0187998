"""The conductor of one film: frames out, filtered frames in, and a film written in order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from docproc.apps.video.film.apart import TakenApart
from docproc.apps.video.film.info import FilmInfo, FrameTime
from docproc.apps.video.film.sound import join
from docproc.apps.video.film.writing import FilmWriter
from docproc.apps.video.filters.chain import Chain
from docproc.apps.video.frames.buffer import Collected
from docproc.apps.video.frames.collector import FrameCollector, disk_full
from docproc.apps.video.frames.files import FrameFiles, Originals
from docproc.apps.video.frames.job import Job
from docproc.apps.video.metrics import RESENT, Made, Tally
from docproc.apps.video.progress import Progress
from docproc.apps.video.room import check_room
from docproc.apps.video.sessions import Session
from docproc.apps.video.settings import VideoSettings
from docproc.apps.video.work.local import Offload
from docproc.apps.video.work.work import FrameWork
from docproc.engine.disk import FULL

log = structlog.get_logger(__name__)

REPORT_SECONDS = 0.2
# What decoding a film may take of the machine's memory (addresses, of which threads reserve many).
DECODER_MB = 8192
# How often the workers are asked what became of the frames that did not come.
ASK_SECONDS = 2.0

Report = Callable[[Progress], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done to a film."""

    chain: Chain
    codec: str
    filename: str = ""


class Conductor:
    """Of one film. Memory holds a window of its frames, however long it is; a film that was begun before goes
    on with the frames that are there."""

    def __init__(
        self,
        session: Session,
        order: Order,
        work: FrameWork,
        video: VideoSettings,
        offload: Offload,
        report: Report,
    ) -> None:
        self.session = session
        self.order = order
        self.work = work
        self.video = video
        self.offload = offload
        self.report = report
        self.files = FrameFiles(session.frames)
        self.originals = Originals(session.originals)
        self.progress = Progress(str(session.session_id), order.filename, order.chain.specs)
        self.tally = Tally()
        self._times: dict[int, FrameTime] = {}
        self._fed = 0
        self._all_fed = False
        self._written = 0
        self._seconds_of_film = 0.0
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="film-reader")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="film-writer")

    async def run(self) -> dict[str, Any]:
        """The film's metrics, once `session.output` is there. Raises VideoError."""
        try:
            return await self._run()
        except ExceptionGroup as several:  # of the parts that run at the same time: the first one tells
            raise _told(_first(several)) from several
        except OSError as error:
            raise _told(error) from error
        finally:
            await self.work.close()
            self._reader.shutdown(wait=False)
            self._writer.shutdown(wait=False)

    async def _run(self) -> dict[str, Any]:
        started = time.perf_counter()
        await asyncio.to_thread(self._prepare)
        arguments = (self.session.film, self.session.originals, self.video.limits, DECODER_MB)
        apart = await self._in(self._reader, TakenApart, *arguments)
        try:
            info: FilmInfo = await self._in(self._reader, apart.info)
            size = self.order.chain.size(info.width, info.height, self.video.video_max_pixels)
            self._begin(info, size)
            collector = FrameCollector(
                self.files, self.originals, size, timeout_seconds=self.video.video_frame_timeout_seconds
            )
            try:
                await self._flow(apart, collector, info, size)
            finally:
                collector.close()
        finally:
            apart.close()
        audio = await self._join()
        await asyncio.to_thread(self._tidy)
        made = Made(
            seconds=time.perf_counter() - started,
            seconds_of_film=self._seconds_of_film,
            latencies=collector.latencies,
            damaged=max(0, info.frames - self._fed),
            filters=self.order.chain.names,
            size=size,
            codec=self.order.codec,
            audio=audio,
        )
        metrics = self.tally.metrics(info, made)
        await self._report_end(metrics)
        return metrics

    def _begin(self, info: FilmInfo, size: tuple[int, int]) -> None:
        ready = len(self.files.listing().ready)
        kept = info.frames - ready if self.video.video_keep_frames else self.video.video_frames_in_flight
        check_room(self.session.frames, min(kept, info.frames), size, small=self.video.video_small_png)
        log.info("film_begun", session=str(self.session.session_id), frames=info.frames, done_before=ready)
        self.progress.status = "processing"
        self.progress.frames_total = info.frames
        self.progress.facts = {
            "width": size[0],
            "height": size[1],
            "fps_input": round(info.fps, 3),
            "duration_seconds": round(info.seconds, 3),
            "codec": self.order.codec,
        }

    async def _flow(
        self, apart: TakenApart, collector: FrameCollector, info: FilmInfo, size: tuple[int, int]
    ) -> None:
        """Until every frame is written."""
        writer = await self._in(self._writer, FilmWriter, self._pictures, info, size, self.order.codec)
        try:
            async with asyncio.TaskGroup() as group:
                others = [
                    group.create_task(self._collect(collector)),
                    group.create_task(self._keep_reporting()),
                ]
                group.create_task(self._feed(apart, collector))
                await self._write(apart, collector, writer, info)
                for task in others:
                    task.cancel()
            await self._in(self._writer, writer.close)
        except BaseException:
            await asyncio.shield(self._in(self._writer, writer.abandon))
            raise

    # --- the four parts, at the same time ---

    async def _feed(self, apart: TakenApart, collector: FrameCollector) -> None:
        """Frames to the workers, as many as the window lets out."""
        done = self.files.listing()
        settled = done.ready | done.failed if self.order.chain.history == 0 else frozenset[int]()
        apart.begin(sorted(done.ready & settled))
        apart.allow(self.video.video_frames_in_flight)
        while (when := await self._in(self._reader, apart.next)) is not None:
            job = self._job(when)
            self._times[when.index] = when
            self._fed += 1
            collector.expect(job, when)
            if when.index not in done.ready and when.index not in done.failed:
                await self.work.send(job)
        self._all_fed = True
        self.progress.frames_total = self._fed
        collector.wake()

    async def _collect(self, collector: FrameCollector) -> None:
        """Every pending frame is seen at each look."""
        asked = time.monotonic()
        while True:
            await collector.look()
            if time.monotonic() - asked > ASK_SECONDS:
                asked = time.monotonic()
                again = await self.work.send_lost(collector.jobs())
                self.tally.resent += len(again)
                RESENT.inc(len(again))
            collector.wake()
            await asyncio.sleep(self.video.video_poll_seconds)

    async def _write(
        self, apart: TakenApart, collector: FrameCollector, writer: FilmWriter, info: FilmInfo
    ) -> None:
        """In the order of the film, one frame at a time."""

        tick = float(info.tick_seconds)

        def is_over() -> bool:
            return self._all_fed and self._written == self._fed

        while (frame := await collector.take(self._written, is_over)) is not None:
            when = self._times.pop(frame.index)
            await self._in(self._writer, writer.write, frame.image, when)
            self._seconds_of_film = when.seconds + when.duration * tick
            self._written += 1
            self._count(frame)
            self._let_go(frame.index)
            apart.allow(1)

    async def _keep_reporting(self) -> None:
        while True:
            await self.report(self.progress)
            await asyncio.sleep(REPORT_SECONDS)

    # --- smaller things ---

    @property
    def _pictures(self) -> Path:
        return self.session.films / "pictures.mp4"

    def _job(self, when: FrameTime) -> Job:
        return Job(
            session_id=self.session.session_id,
            index=when.index,
            history=self.order.chain.history,
            filters=self.order.chain.specs,
            seconds=round(when.seconds, 6),
            small=self.video.video_small_png,
        )

    def _count(self, frame: Collected) -> None:
        self.tally.add(frame)
        self.progress.count()
        self.progress.retries = self.tally.retries
        self.progress.frames_failed = len(self.tally.failures)
        self.progress.workers = self.tally.workers

    def _let_go(self, index: int) -> None:
        """Originals that no later frame is compared with, and frames that nobody wants to keep."""
        self.originals.remove(index - self.order.chain.history)
        if not self.video.video_keep_frames:
            self.files.remove(index)

    async def _join(self) -> str:
        self.progress.status = "joining"
        await self.report(self.progress)
        unfinished = self.session.films / "output.part.mp4"
        audio: str = await self.offload(join, self._pictures, self.session.film, unfinished)
        unfinished.replace(self.session.output)
        return audio

    def _prepare(self) -> None:
        self.session.make()
        self.files.tidy()

    def _tidy(self) -> None:
        """Of a long film these are tens of thousands of files: not for the loop."""
        self.files.tidy()
        self._pictures.unlink(missing_ok=True)
        for path in self.session.originals.glob("*"):
            path.unlink(missing_ok=True)

    async def _report_end(self, metrics: dict[str, Any]) -> None:
        self.progress.status = "completed"
        self.progress.facts |= {"metrics": metrics, "size_bytes": self.session.output.stat().st_size}
        await self.report(self.progress)

    async def _in(self, executor: ThreadPoolExecutor, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(executor, function, *arguments)


def _first(several: ExceptionGroup[Exception]) -> Exception:
    first: Exception = several
    while isinstance(first, ExceptionGroup):
        first = first.exceptions[0]
    return first


def _told(error: Exception) -> Exception:
    return disk_full() if isinstance(error, OSError) and error.errno in FULL else error
