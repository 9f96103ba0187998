"""Worker: runs components in this process, from start-up to an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.component import BaseComponent
from docproc.engine.leases import Heartbeat, Takeover
from docproc.engine.outbox import Outbox
from docproc.engine.relay import Relay
from docproc.engine.runner import Runner
from docproc.settings import Settings
from docproc.store import sweep, workers
from docproc.transport import Transport

log = structlog.get_logger(__name__)

SWEEP_SECONDS = 3600.0


class Worker:
    """The life of a worker process reads from top to bottom in `run`."""

    def __init__(
        self,
        settings: Settings,
        components: Sequence[BaseComponent],
        transport: Transport,
        outbox: Outbox,
        relay: Relay,
    ) -> None:
        self.settings = settings
        self.components = components
        self.transport = transport
        self.outbox = outbox
        self.relay = relay
        self.store = outbox.store
        self.heartbeat = Heartbeat(
            settings.effective_database_url,
            outbox.worker_id,
            [component.component_name for component in components],
        )
        self._consuming = False
        self._background: list[asyncio.Task[None]] = []
        self._runners: list[asyncio.Task[None]] = []

    @property
    def is_ready(self) -> bool:
        """Warm and consuming: `/ready` is 200."""
        return self._consuming and self.transport.is_connected

    async def run(self, stopping: asyncio.Event) -> None:
        """Until `stopping` is set; raises when a part of it fails beyond repair."""
        await self.start()
        try:
            await self._until_stopped(stopping)
        finally:
            await self.shutdown()

    async def start(self) -> None:
        await self.heartbeat.start()
        await self.transport.open()
        for component in self.components:
            await component.setup()
            log.info("component_ready", component=component.component_name, queue=component.input_queue)
        takeover = Takeover(self.store, self._after_takeover)
        for job in (
            takeover.run(),
            self.relay.run(),
            self.relay.consume_returned(),
            self._sweep_now_and_then(),
        ):
            self._background.append(asyncio.create_task(job))
        for component in self.components:
            runner = Runner(
                component, self.transport, self.outbox, self.relay, prefetch=self.settings.prefetch_count
            )
            self._runners.append(asyncio.create_task(runner.run(), name=component.component_name))
        self._consuming = True
        self.heartbeat.is_ready = True

    async def shutdown(self) -> None:
        """Not ready first; then no new work, what is in flight finishes, and everything is given back."""
        self._consuming = False
        self.heartbeat.is_ready = False
        self.transport.stop()
        if self._runners:
            _, unfinished = await asyncio.wait(self._runners, timeout=self.settings.shutdown_seconds)
            if unfinished:
                log.warning("shutdown_cuts_work_off", components=[task.get_name() for task in unfinished])
        for task in (*self._runners, *self._background):
            task.cancel()
        await asyncio.gather(*self._runners, *self._background, return_exceptions=True)
        for component in self.components:
            await component.teardown()
        await self.heartbeat.stop()
        with contextlib.suppress(SQLAlchemyError, OSError):  # else the leases end by their age
            await self.relay.flush()
            async with self.store.claiming() as connection:
                freed = await workers.leave(connection, self.outbox.worker_id)
            self.transport.wake(freed)
        await self.transport.close()
        log.info("worker_stopped")

    async def _until_stopped(self, stopping: asyncio.Event) -> None:
        """A part that fails beyond repair ends the process: a supervisor starts it anew."""
        stop = asyncio.create_task(stopping.wait())
        waiting = {stop, *self._runners, *self._background}
        while not stop.done():
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done - {stop}:
                task.result()

    def _after_takeover(self, queues: Sequence[str]) -> None:
        self.transport.wake(queues)
        self.relay.nudge()

    async def _sweep_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            with contextlib.suppress(SQLAlchemyError, OSError):
                swept = await sweep.sweep(self.store, self.settings.retention_days)
                if swept:
                    log.info("engine_rows_swept", requests=swept)
