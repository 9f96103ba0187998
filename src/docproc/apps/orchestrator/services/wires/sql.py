"""The wire without a broker: the rows of open calls are the queues, for services that reach the database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self
from uuid import UUID, uuid4

from sqlalchemy import case, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.calls import adopting
from docproc.apps.orchestrator.envelope.models import Envelope
from docproc.apps.orchestrator.services.port import LEASE_SECONDS, Taken
from docproc.apps.orchestrator.services.wire import Incoming, Outgoing, WireContext
from docproc.apps.orchestrator.tables import Call, CallState
from docproc.engine.fair_order import AGING_EVERY
from docproc.engine.message import utc_now
from docproc.engine.store.session import Store
from docproc.engine.transports.wakeups import SocketWakeups, Wakeups

# Of the queues of services, beside the engine's own, where processes wake each other.
WAKE_PREFIX = "service "
# How long a waiting service trusts in wake-ups before it looks by itself.
_IDLE_SECONDS = 1.0
_LOOK_SECONDS = 0.1
# One envelope in sixteen is the one that waits longest, once it has waited so long: less urgent calls must
# not time out because urgent ones never end.
AGED_SECONDS = 5.0


class SqlWire:
    """The orchestrator's end: nothing to send, only to say that there is something."""

    is_table: ClassVar[bool] = True

    def __init__(self, context: WireContext) -> None:
        self._context = context
        self._closed = asyncio.Event()

    @classmethod
    def create(cls, context: WireContext) -> Self:
        return cls(context)

    async def open(self) -> None:
        """The database is open already."""

    async def close(self) -> None:
        self._closed.set()

    async def write(self, session: AsyncSession, outgoing: Sequence[Outgoing]) -> None:
        """The row of the call is written by whoever opens it."""

    async def publish(self, outgoing: Sequence[Outgoing]) -> None:
        self._context.announce({WAKE_PREFIX + one.queue for one in outgoing})

    async def withdraw(self, session: AsyncSession, outgoing: Sequence[Outgoing]) -> None:
        """A call that is no longer open is in no queue."""

    async def answers(self) -> AsyncIterator[Sequence[Incoming]]:
        """Services write theirs into the database themselves."""
        await self._closed.wait()
        return
        yield  # an iterator that ends

    async def settle(self, incoming: Sequence[Incoming]) -> None:
        """There are none."""

    def take_loss(self) -> float | None:
        return None


