"""Following requests: one look at the database for all clients that wait, however many they are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Annotated
from uuid import UUID

import structlog
from fastapi import Depends
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import HTTPConnection
from starlette.types import Receive

from docproc.app import App
from docproc.engine.store.events import Position
from docproc.errors import UnknownRequestError
from docproc.harmless import text_for_logs
from docproc.http import looks
from docproc.http.looks import Look, State
from docproc.http.problems import RETRY_SECONDS, Problem

log = structlog.get_logger(__name__)

# Of the process's few connections; the others are for requests that are not streams.
_CONNECTIONS = 2
_CLOSE_SECONDS = 2.0


class Follower:
    """A client that waits for news of one request."""

    def __init__(self, request_id: UUID) -> None:
        self.request_id = request_id
        self.state: State | None = None
        # The client went, or the server goes.
        self.has_left = False
        self._news = asyncio.Event()

    def tell(self, state: State) -> None:
        if state != self.state:
            self.state = state
            self._news.set()

    def leave(self) -> None:
        self.has_left = True
        self._news.set()

    async def news(self, seconds: float) -> None:
        """Until there is some, or the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, seconds)):
                await self._news.wait()
        self._news.clear()

    @asynccontextmanager
    async def until(self, gone: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
        """Meanwhile somebody listens whether the client is still there."""

        async def notice() -> None:
            await gone()
            self.leave()

        noticing = asyncio.create_task(notice())
        try:
            yield
        finally:
            noticing.cancel()
            await asyncio.gather(noticing, return_exceptions=True)


class Hub:
    """The followers of this process. While there are any, it asks every tick what is new for all of them."""

    def __init__(self, application: App) -> None:
        self._application = application  # whose database is opened when it is first needed
        self._followers: set[Follower] = set()
        self._ticking: asyncio.Task[None] | None = None
        self._turns = asyncio.Semaphore(_CONNECTIONS)
        self._is_stopping = False
        self._others: set[Callable[[], None]] = set()

    def also_stop(self, stop: Callable[[], None]) -> None:
        """Have other connections ended with the followers: the server waits for all that is open."""
        self._others.add(stop)

    @property
    def count(self) -> int:
        return len(self._followers)

    @contextmanager
    def following(self, request_id: UUID) -> Iterator[Follower]:
        """Raises Problem when there are too many already, or the server stops."""
        self._refuse_too_many()
        follower = Follower(request_id)
        self._followers.add(follower)
        if self._ticking is None or self._ticking.done():
            self._ticking = asyncio.create_task(self._tick(), name="following")
        try:
            yield follower
        finally:
            self._followers.discard(follower)

    def _refuse_too_many(self) -> None:
        headers = {"Retry-After": str(RETRY_SECONDS)}
        if self._is_stopping:
            raise Problem(503, "unavailable", "the server is stopping", "Try again", headers=headers)
        limit = self._application.settings.max_streams
        if self.count >= limit:
            raise Problem(
                503,
                "too_many_streams",
                f"{limit} clients are following requests already",
                "Ask GET /requests/{request_id}/events now and then, or raise DOCPROC_MAX_STREAMS",
                headers=headers,
            )

    def stop(self) -> None:
        """Every follower ends now and no other begins."""
        self._is_stopping = True
        for follower in self._followers:
            follower.leave()
        for stop in self._others:
            stop()

    async def close(self) -> None:
        self.stop()
        if self._ticking is not None:
            # A query that is cut off costs its connection: it may end.
            await asyncio.wait({self._ticking}, timeout=_CLOSE_SECONDS)
            self._ticking.cancel()
            await asyncio.gather(self._ticking, return_exceptions=True)

    async def look(self, request_id: UUID, after: Position) -> Look:
        """What there is for a reader that stopped at a position. Raises UnknownRequestError."""
        async with self._turns, self._application.store.reading() as session:
            return await looks.look(session, request_id, after)

    async def follow(self, follower: Follower, look: Look) -> AsyncGenerator[Look, None]:
        """This look and the following ones, as things happen; an empty one now and then is a sign of life.

        The last one `is_end`, unless the client left or the server stops.
        """
        yield look
        while not look.is_end:
            look = await self._next(follower, look)
            if follower.has_left:
                return
            yield look

    async def _next(self, follower: Follower, look: Look) -> Look:
        alive_until = time.monotonic() + looks.HEARTBEAT_SECONDS
        while True:
            await follower.news(min(look.patience, alive_until - time.monotonic()))
            if follower.has_left:
                return look
            look = await self._look_patiently(follower.request_id, look.position)
            if look.events or look.is_end or time.monotonic() >= alive_until:
                return look

    async def _look_patiently(self, request_id: UUID, after: Position) -> Look:
        """A database that is lost for a while ends no stream."""
        try:
            return await self.look(request_id, after)
        except UnknownRequestError:  # removed meanwhile
            return Look((), after, is_over=True)
        except (SQLAlchemyError, OSError):  # the hub's own look says so in the log
            return Look((), after, has_failed=True)

    async def answered(self, follower: Follower, after_version: int, seconds: float) -> None:
        """Until there is a newer answer or the request is over; `seconds` at most."""
        until = time.monotonic() + seconds
        while not follower.has_left and time.monotonic() < until:
            state = follower.state
            if state is not None and (state.is_over or state.answer_version > after_version):
                return
            await follower.news(until - time.monotonic())

    async def _tick(self) -> None:
        is_blind = False
        while self._followers and not self._is_stopping:
            try:
                states = await self._states()
            except (SQLAlchemyError, OSError) as error:
                if not is_blind:
                    problem = text_for_logs(error)
                    log.warning("following_waits", problem=problem)
                is_blind = True
                await asyncio.sleep(looks.TROUBLE_SECONDS)
                continue
            is_blind = False
            for follower in self._followers:
                if follower.request_id in states:
                    follower.tell(states[follower.request_id])
            await asyncio.sleep(looks.TICK_SECONDS)

    async def _states(self) -> dict[UUID, State]:
        followed = {follower.request_id for follower in self._followers}
        async with self._application.store.reading() as session:
            return await looks.states(session, followed)


async def until_gone(receive: Receive) -> None:
    """Until the client of an HTTP request has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _hub(connection: HTTPConnection) -> Hub:
    hub: Hub = connection.app.state.hub
    return hub


TheHub = Annotated[Hub, Depends(_hub)]
