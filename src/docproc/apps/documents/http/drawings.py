"""Whose picture is drawn next: few children draw, and everybody who asks gets a turn.

A page may take as long to draw as its maker wanted. So nobody holds all places, no request more than one, and
what took too long once is not begun again.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from docproc.app import App
from docproc.engine.running.child import Limits
from docproc.engine.running.pools import Pools
from docproc.http.problems import RETRY_SECONDS, Problem

# How many pictures are drawn at once: in all, and for one client.
PLACES = 3
PLACES_OF_CLIENT = 2
# How many wait; more are refused.
WAITING_OF_CLIENT = 64
WAITING = 512

DRAWING_SECONDS = 30.0
WAITING_SECONDS = 30.0
# For how long, and of how many pages, it is known that they take too long.
SLOW_SECONDS = 600.0
_SLOW_PAGES = 1000
_CLIENTS = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """A picture that somebody wants."""

    client: str
    request_id: UUID
    page: int
    # The whole of what decides how it looks.
    name: str
    width: int


# What a client can do about a page that takes too long.
_SMALLER = "Try a smaller width"


@dataclass(eq=False, slots=True)
class Drawing:
    """A picture that waits for its turn, or is being drawn; `clients` wait for it."""

    asked: Asked
    clients: set[str]
    turn: asyncio.Event = field(default_factory=asyncio.Event)


def next_turn(
    waiting: Sequence[Drawing], running: Sequence[Drawing], served: Mapping[str, int]
) -> Drawing | None:
    """Of those that may be drawn now, the one whose client had a turn longest ago; None when nobody may."""
    if len(running) >= PLACES:
        return None
    busy = Counter(client for drawing in running for client in drawing.clients)
    requests = {drawing.asked.request_id for drawing in running}
    # Each for the sake of the one who is best off among those who want it.
    turns = [
        (min(served.get(client, 0) for client in free), drawing)
        for drawing in waiting
        if drawing.asked.request_id not in requests
        and (free := [client for client in drawing.clients if busy[client] < PLACES_OF_CLIENT])
    ]
    return min(turns, key=lambda turn: turn[0])[1] if turns else None


class Drawings:
    """The drawings of a process: one picture is drawn once, whoever wants it."""

    def __init__(self, application: App) -> None:
        # Not the children of the components: a page for somebody's screen must not hold up the pipeline.
        self.pools = Pools(workers=PLACES, limits=Limits.of(application.settings))
        application.at_close(self.pools.close)
        self._waiting: list[Drawing] = []
        self._running: list[Drawing] = []
        self._under_way: dict[str, tuple[Drawing, asyncio.Task[bytes]]] = {}
        self._served: OrderedDict[str, int] = OrderedDict()
        self._turns = 0
        # The smallest width of a page that took too long, and when that was.
        self._slow: OrderedDict[tuple[UUID, int], tuple[int, float]] = OrderedDict()

    async def draw(self, asked: Asked, function: Callable[[], bytes]) -> bytes:
        """What `function` makes in a child. Raises what it raises, and Problem when it cannot be had now."""
        key = f"{asked.request_id}/{asked.name}"
        if key in self._under_way:
            drawing, task = self._under_way[key]
            drawing.clients.add(asked.client)
            self._give_turns()
        else:
            self._check(asked)
            drawing = Drawing(asked, {asked.client})
            task = asyncio.create_task(self._draw(drawing, function))
            self._under_way[key] = drawing, task
            task.add_done_callback(lambda done: self._forget(key, done))
        return await asyncio.shield(task)  # the first who asked may go; others may want it

    def _forget(self, key: str, task: asyncio.Task[bytes]) -> None:
        del self._under_way[key]
        if not task.cancelled():
            task.exception()  # seen, also when everybody has gone

    def _check(self, asked: Asked) -> None:
        width, when = self._slow.get((asked.request_id, asked.page), (0, 0.0))
        if width and asked.width >= width and time.monotonic() - when < SLOW_SECONDS:
            raise Problem(503, "unavailable", "drawing the page takes too long", _SMALLER)
        own = sum(asked.client in drawing.clients for drawing in self._waiting)
        if len(self._waiting) >= WAITING or own >= WAITING_OF_CLIENT:
            raise _busy()

    async def _draw(self, drawing: Drawing, function: Callable[[], bytes]) -> bytes:
        await self._wait_for_turn(drawing)
        try:
            async with asyncio.timeout(DRAWING_SECONDS) as limit:
                picture: bytes = await self.pools.run_in_process(function)
                return picture
        except TimeoutError as error:
            if not limit.expired():
                raise
            self._remember_slow(drawing.asked)
            raise Problem(503, "unavailable", "drawing the page takes too long", _SMALLER) from error
        finally:
            self._running.remove(drawing)
            self._give_turns()

    async def _wait_for_turn(self, drawing: Drawing) -> None:
        self._waiting.append(drawing)
        self._give_turns()
        try:
            async with asyncio.timeout(WAITING_SECONDS):
                await drawing.turn.wait()
        except BaseException as error:
            if drawing in self._waiting:
                self._waiting.remove(drawing)
            elif drawing in self._running:  # its turn came as it left
                self._running.remove(drawing)
                self._give_turns()
            if isinstance(error, TimeoutError):
                raise _busy() from error
            raise

    def _give_turns(self) -> None:
        while (drawing := next_turn(self._waiting, self._running, self._served)) is not None:
            self._waiting.remove(drawing)
            self._running.append(drawing)
            self._turns += 1
            for client in drawing.clients:
                self._served[client] = self._turns
                self._served.move_to_end(client)
            while len(self._served) > _CLIENTS:
                self._served.popitem(last=False)
            drawing.turn.set()

    def _remember_slow(self, asked: Asked) -> None:
        page = (asked.request_id, asked.page)
        width, when = self._slow.pop(page, (asked.width, 0.0))
        is_known = time.monotonic() - when < SLOW_SECONDS
        self._slow[page] = (min(width, asked.width) if is_known else asked.width, time.monotonic())
        while len(self._slow) > _SLOW_PAGES:
            self._slow.popitem(last=False)


def _busy() -> Problem:
    told = "more pictures are asked for than can be drawn"
    return Problem(503, "unavailable", told, "Try again", headers={"Retry-After": str(RETRY_SECONDS)})
