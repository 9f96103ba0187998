"""Keeper: one child process of ours, started again whenever it dies, until all stop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from docproc.engine.store import workers

log = structlog.get_logger(__name__)

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 10.0
# A process that lived this long was fine: the next restart is quick again.
HEALTHY_SECONDS = 30.0


class Keeper:
    """Of a worker with these components, or of one service. A subclass does what it has to in the hooks."""

    def __init__(
        self, names: Sequence[str], shutdown_seconds: float, environment: Mapping[str, str] | None = None
    ) -> None:
        self.names = names
        self.shutdown_seconds = shutdown_seconds
        self.environment = environment or {}

    def started(self, worker_id: str, process: asyncio.subprocess.Process) -> None:
        """A process lives."""

    async def ended(self, worker_id: str, code: int) -> None:
        """It is known to be gone."""

    def tell_died(self, **facts: Any) -> None:
        log.warning("worker_died", **facts)

    def tell_killed(self, **facts: Any) -> None:
        """It would not end."""
        log.warning("worker_killed", **facts)

    async def keep(self, stopping: asyncio.Event) -> None:
        """With growing pauses while it keeps dying."""
        pause = FIRST_PAUSE
        while not stopping.is_set():
            started = time.monotonic()
            worker_id = workers.new_worker_id()
            process = await self._spawn(worker_id)
            self.started(worker_id, process)
            code = await self._wait(process, stopping)
            await self.ended(worker_id, code)
            if stopping.is_set():
                return
            lived = time.monotonic() - started
            pause = FIRST_PAUSE if lived > HEALTHY_SECONDS else pause
            self.tell_died(pid=process.pid, exit_code=code, restart_in_s=pause)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _spawn(self, worker_id: str) -> asyncio.subprocess.Process:
        command = [sys.executable, "-m", "docproc", "worker", "--child", *self.names]
        # The child reads the pipe's end as our end.
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            env={**os.environ, **self.environment, "DOCPROC_WORKER_ID": worker_id},
            start_new_session=True,  # Ctrl-C reaches us only; the children are ended in order
        )

    async def _wait(self, process: asyncio.subprocess.Process, stopping: asyncio.Event) -> int:
        ended = asyncio.create_task(process.wait())
        stop = asyncio.create_task(stopping.wait())
        await asyncio.wait({ended, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not ended.done():
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(ended), self.shutdown_seconds + 5)
            if not ended.done():
                self.tell_killed(pid=process.pid, reason="did not end in time")
                process.kill()
        return await ended
