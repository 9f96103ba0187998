"""Claims in fair order: the messages of a queue that this process takes next, shared between tenants."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from docproc.engine.fair_order import FairOrder, Turn
from docproc.engine.store import turns
from docproc.engine.store.session import Store
from docproc.engine.store.tenants import DEFAULT

# How old the knowledge of who waits may be while there is work, and how much longer than the quickest look it
# is used: looking must not become the work.
LOOK_SECONDS = 0.01
LEAST_RATIO = 10.0
LONGEST_SECONDS = 0.2
# The same where one tenant was alone.
ALONE_SECONDS = 0.025
# How often everything is looked at, also the bands of a tenant alone; and how often it is asked whether there
# are other tenants at all.
ALL_SECONDS = 2.0
TENANTS_SECONDS = 0.5


class FairClaims:
    """One queue of one process. A tenant that is alone costs a look now and then, and nothing else."""

    def __init__(self, store: Store, queue: str, worker_id: str, aging_seconds: float) -> None:
        self.store = store
        self.queue = queue
        self.worker_id = worker_id
        self.order = FairOrder(aging_seconds)
        # Whose messages came last: most likely those that come next, so they need no look.
        self._latest = DEFAULT
        self._good_until = 0.0
        self._look_seconds = LONGEST_SECONDS
        self._was_idle = True
        # Everything that waits is of the tenant that came last, as far as was seen.
        self._is_alone = False
        self._has_tenants = True
        self._asked_at = -TENANTS_SECONDS
        self._seen_all_at = -ALL_SECONDS

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
            if not taken and await self._look(connection):
                taken = await self._claim(connection, limit)
        self._was_idle = not taken
        return taken

    def gave_back(self, tenant_id: str) -> None:
        self.order.gave_back(tenant_id, 1)

    async def _look(self, connection: AsyncConnection) -> bool:
        """Find out who waits; False: nobody but the latest, as far as is known."""
        began = time.monotonic()
        if began >= self._asked_at + TENANTS_SECONDS:
            self._has_tenants = await turns.has_tenants(connection)
            self._asked_at = began
        if began < self._seen_all_at + ALL_SECONDS:
            if not self._has_tenants:
                self._good_until = self._asked_at + TENANTS_SECONDS
                return False
            if not await self._others_wait(connection):
                self._good_until = time.monotonic() + ALONE_SECONDS
                return False
        self._seen_all_at = began
        groups = await turns.groups(connection, self.queue)
        self._is_alone = {group.tenant_id for group in groups} <= {self._latest}
        self.order.see(groups)
        now = time.monotonic()
        # By the quickest one, because others tell more of a busy machine than of looking.
        self._look_seconds = min(now - began, self._look_seconds * 1.1)
        self._good_until = now + min(max(LOOK_SECONDS, LEAST_RATIO * self._look_seconds), LONGEST_SECONDS)
        return True

    async def _others_wait(self, connection: AsyncConnection) -> bool:
        """Quicker to find out than who they are: mostly nobody."""
        if not self._is_alone:
            return True
        self._is_alone = not await turns.others_wait(connection, self.queue, self._latest)
        return not self._is_alone

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
        if not due and is_first:
            return [Turn(self._latest, limit)]
        return due
