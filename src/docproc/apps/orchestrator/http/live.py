"""Clients that follow sessions: each gets what it missed, then what happens, in order and once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import HTTPConnection

from docproc.app import App
from docproc.apps.orchestrator.http import tail as tails
from docproc.apps.orchestrator.http.tail import Tail, is_later, place_of
from docproc.apps.orchestrator.http.telling import as_text
from docproc.apps.orchestrator.settings import OrchestratorSettings
from docproc.engine.store.events import Position
from docproc.harmless import text_for_logs
from docproc.http.problems import RETRY_SECONDS, Problem

log = structlog.get_logger(__name__)

# How often the database is asked for all clients: often while something happens.
_BUSY_SECONDS: Final = 0.01
_IDLE_SECONDS: Final = 0.04
# How long after an event it is looked often: its task has further ones soon.
_LULL_SECONDS: Final = 0.2
_TROUBLE_SECONDS: Final = 1.0
# What a client that reads slowly can have waiting here; then it must come again and ask for what it missed.
MOST_WAITING: Final = 2000
MOST_SESSIONS: Final = 50

Key = tuple[str, str]


@dataclass(slots=True)
class _Following:
    """One session of one client."""

    position: Position
    # While what was missed is read, what happens meanwhile waits here.
    held: list[tuple[Position, str]] | None = field(default_factory=list)


class Listener:
    """One connection."""

    def __init__(self) -> None:
        self.following: dict[Key, _Following] = {}
        self._waiting: asyncio.Queue[str | None] = asyncio.Queue(MOST_WAITING)
        self.is_too_slow = False

    def put(self, text: str) -> None:
        """Never waits: a client that is too slow is let go of."""
        try:
            self._waiting.put_nowait(text)
        except asyncio.QueueFull:
            self.is_too_slow = True
            self.end()

    async def put_patiently(self, text: str) -> None:
        """Waits while the client reads: what was missed may be much."""
        await self._waiting.put(text)

    def end(self) -> None:
        """Nothing more comes."""
        while self._waiting.full():
            self._waiting.get_nowait()
        self._waiting.put_nowait(None)

    async def texts(self) -> AsyncIterator[str]:
        while (text := await self._waiting.get()) is not None:
            yield text


class Live:
    """One per API process."""

    def __init__(self, application: App) -> None:
        self._app = application
        self._limit = application.settings.section(OrchestratorSettings).orchestrator_max_sockets
        self._listeners: set[Listener] = set()
        self._by_session: dict[Key, set[Listener]] = {}
        self._tail: Tail | None = None
        self._ticking: asyncio.Task[None] | None = None
        self._beginning = asyncio.Lock()
        self._is_stopping = False
        application.at_close(self.stop)

    @property
    def count(self) -> int:
        return len(self._listeners)

    def stop(self) -> None:
        self._is_stopping = True
        for listener in self._listeners:
            listener.end()
        if self._ticking is not None:
            self._ticking.cancel()

    @contextmanager
    def listening(self) -> Iterator[Listener]:
        """Raises Problem where there are too many, or the server stops."""
        headers = {"Retry-After": str(RETRY_SECONDS)}
        if self._is_stopping:
            raise Problem(503, "unavailable", "the server is stopping", "Try again", headers=headers)
        if self.count >= self._limit:
            raise Problem(
                503,
                "too_many_sockets",
                f"{self._limit} clients listen here already",
                "Raise DOCPROC_ORCHESTRATOR_MAX_SOCKETS, or start another API process",
                headers=headers,
            )
        listener = Listener()
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)
            for key in list(listener.following):
                self.leave(listener, key)

    async def follow(self, listener: Listener, key: Key, after: Position | None) -> Position:
        """Send what was missed after a position, then what happens; None: only what happens from now on.

        Returns the position from which on it is live.
        """
        now = await self._begin()
        following = listener.following.setdefault(key, _Following(after or now))
        following.held = []
        following.position = now if after is None else after
        self._by_session.setdefault(key, set()).add(listener)
        if after is not None:
            await self._catch_up(listener, key, following)
        held, following.held = following.held, None
        for position, text in held or ():
            if is_later(position, following.position):
                following.position = position
                listener.put(text)
        return following.position

    def leave(self, listener: Listener, key: Key) -> None:
        listener.following.pop(key, None)
        others = self._by_session.get(key, set())
        others.discard(listener)
        if not others:
            self._by_session.pop(key, None)

    async def _catch_up(self, listener: Listener, key: Key, following: _Following) -> None:
        while True:
            async with self._app.store.reading() as session:
                found = await tails.missed(session, *key, following.position)
            for row in found:
                following.position = place_of(row)
                await listener.put_patiently(as_text(row))
            if len(found) < tails.BATCH:
                return

    async def _begin(self) -> Position:
        """The position of the tail, which reads while there are clients."""
        async with self._beginning:
            if self._tail is None or self._ticking is None or self._ticking.done():
                tail = Tail(self._app.store)
                async with self._app.store.reading() as session:
                    await tail.begin(session)
                self._tail = tail
                self._ticking = asyncio.create_task(self._tick(tail), name="live events")
            assert self._tail.position is not None
            return self._tail.position

    async def _tick(self, tail: Tail) -> None:
        is_blind = False
        busy_until = 0.0
        while self._listeners and not self._is_stopping:
            began = time.monotonic()
            try:
                async with self._app.store.reading() as session:
                    found = await tail.read(session)
            except (SQLAlchemyError, OSError) as error:
                if not is_blind:
                    log.warning("live_events_wait", problem=text_for_logs(error))
                is_blind = True
                await asyncio.sleep(_TROUBLE_SECONDS)
                continue
            is_blind = False
            for row in found:
                if listeners := self._by_session.get((row.tenant_id, row.session_id)):
                    _tell(listeners, (row.tenant_id, row.session_id), place_of(row), as_text(row))
            if found:
                busy_until = time.monotonic() + _LULL_SECONDS
            now = time.monotonic()
            # Where looking takes long, because there is much or the machine is busy, it is done less often.
            await asyncio.sleep(max(_BUSY_SECONDS, now - began) if now < busy_until else _IDLE_SECONDS)


def _tell(listeners: set[Listener], key: Key, position: Position, text: str) -> None:
    for listener in list(listeners):
        following = listener.following[key]
        if following.held is not None:
            following.held.append((position, text))
        elif is_later(position, following.position):
            following.position = position
            listener.put(text)


def live_of(connection: HTTPConnection) -> Live:
    application: App = connection.app.state.application
    live = application.shared(Live)
    connection.app.state.hub.also_stop(live.stop)
    return live
