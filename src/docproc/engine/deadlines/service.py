"""The monitor as a service: its two loops, and its own way to the database and the broker."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.engine.deadlines.monitor import SlaMonitor
from docproc.engine.deadlines.node import Node
from docproc.engine.deadlines.planner import Planner
from docproc.engine.running.connecting import connect
from docproc.errors import DocProcError

log = structlog.get_logger(__name__)

COMPONENT = "sla_monitor"
PAUSE_SECONDS = 1.0


class Service:
    """Watches deadlines until it is stopped; whatever fails in it is begun again."""

    def __init__(self, application: Node) -> None:
        self.application = application
        application.store.hurry()
        self.monitor = SlaMonitor(application)
        self.planner = Planner(application.forecaster, application.relay)

    @property
    def is_ready(self) -> bool:
        return self.monitor.is_ready

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The database must be prepared. Deadlines are kept while the broker is away."""
        # What was imported stays. Else the collector walks over it now and then, and nobody is answered for a
        # tenth of a second.
        gc.freeze()
        jobs: tuple[Callable[[], Awaitable[None]], ...] = (
            self.monitor.run,
            self.planner.run,
            self._connect,
            self.application.relay.run,
        )
        tasks = [asyncio.create_task(_kept_alive(job)) for job in jobs]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with suppress(SQLAlchemyError, OSError, DocProcError):  # else the duty ends by its age
                await self.planner.leave()
                await self.application.relay.flush()
            await self.application.transport.close()

    async def _connect(self) -> None:
        await connect(self.application.transport, longest_pause_seconds=PAUSE_SECONDS)


async def serve(application: Node, stopping: asyncio.Event) -> None:
    """Until `stopping` is set."""
    async with Service(application).running():
        await stopping.wait()


async def _kept_alive(job: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            return await job()
        except Exception:  # the boundary: an answer by the deadline does not depend on a slip elsewhere
            log.exception("monitor_job_failed")
        await asyncio.sleep(PAUSE_SECONDS)
