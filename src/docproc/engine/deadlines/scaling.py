"""The scaling signal (specification §7.3): how much work of escalated requests waits, by queue. A platform
that can start more workers reads it."""

from __future__ import annotations

from uuid import UUID

import prometheus_client
from sqlalchemy import func, select

from docproc.engine.deadlines.forecast import View
from docproc.engine.store.session import Store
from docproc.engine.store.tables import Message

ESCALATED = prometheus_client.Gauge(
    "docproc_escalated_messages",
    "Unhandled messages of requests past their escalation threshold, by queue",
    ["queue"],
    multiprocess_mode="max",
)
# A statement names so many requests at most; beyond them every autoscaler is at its limit anyway.
MOST_REQUESTS = 1000


class ScalingSignal:
    """Published by whoever plans. Others withdraw theirs: a duty that moved leaves no old number behind."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._queues: set[str] = set()

    async def publish(self, view: View) -> None:
        escalated = [one.request_id for one in view.waiting if one.is_escalated and not one.is_late]
        self._say(await self._waiting(escalated[:MOST_REQUESTS]) if escalated else {})

    def withdraw(self) -> None:
        self._say({})

    def _say(self, numbers: dict[str, int]) -> None:
        self._queues |= numbers.keys()
        for queue in self._queues:  # one that emptied is told as empty
            ESCALATED.labels(queue).set(numbers.get(queue, 0))

    async def _waiting(self, request_ids: list[UUID]) -> dict[str, int]:
        query = select(Message.queue, func.count().label("number")).where(Message.request_id.in_(request_ids))
        async with self.store.reading() as session:
            found = await session.execute(query.group_by(Message.queue))
            return {row.queue: row.number for row in found}
