"""Worker: runs components in this process, from start-up to an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.engine.component import BaseComponent
from docproc.engine.message import utc_now
from docproc.engine.running.chaining import Chain
from docproc.engine.running.connecting import connect
from docproc.engine.running.erasing import Erasure
from docproc.engine.running.leases import Heartbeat, Takeover
from docproc.engine.running.outbox import Outbox
from docproc.engine.running.relay import Relay
from docproc.engine.running.runner import Runner
from docproc.engine.running.work import Policies
from docproc.engine.store import sweep, workers
from docproc.engine.transport import Transport
from docproc.settings import Settings

log = structlog.get_logger(__name__)

SWEEP_SECONDS = 3600.0
# Files in the making, of processes that were killed: on a machine without a gateway nobody else removes them.
SCRATCH_OLD_ENOUGH = timedelta(days=1)


class Worker:
    """The life of a worker process reads from top to bottom in `run`."""

    def __init__(
        self,
        settings: Settings,
        components: Sequence[BaseComponent],
        transport: Transport,
        outbox: Outbox,
        relay: Relay,
        policies: Policies,
        erasure: Erasure,
        can_work: Callable[[], bool] = lambda: True,
        warm_up: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.settings = settings
        self.components = components
        self.transport = transport
        self.outbox = outbox
        self.relay = relay
        self.policies = policies
        self.erasure = erasure
        self.can_work = can_work
        self.warm_up = warm_up
        self.store = outbox.store
        self.heartbeat = Heartbeat(
            settings.effective_database_url,
            outbox.worker_id,
            [component.component_name for component in components],
            lambda: self.is_ready,
            settings.prefetch_count,
        )
        self._consuming = False
        self._warm: list[BaseComponent] = []
        self._background: list[asyncio.Task[None]] = []
        self._runners: list[asyncio.Task[None]] = []

    @property
    def is_ready(self) -> bool:
        """Warm, consuming, able to do heavy work, and heard by the database: `/ready` is 200."""
        is_heard = self.transport.is_connected and self.heartbeat.is_heard
        return self._consuming and is_heard and self.can_work()

    async def run(self, stopping: asyncio.Event, *, after_start: Callable[[], None] = lambda: None) -> None:
        """Until `stopping` is set; raises when a part of it fails beyond repair."""
        try:
            if await unless_stopped(self.start(wait=True), stopping):
                after_start()
                await self._until_stopped(stopping)
        finally:
            await self.shutdown()

    async def start(self, *, wait: bool = False) -> None:
        """`wait` outlasts a broker that is late; without it TransportError says so at once."""
        await self.heartbeat.start()
        # Before anything that may have to wait: the work of the dead does not wait for a broker.
        self._background.append(asyncio.create_task(Takeover(self.store, self._after_takeover).run()))
        await (connect(self.transport) if wait else self.transport.open())
        for component in self.components:
            await component.setup()
            self._warm.append(component)
            log.info("component_ready", component=component.component_name, queue=component.input_queue)
        if self.warm_up is not None:  # the first message must not be slower than the tenth
            await self.warm_up()
        for job in (self.relay.run(), self.relay.consume_returned(), self._sweep_now_and_then()):
            self._background.append(asyncio.create_task(job))
        chain = Chain(self.outbox, is_on=self.settings.chaining)
        for component in self.components:
            runner = Runner(
                component,
                self.transport,
                self.outbox,
                self.relay,
                self.policies,
                chain,
                prefetch=self.settings.prefetch_count,
            )
            self._runners.append(asyncio.create_task(runner.run(), name=component.component_name))
        self._consuming = True

    async def shutdown(self) -> None:
        """Not ready first; then no new work, what is in flight finishes, and everything is given back.

        Also after a start that was broken off: what was not begun is not ended.
        """
        self._consuming = False
        log.info("worker_stopping")
        self.transport.stop()
        if self._runners:
            _, unfinished = await asyncio.wait(self._runners, timeout=self.settings.shutdown_seconds)
            if unfinished:
                log.warning("shutdown_cuts_work_off", components=[task.get_name() for task in unfinished])
        for task in (*self._runners, *self._background):
            task.cancel()
        await asyncio.gather(*self._runners, *self._background, return_exceptions=True)
        for component in reversed(self._warm):
            try:
                await component.teardown()
            except Exception:  # the leases must be given back all the same
                log.exception("teardown_failed", component=component.component_name)
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
                await self.erasure.sweep()
                await self.erasure.blobs.sweep_scratch(before=utc_now() - SCRATCH_OLD_ENOUGH)


async def unless_stopped(job: Awaitable[None], stopping: asyncio.Event) -> bool:
    """Wait for a job or the stop signal, whichever comes first; False when stopped."""
    task = asyncio.ensure_future(job)
    stop = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
            return True
        return False
    finally:
        for one in (task, stop):
            one.cancel()
        await asyncio.gather(task, stop, return_exceptions=True)
