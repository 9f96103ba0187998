"""Leases: this worker's heartbeat, and the takeover of what dead workers held."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.engine.running.resources import own_resources
from docproc.engine.store import clock, workers
from docproc.engine.store.session import Store
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

ORPHAN_CHECK_SECONDS = 30.0


class Heartbeat:
    """Beats from a thread with an event loop and a connection of its own: busy work cannot silence it."""

    def __init__(
        self,
        database_url: str,
        worker_id: str,
        components: Sequence[str],
        is_ready: Callable[[], bool],
        slots: int = 1,
    ) -> None:
        self.database_url = database_url
        self.worker_id = worker_id
        self.components = ",".join(components)
        self.is_ready = is_ready
        self.slots = slots
        self._last_beat: float | None = None
        self._stopped = threading.Event()
        self._beaten = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    @property
    def is_heard(self) -> bool:
        """Whether the database took a beat lately: else it takes nothing from here, and others take over."""
        return self._last_beat is not None and time.monotonic() - self._last_beat < workers.STALE_SECONDS

    async def start(self) -> None:
        """Returns after the first beat: leases need a living worker."""
        self._thread.start()
        await asyncio.to_thread(self._beaten.wait)

    async def stop(self) -> None:
        self._stopped.set()
        self._beaten.set()  # a start that still waits for the first beat
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        asyncio.run(self._beat())

    async def _beat(self) -> None:
        store = Store(self.database_url, connections=2)
        try:
            while not self._stopped.is_set():
                try:
                    usage = own_resources().measure()
                    async with store.claiming_once() as connection:
                        await workers.beat(
                            connection,
                            store,
                            self.worker_id,
                            components=self.components,
                            is_ready=self.is_ready(),
                            slots=self.slots,
                            cpu_pct=usage.cpu_pct,
                            memory_mb=usage.memory_mb,
                        )
                    self._last_beat = time.monotonic()
                    self._beaten.set()
                except (SQLAlchemyError, OSError) as error:
                    log.warning("heartbeat_missed", error=text_for_logs(error))
                await asyncio.to_thread(self._stopped.wait, workers.BEAT_SECONDS)
        finally:
            await store.close()


class Takeover:
    """Frees what dead workers held as soon as their last beat is too old; any process may do it."""

    def __init__(self, store: Store, after_takeover: Callable[[Sequence[str]], None]) -> None:
        self.store = store
        self.after_takeover = after_takeover

    async def run(self) -> None:
        """Until cancelled."""
        loop = asyncio.get_running_loop()
        orphans_due = 0.0
        while True:
            wait = workers.BEAT_SECONDS
            try:
                async with self.store.claiming() as connection:
                    set_back = await clock.follow(connection, self.store)
                    dead, queues = await workers.take_over(connection, self.store)
                    if loop.time() >= orphans_due:
                        queues = [*queues, *await workers.free_orphans(connection)]
                        orphans_due = loop.time() + ORPHAN_CHECK_SECONDS
                    wait = await workers.seconds_to_next_stale(connection, self.store)
                if dead:
                    log.warning("workers_taken_over", workers=dead, queues=queues)
                if set_back:
                    log.warning("clock_set_back", seconds=round(set_back, 1))
                if queues or set_back:
                    self.after_takeover(queues)
            except (SQLAlchemyError, OSError) as error:
                log.warning("takeover_waits", error=text_for_logs(error))
            # Never sooner than a fifth of a beat: clocks and rounding must not make this a busy loop.
            await asyncio.sleep(min(max(wait, 0.2), workers.BEAT_SECONDS))
