"""Supervisor: N worker processes; what dies is restarted, and its leases are freed at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.engine.running.keeping import Keeper
from docproc.engine.store import workers
from docproc.engine.store.session import Store
from docproc.engine.transport import Transport
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)


class _Kept(Keeper):
    """One of the worker processes."""

    def __init__(self, supervisor: Supervisor) -> None:
        super().__init__(supervisor.components, supervisor.shutdown_seconds)
        self.supervisor = supervisor

    def started(self, worker_id: str, process: asyncio.subprocess.Process) -> None:
        self.supervisor._live[worker_id] = process

    async def ended(self, worker_id: str, code: int) -> None:
        del self.supervisor._live[worker_id]
        await self.supervisor._free(worker_id)


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
            kept = [_Kept(self) for _ in range(self.processes)]
            keepers = [group.create_task(one.keep(stopping)) for one in kept]
            await stopping.wait()
            self._stopping = True
            log.info("supervisor_stopping", workers=len(self._live))
            await asyncio.gather(*keepers)
            watching.cancel()
        await self.transport.close()

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
