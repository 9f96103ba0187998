"""The append-only history: written with the change it tells of, read without gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, literal_column, or_, select
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import utc_now
from docproc.engine.store import rows
from docproc.engine.store.tables import Event as EventRow

TABLE: Any = EventRow.__table__
# In `data`: who did it and what it changed. For the audit, not for the request's client.
FOR_THE_AUDIT = frozenset({"operator", "changes", "reason", "cannot_read", "agreed", "disagreed"})
# In `data`: who. Everything else there may be a value, or quote one.
WHO = ("operator", "by")
# Only of these kinds: the reasons of others are the machine's.
_OF_PEOPLE = frozenset({"task", "correction", "view"})
# Kept when a request's other events are swept.
AUDITED = _OF_PEOPLE | {"erased", "purged"}


def for_clients(kind: str, data: Any) -> Any:
    """An event's data without what people said and who they are."""
    if kind not in _OF_PEOPLE or not isinstance(data, dict):
        return data
    return {name: value for name, value in data.items() if name not in FOR_THE_AUDIT}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a request."""

    request_id: UUID | None
    kind: str
    tenant_id: str = "default"
    stage: str | None = None
    unit_key: str | None = None
    message_id: UUID | None = None
    attempt: int | None = None
    outcome: str | None = None
    worker_id: str | None = None
    started_at: datetime = field(default_factory=utc_now)
    finished_at: datetime = field(default_factory=utc_now)
    busy_seconds: float | None = None
    data: dict[str, Any] | None = None


_NAMES = tuple(Event.__slots__)
# In `session.info`: events that are written together, at the end of their transaction.
_GATHERED = "events"


def gather(session: AsyncSession) -> list[Event]:
    """From here on what is recorded in this session waits for `write`: one statement instead of one for each
    change. Whoever undoes a part of the transaction takes its events out of the list."""
    gathered: list[Event] = session.info.setdefault(_GATHERED, [])
    return gathered


async def write(session: AsyncSession) -> None:
    """What was gathered, in the order in which it was recorded."""
    await record(session, session.info.pop(_GATHERED, []))


async def record(session: AsyncSession, events: Sequence[Event]) -> None:
    """Append events in the caller's transaction."""
    if _GATHERED in session.info:
        session.info[_GATHERED].extend(events)
        return
    await rows.insert(session, TABLE, [{name: getattr(e, name) for name in _NAMES} for e in events])


@dataclass(frozen=True, slots=True)
class Position:
    """Where a reader stopped; (0, 0) is the beginning."""

    transaction_id: int = 0
    id: int = 0


BEGINNING = Position()


async def read(
    session: AsyncSession, request_id: UUID, after: Position = BEGINNING, limit: int = 1000
) -> list[Row[Any]]:
    """Events of a request after a position, in an order in which nothing can appear behind the reader.

    On PostgreSQL ids are drawn before the commit, so a lower id may become visible later than a higher
    one. Transactions older than every running one cannot gain rows any more: only those are read.
    """
    query = select(TABLE).where(
        TABLE.c.request_id == request_id,
        or_(
            TABLE.c.transaction_id > after.transaction_id,
            and_(TABLE.c.transaction_id == after.transaction_id, TABLE.c.id > after.id),
        ),
    )
    if session.get_bind().dialect.name == "postgresql":
        settled: ColumnElement[int] = literal_column("pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
        query = query.where(TABLE.c.transaction_id < settled)
    ordered = query.order_by(TABLE.c.transaction_id, TABLE.c.id).limit(limit)
    return list(await session.execute(ordered))


async def count(session: AsyncSession, request_id: UUID, kind: str) -> int:
    query = select(func.count()).where(TABLE.c.request_id == request_id, TABLE.c.kind == kind)
    return int(await session.scalar(query) or 0)