class SqlPort:
    """The service's end: takes open calls under a lease, writes what it says as messages of the engine."""

    def __init__(self, store: Store, *, tenant_id: str | None = None, name: str = "") -> None:
        """`tenant_id`: whose calls may be taken; None: everybody's."""
        self._store = store
        self._tenant_id = tenant_id
        self._name = (name or f"service-{uuid4()}")[:96]
        self._news = asyncio.Event()
        self._wakeups: Wakeups | None = None
        self._since_aged = 0

    @property
    def lease_seconds(self) -> float:
        return LEASE_SECONDS

    @property
    def _patience(self) -> float:
        """One that was not opened hears no wake-ups."""
        return _IDLE_SECONDS if self._wakeups is not None else _LOOK_SECONDS

    async def open(self) -> None:
        self._wakeups = _wakeups(self._store)
        await self._wakeups.open(lambda name: self._news.set())

    def wake(self) -> None:
        """Calls were opened in this very process."""
        self._news.set()

    async def close(self) -> None:
        if self._wakeups is not None:
            await self._wakeups.close()

    async def take(self, queues: Sequence[str], limit: int, wait_seconds: float) -> Sequence[Taken]:
        until = asyncio.get_running_loop().time() + wait_seconds
        while True:
            self._news.clear()  # before looking: what comes while looking is news again
            taken = await self._take(queues, limit)
            left = until - asyncio.get_running_loop().time()
            if taken or left <= 0:
                return taken
            try:
                async with asyncio.timeout(min(left, self._patience)):
                    await self._news.wait()
            except TimeoutError:
                pass

    async def _take(self, queues: Sequence[str], limit: int) -> list[Taken]:
        now = utc_now()
        free = Call.taken_until.is_(None) | (Call.taken_until < now)
        picked = select(Call.id).where(Call.queue.in_(list(queues)), Call.state == CallState.OPEN.value, free)
        if self._tenant_id is not None:
            picked = picked.where(Call.tenant_id == self._tenant_id)
        async with self._store.reading() as session:
            if await session.scalar(picked.limit(1)) is None:  # most looks find nothing: no write for them
                return []
            aged = await self._aged(session, picked, now, limit)
        order = (case((Call.id.in_(aged), 0), else_=1),) if aged else ()
        picked = picked.order_by(*order, Call.priority, Call.opened_at).limit(limit)
        statement = (
            update(Call)
            .where(Call.id.in_(picked.with_for_update(skip_locked=True)))
            .values(taken_by=self._name, taken_until=now + timedelta(seconds=LEASE_SECONDS))
            .returning(Call.id, Call.queue, Call.priority, Call.opened_at, Call.envelope, Call.fencing)
            .execution_options(synchronize_session=False)
        )
        async with self._store.writing() as session:
            found = list(await session.execute(statement))
        self._since_aged = len(found) + (0 if aged else self._since_aged)
        # RETURNING promises no order.
        found.sort(key=lambda row: (row.id not in aged, row.priority, row.opened_at))
        return [
            Taken(row.queue, Envelope.model_validate(row.envelope).encode(), (row.id, row.fencing))
            for row in found
        ]

    async def _aged(self, session: AsyncSession, free: Any, now: datetime, limit: int) -> list[UUID]:
        """Those that have their turn though they are less urgent than others."""
        number = max(limit // AGING_EVERY, 1 if self._since_aged >= AGING_EVERY else 0)
        if not number:
            return []
        late = free.where(Call.opened_at <= now - timedelta(seconds=AGED_SECONDS))
        return list(await session.scalars(late.order_by(Call.opened_at).limit(number)))

    async def renew(self, taken: Sequence[Taken]) -> None:
        await self._lease(taken, LEASE_SECONDS)

    async def renew_calls(self, call_ids: Sequence[UUID]) -> None:
        """The same, for those who know calls by their ids only."""
        until = utc_now() + timedelta(seconds=LEASE_SECONDS)
        mine = (Call.id.in_(call_ids), Call.taken_by == self._name, Call.state == CallState.OPEN.value)
        async with self._store.writing() as session:
            statement = update(Call).where(*mine).values(taken_until=until)
            await session.execute(statement.execution_options(synchronize_session=False))

    async def say(self, bodies: Sequence[bytes]) -> None:
        async with self._store.writing() as session:
            adopted = await adopting.adopt(session, bodies, self._tenant_id)
        if self._wakeups is not None and adopted.has_news:
            await self._wakeups.send([adopting.QUEUE])
        for error in adopted.refused.values():
            raise error

    async def settle(self, taken: Sequence[Taken]) -> None:
        """Not before the orchestrator has seen the answer does the call end: nobody takes it until then."""
        await self._lease(taken, 3600.0)

    async def answer(self, bodies: Sequence[bytes], taken: Sequence[Taken]) -> None:
        if bodies:
            await self.say(bodies)
        await self.settle(taken)

    async def give_back(self, taken: Sequence[Taken]) -> None:
        await self._lease(taken, None)
        if self._wakeups is not None:
            await self._wakeups.send({WAKE_PREFIX + one.queue for one in taken})

    async def _lease(self, taken: Sequence[Taken], seconds: float | None) -> None:
        until = None if seconds is None else utc_now() + timedelta(seconds=seconds)
        async with self._store.writing() as session:
            for call_id, fencing in (_handle(one) for one in taken):
                mine = (Call.id == call_id, Call.fencing == fencing, Call.taken_by == self._name)
                statement = update(Call).where(*mine).values(taken_until=until)
                await session.execute(statement.execution_options(synchronize_session=False))


def _handle(taken: Taken) -> tuple[UUID, int]:
    handle: Any = taken.handle
    return handle[0], handle[1]


def _wakeups(store: Store) -> Wakeups:
    if store.is_sqlite:
        return SocketWakeups(store.url.database or "")
    from docproc.engine.transports.postgres_wakeups import PostgresWakeups  # its driver is an extra

    return PostgresWakeups(store.url, lambda: ())
