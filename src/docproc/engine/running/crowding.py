"""Crowding: a tenant that sends more than its share of the workers is taken in at the pace of its share.

Taking in costs the same processors and the same database as the work does, so a flood of submissions would
slow down everybody's work, however fairly that is shared. A tenant with many messages that wait for their
turn therefore waits a moment itself, before its next ones are taken in. Nobody is refused, and nobody waits
long.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

from docproc.engine.running.releasing import Releasing
from docproc.engine.store import turns
from docproc.engine.store.session import Store

# So many of a tenant's messages may wait for their turn before its next submissions wait, too.
MOST_WAITING: Final = 100
# A submission waits no longer than this.
LONGEST_SECONDS: Final = 1.0
# How old the knowledge of who waits may be.
LOOK_SECONDS: Final = 0.05


class Crowding:
    """One per process."""

    def __init__(self, store: Store, releasing: Releasing) -> None:
        self._store = store
        self._releasing = releasing
        # By queue and tenant: whether too many wait, and until when that is believed.
        self._known: dict[tuple[str, str], tuple[bool, float]] = {}
        self._looking = asyncio.Lock()

    async def wait(self, queue: str, tenant_id: str) -> None:
        """Before a submission whose first message goes to a queue. Returns at once where nobody waits."""
        until = time.monotonic() + LONGEST_SECONDS
        while self._releasing.is_crowded(queue) and await self._is_ahead(queue, tenant_id):
            if time.monotonic() >= until:
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def _is_ahead(self, queue: str, tenant_id: str) -> bool:
        """Whether the tenant has sent more than it gets turns for."""
        key = (queue, tenant_id)
        async with self._looking:  # one look for all who wait
            known, until = self._known.get(key, (False, 0.0))
            if time.monotonic() < until:
                return known
            async with self._store.reading() as session:
                number = await turns.waiting(session, queue, tenant_id, MOST_WAITING)
            if len(self._known) > 10_000:
                self._known.clear()
            self._known[key] = number >= MOST_WAITING, time.monotonic() + LOOK_SECONDS
            return self._known[key][0]
