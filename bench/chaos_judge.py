"""The judge of bench/chaos.py: looks at the database and at `/ready` all the time, from outside.

Moments are the bench's own (monotonic), because the deployment's clocks are set during a run. What was
answered, and when, is read from the database directly; whether it takes writes is tried on the way that the
deployment has to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

import asyncpg
from sqlalchemy.exc import SQLAlchemyError

from bench.machine import Machine
from docproc.engine.store import rows
from docproc.engine.store.columns import moment_of
from docproc.engine.store.session import Store

LOOK_SECONDS = 0.25
# What the issue allows after the database can be written again.
GRACE_SECONDS = 5.0
# Nothing moved for this long while everybody said "ready": a lie. A worker that the database no longer hears
# says so after four seconds without a heartbeat, its supervisor half a second later; we look every quarter.
FALSE_READY_SECONDS = 6.0
_PROBE_TABLE = "CREATE TABLE IF NOT EXISTS chaos_probe (n INTEGER NOT NULL)"
_PROBE = "INSERT INTO chaos_probe (n) VALUES (1)"
_PROBE_SECONDS = 1.0


@dataclass
class Watched:
    """One accepted request."""

    workflow: str
    accepted_at: float
    answered_at: float | None = None
    completed_at: float | None = None
    # When it was last seen without an answer.
    unanswered_at: float = 0.0


@dataclass
class Span:
    """While this lasted nobody could answer."""

    reason: str
    began: float
    ended: float = float("inf")


class Writable(Protocol):
    """Tries a write; raises when it is not possible."""

    async def __call__(self) -> None: ...


@dataclass
class Judge:
    store: Store
    # By whose clock deadlines were given.
    machine: Machine
    write: Writable
    is_ready: Callable[[], Awaitable[bool]]
    requests: dict[UUID, Watched] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    # Spans in which all said "ready" and nothing moved.
    false_ready: list[str] = field(default_factory=list)

    def accepted(self, request_id: UUID, workflow: str) -> None:
        now = time.monotonic()
        self.requests[request_id] = Watched(workflow, now, unanswered_at=now)

    def excuse(self, reason: str, began: float, ended: float) -> None:
        self.spans.append(Span(reason, began, ended))

    @property
    def open(self) -> list[Watched]:
        """Requests that nothing but work keeps from being complete."""
        return [one for one in self.requests.values() if one.completed_at is None and one.workflow == "chaos"]

    async def watch(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch_requests())
            group.create_task(self._watch_readiness())
            group.create_task(self._watch_writes())

    async def look(self) -> None:
        """At all that is open. Raises what the driver does while the database is away."""
        began = time.monotonic()
        known = [rid for rid, one in self.requests.items() if one.completed_at is None]
        async with self.store.reading() as session:
            found = await rows.execute(
                session, "SELECT id, answer_version FROM requests WHERE completed_at IS NULL"
            )
        unfinished = {UUID(str(row.id)): row.answer_version for row in found}
        for request_id in known:
            one = self.requests[request_id]
            version = unfinished.get(request_id)
            if version == 0:
                one.unanswered_at = began
                continue
            one.answered_at = one.answered_at or began
            if version is None:
                one.completed_at = began

    async def _watch_requests(self) -> None:
        while True:
            with contextlib.suppress(SQLAlchemyError, OSError):
                await self.look()
            await asyncio.sleep(LOOK_SECONDS)

    async def _watch_readiness(self) -> None:
        """Since when all have been ready, something was to be done, and nothing moved."""
        seen, since = None, time.monotonic()
        while True:
            moved = await self._moved()
            is_still = moved in (None, seen)
            if not (self.open and is_still and await self.is_ready()):
                since = time.monotonic()
            seen = seen if moved is None else moved
            if time.monotonic() - since > FALSE_READY_SECONDS:
                now = time.strftime("%H:%M:%S")
                self.false_ready.append(f"{now}: ready for {FALSE_READY_SECONDS:.0f} s while nothing moved")
                since = time.monotonic()
            await asyncio.sleep(LOOK_SECONDS)

    async def _moved(self) -> int | None:
        """A number that grows with all that happens; None while the database cannot be asked."""
        with contextlib.suppress(SQLAlchemyError, OSError):
            async with self.store.reading() as session:
                (found,) = await rows.execute(session, "SELECT max(id) AS last FROM events")
                return int(found.last or 0)
        return None

    async def _watch_writes(self) -> None:
        while True:
            began = time.monotonic()
            try:
                await self.write()
            except Exception:  # noqa: BLE001 # whatever it is, nothing was written; drivers raise much
                if not self.spans or self.spans[-1].ended < float("inf"):
                    self.spans.append(Span("no writes", began))
            else:
                for span in self.spans:
                    if span.ended == float("inf"):
                        span.ended = time.monotonic()
            await asyncio.sleep(LOOK_SECONDS)

    # --- the verdict ---

    async def verdict(self) -> tuple[int, list[str]]:
        """How many answers were late for a good reason; and those that had none."""
        async with self.store.reading() as session:
            found = await rows.execute(session, "SELECT id, deadline_utc FROM requests")
        late, broken = 0, []
        for row in found:
            watched = self.requests.get(UUID(str(row.id)))
            if watched is None or watched.answered_at is None:
                continue  # nobody was told of it; or the ledger tells of it
            due = self.machine.clock_shows(_moment(row.deadline_utc).timestamp(), watched.accepted_at)
            if watched.unanswered_at <= due:
                continue
            if watched.unanswered_at <= self._excused_until(due):
                late += 1
            else:
                seconds = watched.answered_at - due
                moment = time.strftime("%H:%M:%S", time.localtime(time.time() - time.monotonic() + due))
                broken.append(
                    f"{watched.workflow} {row.id}: due at {moment}, answered {seconds:.1f} s after that"
                )
        return late, broken

    def _excused_until(self, due: float) -> float:
        """Whoever is due while nobody can answer is answered soon after that; so is whoever is due just then.

        A clock that is set over a deadline leaves no time before it either.
        """
        until = due
        spans = [*self.spans, *(Span("clock set", at, at) for at in self.machine.clock_set_at)]
        for span in sorted(spans, key=lambda span: span.began):
            if span.began <= until:
                until = max(until, span.ended + GRACE_SECONDS)
        return until


def _moment(value: Any) -> datetime:
    """SQLite gives moments as text."""
    found = moment_of(value) if isinstance(value, str) else value
    assert isinstance(found, datetime)
    return found


class SqliteWrites:
    def __init__(self, path: str) -> None:
        self.path = path
        self._try(_PROBE_TABLE)

    async def __call__(self) -> None:
        await asyncio.to_thread(self._try, _PROBE)

    def _try(self, statement: str) -> None:
        with contextlib.closing(sqlite3.connect(self.path, timeout=_PROBE_SECONDS)) as connection:
            try:
                connection.execute(statement)
                connection.commit()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):  # by the deployment itself: that is no excuse
                    raise


class PostgresWrites:
    """Through the proxy, as the deployment reaches it."""

    def __init__(self, url: str) -> None:
        self.url = url.replace("+asyncpg", "")
        self._connection: asyncpg.Connection | None = None

    async def __call__(self) -> None:
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                if self._connection is None:
                    self._connection = await asyncpg.connect(self.url)
                    await self._connection.execute(_PROBE_TABLE)
                await self._connection.execute(_PROBE)
        except BaseException:
            if self._connection is not None:
                self._connection.terminate()
                self._connection = None
            raise

    def close(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
