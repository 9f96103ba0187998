"""Claims in fair order: the messages of a queue that this process takes next, shared between tenants."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from docproc.engine.fair_order import FairOrder, Turn
from docproc.engine.store import turns
from docproc.engine.store.session import Store

# How old the knowledge of who waits may be while there is work, and how much longer than the quickest look it
# is used: looking must not become the work.
LOOK_SECONDS = 0.025
LEAST_RATIO = 20.0
LONGEST_SECONDS = 0.2


class FairClaims:
    """One queue of one process. A tenant that is alone costs a look now and then, and nothing else."""

    def __init__(self, store: Store, queue: str, worker_id: str, aging_seconds: float) -> None:
        self.store = store
        self.queue = queue
        self.worker_id = worker_id
        self.order = FairOrder(aging_seconds)
        # Whose messages came last: most likely those that come next, so they need no look.
        self._latest: str | None = None
        self._good_until = 0.0
        self._look_seconds = LONGEST_SECONDS
        self._was_idle = True

    @property
    def seconds_to_look(self) -> float:
        """When what other tenants may have sent meanwhile is to be looked for."""
        return max(0.001, self._good_until - time.monotonic())

    async def take(self, limit: int) -> list[Row[Any]]:
        """Lease at most `limit` messages; fewer when this process knows of no more."""
        async with self.store.claiming() as connection:
            if not self._was_idle and time.monotonic() >= self._good_until:
                await self._look(connection)
            taken = await self._claim(connection, limit)
            if not taken:
                await self._look(connection)
                taken = await self._claim(connection, limit)
        self._was_idle = not taken
        return taken

    def gave_back(self, tenant_id: str) -> None:
        self.order.gave_back(tenant_id, 1)

    async def _look(self, connection: AsyncConnection) -> None:
        began = time.monotonic()
        self.order.see(await turns.groups(connection, self.queue))
        now = time.monotonic()
        # By the quickest one, because others tell more of a busy machine than of looking.
        self._look_seconds = min(now - began, self._look_seconds * 1.1)
        self._good_until = now + min(max(LOOK_SECONDS, LEAST_RATIO * self._look_seconds), LONGEST_SECONDS)

    async def _claim(self, connection: AsyncConnection, limit: int) -> list[Row[Any]]:
        taken: list[Row[Any]] = []
        while len(taken) < limit and (due := self._turns(limit - len(taken), is_first=not taken)):
            for turn in due:
                found = await turns.claim(connection, self.store.dialect, self.queue, turn, self.worker_id)
                self.order.took(turn, len(found))
                taken += found
                if found:
                    self._latest = turn.tenant_id
            if self.order.is_empty:
                break
        return taken

    def _turns(self, limit: int, *, is_first: bool) -> list[Turn]:
        due = self.order.turns(limit)
        if not due and is_first and self._latest is not None:
            return [Turn(self._latest, limit)]
        return due
