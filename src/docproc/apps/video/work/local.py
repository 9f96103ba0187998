"""LocalWork: frames are filtered by child processes of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import structlog

from docproc.apps.video.frames import job as frame_job
from docproc.apps.video.frames.job import Job
from docproc.apps.video.work.work import FrameWork
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

# Runs a function in a child process that can be killed; cancelling the call kills it.
Offload = Callable[..., Awaitable[Any]]

FIRST_PAUSE = 0.5


class LocalWork(FrameWork):
    """Retries like a Celery worker does: three times, after pauses that double."""

    def __init__(self, folder: Path, offload: Offload, *, retries: int, time_limit_seconds: float) -> None:
        self.folder = folder
        self.offload = offload
        self.retries = retries
        self.time_limit_seconds = time_limit_seconds
        self._running: set[asyncio.Task[None]] = set()

    async def send(self, job: Job) -> None:
        task = asyncio.create_task(self._do(job))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _do(self, job: Job) -> None:
        told = (str(self.folder), job.model_dump(mode="json"), self.retries + 1, self.time_limit_seconds)
        for attempt in range(self.retries + 1):
            try:
                await self.offload(frame_job.do_in_child, *told)
                return
            except Exception as error:  # noqa: BLE001 # a filter's own code: the original frame serves
                problem = error
            log.warning("frame_failed", frame=job.index, attempt=attempt + 1, error=text_for_logs(problem))
            if attempt < self.retries:
                await asyncio.sleep(FIRST_PAUSE * 2**attempt)
        frame_job.give_up(self.folder, job, problem)

    async def close(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
