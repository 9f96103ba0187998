"""SqlTransport: the message table itself, on SQLite or PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self
from uuid import UUID

import structlog
from sqlalchemy.engine import Row

from docproc.engine.store import messages, workers
from docproc.engine.store.columns import as_uuid
from docproc.engine.store.session import Store, is_passing
from docproc.engine.transport import Copy, Delivery, Transport, TransportContext
from docproc.engine.transports.fair_claims import FairClaims
from docproc.engine.transports.wakeups import SocketWakeups, Wakeups
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

# How long an idle consumer trusts in wake-ups before it looks by itself; less after it has found something,
# because rows that others had locked at that moment were passed over.
IDLE_SECONDS = 2.0
SHORT_SECONDS = 0.2


@dataclass(slots=True)
class _Consumer:
    """One queue, as it is consumed in this process."""

    takes_one: bool
    # Something happened; `has_news` or `handed` says what.
    event: asyncio.Event = field(default_factory=asyncio.Event)
    # Rows may be ready.
    has_news: bool = True
    # Messages that this process sent to itself: their rows are leased, they need no claim.
    handed: deque[Delivery] = field(default_factory=deque)
    # It waits: as far as is known, the queue is empty.
    is_idle: bool = False

    def tell(self) -> None:
        self.has_news = True
        self.event.set()


class SqlTransport(Transport):
    """Claims rows under a lease, most urgent first; never polls while wake-ups work."""

    def __init__(
        self, store: Store, worker_id: str, *, fair_order: bool = True, aging_seconds: float = 60.0
    ) -> None:
        self.store = store
        self.worker_id = worker_id
        self.fair_order = fair_order
        self.aging_seconds = aging_seconds
        self._claims: dict[str, FairClaims] = {}
        self._consumers: dict[str, _Consumer] = {}
        self.wakeups = _wakeups(store, self._consumers.keys)
        self._delays_changed = asyncio.Event()
        self._stopped = asyncio.Event()
        self._clock: asyncio.Task[None] | None = None
        # Leases that were handed out and not settled yet.
        self._in_hand: Counter[UUID] = Counter()
        # Queues whose last claim failed: it may have been committed all the same.
        self._doubtful: set[str] = set()

    @classmethod
    def create(cls, context: TransportContext) -> Self:
        settings = context.settings
        return cls(
            context.store,
            context.worker_id,
            fair_order=settings.fair_order,
            aging_seconds=settings.aging_seconds,
        )

    @property
    def is_connected(self) -> bool:
        return self.wakeups.is_connected

    async def open(self) -> None:
        await self.wakeups.open(self._woken)
        self._clock = asyncio.create_task(self._promote_delayed(), name="delays")

    async def close(self) -> None:
        self.stop()
        if self._clock is not None:
            self._clock.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._clock
        await self.wakeups.close()

    def stop(self) -> None:
        self._stopped.set()
        for consumer in self._consumers.values():
            consumer.tell()

    async def consume(self, queue: str, *, batch: int, slots: int) -> AsyncIterator[list[Delivery]]:
        consumer = self._consumers.setdefault(queue, _Consumer(takes_one=batch == 1))
        trouble = 0
        look_at = 0.0
        while not self._stopped.is_set():
            if consumer.handed:
                yield [consumer.handed.popleft()]
                continue
            if not consumer.has_news and (wait := look_at - time.monotonic()) > 0:
                await self._wait(consumer, wait)
                continue
            consumer.has_news = False  # before looking: what comes while looking is news again
            try:
                leased = await self._claim(queue, batch)
                trouble = 0
            except Exception as error:
                if not is_passing(error):
                    raise
                log.warning("claim_failed", queue=queue, error=text_for_logs(error))
                self._doubtful.add(queue)
                await asyncio.sleep(min(0.05 * 2**trouble, 1.0))
                trouble += 1
                look_at = 0.0
                continue
            # Fewer than asked for: nothing is left, and whoever sends more says so.
            wait = 0.0 if len(leased) == batch else self._short_wait(queue) if leased else IDLE_SECONDS
            look_at = time.monotonic() + wait
            if leased:
                yield [_delivery(queue, row) for row in leased]

    async def _wait(self, consumer: _Consumer, seconds: float) -> None:
        """For news, or for a message that this process sends to itself."""
        consumer.event.clear()
        consumer.is_idle = True
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(consumer.event.wait(), seconds)
        finally:
            consumer.is_idle = False

    def offer(self, queue: str, message_id: UUID) -> bool:
        """One at a time: what comes while it is promised one may be for another process."""
        consumer = self._consumers.get(queue)
        if consumer is None or not consumer.is_idle or not consumer.takes_one or consumer.has_news:
            return False
        consumer.is_idle = False
        self._in_hand[message_id] += 1
        return True

    def hand(self, delivery: Delivery) -> None:
        consumer = self._consumers[delivery.queue]
        consumer.handed.append(delivery)
        consumer.event.set()

    def withdraw(self, queue: str, message_id: UUID) -> None:
        self._in_hand -= Counter([message_id])
        self._doubtful.add(queue)  # the commit may have gone through, and only the word of it got lost
        self._consumers[queue].tell()

    async def _claim(self, queue: str, limit: int) -> list[Row[tuple[object, ...]]]:
        if queue in self._doubtful:
            async with self.store.claiming() as connection:
                await workers.free_unknown(connection, self.store, self.worker_id, queue, self._in_hand)
            self._doubtful.discard(queue)
        leased = await (self._fair(queue).take(limit) if self.fair_order else self._take(queue, limit))
        self._in_hand.update(as_uuid(row.id) for row in leased)
        return leased

    async def _take(self, queue: str, limit: int) -> list[Row[tuple[object, ...]]]:
        async with self.store.claiming() as connection:
            return await messages.claim_ready(connection, self.store.dialect, queue, limit, self.worker_id)

    def _fair(self, queue: str) -> FairClaims:
        if queue not in self._claims:
            self._claims[queue] = FairClaims(self.store, queue, self.worker_id, self.aging_seconds)
        return self._claims[queue]

    def _short_wait(self, queue: str) -> float:
        return min(SHORT_SECONDS, self._fair(queue).seconds_to_look) if self.fair_order else SHORT_SECONDS

    async def settle(self, deliveries: Sequence[Delivery]) -> None:
        """The rows are gone with the commit, or no longer ours."""
        self._in_hand -= Counter(one.message_id for one in deliveries if one.message_id is not None)

    async def give_back(self, deliveries: Sequence[Delivery]) -> None:
        ids = [delivery.message_id for delivery in deliveries if delivery.message_id is not None]
        async with self.store.claiming() as connection:
            await messages.give_back(connection, self.store.dialect, ids, self.worker_id)
        for delivery in deliveries:
            if isinstance(delivery.handle, str):
                self._fair(delivery.queue).gave_back(delivery.handle)
        await self.announce({delivery.queue for delivery in deliveries})

    async def publish(self, copies: Sequence[Copy]) -> None:
        await self.announce({copy.queue for copy in copies})

    def wake_delayed(self, queue: str) -> None:
        self._delays_changed.set()

    def wake(self, queues: Iterable[str]) -> None:
        for queue in queues:
            self._woken(queue)

    async def announce(self, queues: Iterable[str]) -> None:
        names = set(queues)
        self.wake(names)
        await self.wakeups.send(names)

    def _woken(self, name: str) -> None:
        if name == "*":
            for consumer in self._consumers.values():
                consumer.tell()
            self._delays_changed.set()
        elif name in self._consumers:
            self._consumers[name].tell()

    async def _promote_delayed(self) -> None:
        """Make delayed messages ready when they are due.

        Each process watches the clock for the delays it caused, and looks now and then for those of
        processes that died.
        """
        while True:
            wait = IDLE_SECONDS
            try:
                async with self.store.claiming() as connection:
                    due = await messages.seconds_to_next_due(connection, self.store)
                    is_due = due is not None and due <= 0
                    promoted = await messages.promote_due(connection, self.store) if is_due else []
                if is_due:  # told after the commit: whoever looks before it finds nothing
                    await self.announce(promoted)
                    continue
                wait = IDLE_SECONDS if due is None else min(due, IDLE_SECONDS)
            except Exception as error:
                if not is_passing(error):
                    raise
                log.warning("delays_wait", error=text_for_logs(error))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._delays_changed.wait(), max(wait, 0.001))
            self._delays_changed.clear()


def _delivery(queue: str, row: Row[tuple[object, ...]]) -> Delivery:
    return Delivery(
        queue=queue,
        body=str(row.body).encode(),
        message_id=as_uuid(row.id),
        attempt=row.attempt,
        cursor=row.cursor,
        band=row.band,
        # Whose it is: a turn that was not used goes back to them.
        handle=getattr(row, "tenant_id", None),
    )


def _wakeups(store: Store, queues: Callable[[], Collection[str]]) -> Wakeups:
    if store.is_sqlite:
        return SocketWakeups(store.url.database or "")
    from docproc.engine.transports.postgres_wakeups import PostgresWakeups  # its driver is an extra

    return PostgresWakeups(store.url, queues)
