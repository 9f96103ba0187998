"""Supervisor: N worker processes; what dies is restarted, and its leases are freed at once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Sequence

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.engine.store import workers
from docproc.engine.store.session import Store
from docproc.engine.transport import Transport
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 10.0
# A worker that lived this long was fine: the next restart is quick again.
HEALTHY_SECONDS = 30.0


class Supervisor:
    def __init__(
        self,
        store: Store,
        transport: Transport,
        components: Sequence[str],
        processes: int,
        shutdown_seconds: float,
    ) -> None:
        self.store = store
        self.transport = transport
        self.components = components
        self.processes = processes
        self.shutdown_seconds = shutdown_seconds
        self._live: dict[str, asyncio.subprocess.Process] = {}
        self._ready: set[str] = set()
        self._stopping = False

    @property
    def is_ready(self) -> bool:
        """All worker processes are warm and consuming, and none is about to be stopped."""
        return not self._stopping and len(self._ready & self._live.keys()) == self.processes

    async def run(self, stopping: asyncio.Event) -> None:
        if not self.transport.has_broker:  # to wake the others when a worker's messages are free
            await self.transport.open()
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(self._watch_readiness())
            keepers = [group.create_task(self._keep(stopping)) for _ in range(self.processes)]
            await stopping.wait()
            self._stopping = True
            log.info("supervisor_stopping", workers=len(self._live))
            await asyncio.gather(*keepers)
            watching.cancel()
        await self.transport.close()

    async def _keep(self, stopping: asyncio.Event) -> None:
        """One worker process, started again whenever it dies, with growing pauses while it keeps dying."""
        pause = FIRST_PAUSE
        while not stopping.is_set():
            started = time.monotonic()
            worker_id = workers.new_worker_id()
            process = await self._spawn(worker_id)
            self._live[worker_id] = process
            code = await self._wait(process, stopping)
            del self._live[worker_id]
            await self._free(worker_id)
            if stopping.is_set():
                return
            lived = time.monotonic() - started
            pause = FIRST_PAUSE if lived > HEALTHY_SECONDS else pause
            log.warning("worker_died", pid=process.pid, exit_code=code, restart_in_s=pause)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _spawn(self, worker_id: str) -> asyncio.subprocess.Process:
        command = [sys.executable, "-m", "docproc", "worker", "--child", *self.components]
        # The child reads the pipe's end as our end.
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            env={**os.environ, "DOCPROC_WORKER_ID": worker_id},
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
                log.warning("worker_killed", pid=process.pid, reason="did not end in time")
                process.kill()
        return await ended

    async def _free(self, worker_id: str) -> None:
        """No waiting for a stale heartbeat: the process is known to be gone."""
        try:
            async with self.store.claiming() as connection:
                freed = await workers.free(connection, worker_id)
            await self.transport.announce(freed)
        except (SQLAlchemyError, OSError) as error:
            log.warning("leases_end_by_age", worker=worker_id, error=text_for_logs(error))

    async def _watch_readiness(self) -> None:
        while True:
            try:
                async with self.store.reading() as session:
                    self._ready = await workers.ready(session, self.store)
            except (SQLAlchemyError, OSError):
                self._ready = set()  # nobody works without it
            await asyncio.sleep(0.5)
