"""FrameCollector: sees frames arrive on disk and brings them, a few ahead of the writer, into memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import cv2

from docproc.apps.video.errors import Code, VideoError
from docproc.apps.video.film.info import FrameTime
from docproc.apps.video.frames.buffer import Collected, FrameBuffer
from docproc.apps.video.frames.files import Facts, FrameFiles, Listing, Originals
from docproc.apps.video.frames.job import Job, failure_facts
from docproc.engine.disk import FULL, is_full

# As specified: threads that look for frames and read them.
THREADS = 8
# Frames in memory at once; the others wait on disk.
READ_AHEAD = 16
# Without a frame for this long, it is asked whether the disk is full.
SUSPICIOUS_SECONDS = 3.0


@dataclass(slots=True)
class Waiting:
    """A frame that somebody is filtering."""

    job: Job
    when: FrameTime
    sent_at: float


class FrameCollector:
    """Used from the event loop; reading happens in its threads."""

    def __init__(
        self, files: FrameFiles, originals: Originals, size: tuple[int, int], *, timeout_seconds: float
    ) -> None:
        self.files = files
        self.originals = originals
        self.size = size
        self.timeout_seconds = timeout_seconds
        self.waiting: dict[int, Waiting] = {}
        # Seconds from the handing over of a frame to its arrival.
        self.latencies: list[float] = []
        self.buffer = FrameBuffer(self._wake)
        self.filled = asyncio.Event()
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="collect")
        self._loop = asyncio.get_running_loop()
        # On disk and wanted: its failure, where the original has to serve.
        self._arrived: dict[int, Facts | None] = {}
        self._reading: dict[int, Future[None]] = {}
        self._last_arrival = time.monotonic()

    def expect(self, job: Job, when: FrameTime) -> None:
        now = time.monotonic()
        self.waiting[job.index] = Waiting(job, when, now)
        if len(self.waiting) == 1:
            self._last_arrival = now  # before, nothing could have come

    async def look(self) -> int:
        """One look at the folder for all frames that are waited for; how many are there now."""
        if not self.waiting:
            return 0
        listing = await self._loop.run_in_executor(self.threads, self.files.listing)
        arrived = [index for index in self.waiting if index in listing.ready or index in listing.failed]
        now = time.monotonic()
        for index in arrived:
            self._arrive(index, listing, now)
        if arrived:
            self._last_arrival = now
        elif now - self._last_arrival > SUSPICIOUS_SECONDS and is_full(self.files.folder):
            raise disk_full()
        else:
            self._time_out(now)
        return len(arrived)

    def _arrive(self, index: int, listing: Listing, now: float) -> None:
        waited = self.waiting.pop(index)
        self.latencies.append(now - waited.sent_at)
        if index in listing.ready:
            self._arrived[index] = None
            return
        failure = self.files.read_failure(index)
        if failure.get("errno") in FULL:
            raise disk_full()
        self._arrived[index] = failure

    def _time_out(self, now: float) -> None:
        """A frame that waits behind others is not lost: the time counts from the last arrival."""
        for index, waited in list(self.waiting.items()):
            if now - max(waited.sent_at, self._last_arrival) > self.timeout_seconds:
                del self.waiting[index]
                facts = failure_facts(waited.job, f"no worker filtered it in {self.timeout_seconds:g} s")
                self.files.write_failure(index, facts)  # a worker that comes too late lets it be
                self._arrived[index] = facts

    def read(self, first: int) -> None:
        """Have the frames from `first` on read, as far as they are there and few enough."""
        for index in range(first, first + READ_AHEAD):
            if index in self._arrived and index not in self._reading:
                self._reading[index] = self.threads.submit(self._read, index, self._arrived[index])

    def _read(self, index: int, failure: Facts | None) -> None:
        """In a thread."""
        if failure is None:
            image, facts = self.files.read(index)
        else:
            image, facts = self.originals.read(index), {}
        if image.shape[1::-1] != self.size:
            image = cv2.resize(image, self.size, interpolation=cv2.INTER_AREA)
        self.buffer.put(Collected(index, image, facts, failure))

    async def take(self, index: int, is_over: Callable[[], bool]) -> Collected | None:
        """The frame, as soon as it is read; None when the film ends before it. Raises what reading raised."""
        while True:
            self.filled.clear()
            self.read(index)
            if (found := self.buffer.take(index)) is not None:
                self._reading.pop(index).result()
                del self._arrived[index]
                return found
            reading = self._reading.get(index)
            if reading is not None and reading.done() and reading.exception() is not None:
                reading.result()
            if is_over():
                return None
            await self.filled.wait()

    def jobs(self) -> Mapping[int, Job]:
        return {index: waited.job for index, waited in self.waiting.items()}

    def wake(self) -> None:
        """Something changed that `take` should look at."""
        self.filled.set()

    def _wake(self) -> None:
        self._loop.call_soon_threadsafe(self.filled.set)

    def close(self) -> None:
        self.threads.shutdown(wait=False, cancel_futures=True)


def disk_full() -> VideoError:
    return VideoError(
        "the disk is full", code=Code.DISK_FULL, remedy="Make room (docproc video clean), then send it again"
    )
