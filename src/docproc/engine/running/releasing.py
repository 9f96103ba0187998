"""Releasing: how many rows go to a broker's queues now, and whose are next.

A broker hands out what it has by priority and age, so nothing overtakes a flood that it has already. Where
there are several tenants, a queue at the broker is kept short: what does not fit stays `ready` in the table,
and is released in fair order as the workers take from the queue.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import itemgetter
from typing import Any

import structlog
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.fair_order import FairOrder, Turn
from docproc.engine.running.sending import copy_of
from docproc.engine.store import turns
from docproc.engine.store.session import Store
from docproc.engine.transport import Copy, QueueState, Topology, Transport

log = structlog.get_logger(__name__)

# How long a queue at the broker is: it grows while workers empty it between two looks, and shrinks while they
# leave half of it. So it holds what they take in one or two of these spans, and no more.
LOOK_SECONDS = 0.02
# Where nothing moves, looks become rarer.
LONGEST_LOOK_SECONDS = 0.1
FIRST_WINDOW = 16
LEAST_WINDOW = 2
MOST_WINDOW = 2000
# Rows that others have left behind are looked after less often, because they do it themselves as a rule.
OTHERS_SECONDS = 0.05
# How soon a process knows of the first tenant beside `default`.
TENANTS_SECONDS = 2.0


@dataclass(slots=True)
class Room:
    """What fits into a queue at the broker, as this process knows."""

    order: FairOrder
    window: int = FIRST_WINDOW
    # May be sent at once, without another look.
    left: int = FIRST_WINDOW
    # Rows were kept back here since the last look.
    keeps_back: bool = False
    # Whose the latest copies were.
    latest: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_WINDOW))
    pause_seconds: float = LOOK_SECONDS

    def released(self, waiting: int) -> Counter[str]:
        """Whose copies went there lately, as far as the broker still has some of them."""
        return Counter(islice(reversed(self.latest), self.window + waiting if waiting else 0))

    def adapt(self, state: QueueState, *, is_waiting: bool) -> int:
        """How many more may go there now."""
        least = max(LEAST_WINDOW, state.consumers)
        if is_waiting and state.waiting == 0:
            self.window = min(self.window * 2, MOST_WINDOW)
        elif state.waiting * 2 > self.window:
            self.window = int(self.window * 0.8)
        self.window = max(self.window, least)
        return max(0, self.window - state.waiting)


@dataclass(slots=True)
class Released:
    """What goes to the broker now; `wait_seconds` until there may be room again, None: nothing is left."""

    copies: list[Copy] = field(default_factory=list)
    wait_seconds: float | None = None


class Releasing:
    """One per process. Without a broker, or with one tenant, everything goes at once, as it comes."""

    def __init__(
        self,
        transport: Transport,
        store: Store,
        topology: Topology,
        worker_id: str,
        *,
        is_on: bool = True,
        aging_seconds: float = 60.0,
    ) -> None:
        self.transport = transport
        self.store = store
        self.topology = topology
        self.worker_id = worker_id
        self.is_on = is_on and transport.has_broker
        self.aging_seconds = aging_seconds
        # Set by the relay: something was kept back.
        self.nudge: Callable[[], None] = lambda: None
        self._notices = frozenset(topology.notice_queues)
        self._rooms: dict[str, Room] = {}
        self._has_tenants = False
        self._good_until = 0.0

    @property
    def is_active(self) -> bool:
        """Whether rows are kept back at all."""
        return self.is_on and self._has_tenants

    async def look_for_tenants(self, session: AsyncSession | None = None) -> None:
        """At most every two seconds; in the caller's transaction, if there is one."""
        if not self.is_on or time.monotonic() < self._good_until:
            return
        if session is not None:
            self._has_tenants = await turns.has_tenants(session)
        else:
            async with self.store.claiming_once() as connection:
                self._has_tenants = await turns.has_tenants(connection)
        self._good_until = time.monotonic() + TENANTS_SECONDS

    def may_send(self, queue: str, tenant_id: str) -> bool:
        """Whether one more message may go to a queue at once; else it waits for its turn."""
        if not self.is_active or queue in self._notices:
            return True
        room = self._room(queue)
        if room.left > 0 and not room.keeps_back:
            room.left -= 1
            room.latest.append(tenant_id)
            if room.left * 2 == room.window:
                self.nudge()  # before there is none: looking takes a moment
            return True
        room.keeps_back = True
        return False

    def is_crowded(self, queue: str) -> bool:
        """Whether messages for a queue wait for their turn, as far as this process knows."""
        room = self._rooms.get(queue)
        return self.is_active and room is not None and (room.keeps_back or room.left == 0)

    async def release(self) -> Released:
        """Take what fits, in fair order; the caller publishes it."""
        released = Released()
        async with self.store.claiming_once() as connection:
            waiting = set(await turns.queues(connection))
        used = {queue for queue, room in self._rooms.items() if room.left * 2 < room.window}
        for queue in sorted(waiting | used):
            more = await self._release_queue(queue, released, is_waiting=queue in waiting)
            if more is not None:
                known = released.wait_seconds
                released.wait_seconds = more if known is None else min(known, more)
        return released

    async def _release_queue(self, queue: str, released: Released, *, is_waiting: bool) -> float | None:
        room = self._room(queue)
        state = None if queue in self._notices else await self.transport.look(queue)
        # Where nobody knows, and for notices, which people take when they like: what there is goes.
        number = MOST_WINDOW if state is None else room.adapt(state, is_waiting=is_waiting)
        was_kept_back, room.keeps_back = room.keeps_back, False
        if not is_waiting:
            room.left = number
            return None
        taken = await self._take(queue, room, number, state.waiting if state else 0)
        released.copies += taken
        if room.order.is_empty:
            room.left = max(0, number - len(taken))
            return None
        room.left = 0  # whoever sends now waits for those who wait already
        room.keeps_back = was_kept_back
        longer = min(room.pause_seconds * 1.5, LONGEST_LOOK_SECONDS)
        room.pause_seconds = LOOK_SECONDS if taken else longer
        return room.pause_seconds if was_kept_back else OTHERS_SECONDS

    async def _take(self, queue: str, room: Room, number: int, waiting: int) -> list[Copy]:
        """Copies of what may go now, each tenant's between the others', as their times have it."""
        taken: list[tuple[float, Copy]] = []
        async with self.store.claiming() as connection:
            room.order.see(await turns.groups(connection, queue))
            due = room.order.behind(room.released(waiting)) or room.order.turns(number)
            while due:
                for turn in due:
                    times = room.order.times(turn)
                    found = await turns.take_unsent(connection, queue, turn, self.worker_id)
                    room.order.took(turn, len(found))
                    room.latest.extend([turn.tenant_id] * len(found))
                    taken += zip(times, (self._copy(row, turn) for row in found), strict=False)
                due = room.order.turns(number - len(taken)) if len(taken) < number else []
        return [copy for _, copy in sorted(taken, key=itemgetter(0))]

    def _copy(self, row: Row[Any], turn: Turn) -> Copy:
        return replace(copy_of(row, self.topology), goes_first=turn.is_aged or turn.is_behind)

    def _room(self, queue: str) -> Room:
        if queue not in self._rooms:
            self._rooms[queue] = Room(FairOrder(self.aging_seconds))
        return self._rooms[queue]
