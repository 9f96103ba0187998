"""The rows of calls: read together, ended by one statement that asks for state and fencing number."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from docproc.apps.orchestrator.tables import Call, CallState, Task
from docproc.engine.message import utc_now
from docproc.engine.store import rows
from docproc.engine.store.columns import as_uuid, is_one_of
from docproc.engine.store.messages import Claim, PartlyHandled
from docproc.engine.store.tables import Request

TABLE: Any = Call.__table__
TASKS: Any = Task.__table__
CANCELLED = "cancelled"


def _among(
    session: AsyncSession | AsyncConnection, column: Any, ids: Collection[UUID]
) -> ColumnElement[bool]:
    dialect = session.get_bind().dialect if isinstance(session, AsyncSession) else session.dialect
    return is_one_of(dialect.name, column, set(ids))


async def tasks_of(
    session: AsyncSession, request_ids: Collection[UUID]
) -> tuple[dict[UUID, Task], dict[UUID, str]]:
    """Tasks, and where their requests stand; one that was called off is `CANCELLED`, though the engine calls
    it failed."""
    query = select(TASKS, Request.status.label("request_status"), Request.error.label("request_error"))
    query = query.join(Request, Request.id == TASKS.c.request_id)
    found = list(await session.execute(query.where(_among(session, TASKS.c.request_id, request_ids))))
    statuses = {row.request_id: _status(row.request_status, row.request_error) for row in found}
    return {row.request_id: cast(Task, row) for row in found}, statuses


def _status(status: str, error: Any) -> str:
    is_cancelled = isinstance(error, dict) and error.get("code") == CANCELLED
    return CANCELLED if is_cancelled else status


# Rows, not objects of the ORM: they have the same names and are only read, and there are many of them.


async def by_id(session: AsyncSession, ids: Collection[UUID]) -> dict[UUID, Call]:
    if not ids:
        return {}
    found = await session.execute(select(TABLE).where(_among(session, TABLE.c.id, ids)))
    return {row.id: cast(Call, row) for row in found}


async def with_statuses(
    session: AsyncSession, ids: Collection[UUID]
) -> tuple[dict[UUID, Call], dict[UUID, str]]:
    """Calls by their ids, and where their requests stand, by the requests' ids."""
    query = select(TABLE, Request.status.label("request_status"), Request.error.label("request_error"))
    query = query.join(Request, Request.id == TABLE.c.request_id)
    found = list(await session.execute(query.where(_among(session, TABLE.c.id, ids))))
    statuses = {row.request_id: _status(row.request_status, row.request_error) for row in found}
    return {row.id: cast(Call, row) for row in found}, statuses


async def of_requests(session: AsyncSession, request_ids: Collection[UUID]) -> dict[UUID, list[Call]]:
    """All calls of requests, oldest first."""
    query = select(TABLE).where(_among(session, TABLE.c.request_id, request_ids))
    found: dict[UUID, list[Call]] = {request_id: [] for request_id in request_ids}
    for row in await session.execute(query.order_by(TABLE.c.opened_at, TABLE.c.id)):
        found[row.request_id].append(cast(Call, row))
    return found


async def insert(session: AsyncSession, values: Sequence[dict[str, Any]]) -> None:
    await rows.insert(session, TABLE, values)


async def change(session: AsyncSession, call: Call, expected: CallState, /, **values: Any) -> bool:
    """Settles every race for a call: whoever finds it in the expected state, under the number it was read
    with, changes it. False: somebody else did before."""
    statement = (
        update(Call)
        .where(Call.id == call.id, Call.state == expected.value, Call.fencing == call.fencing)
        .values(**values)
        .returning(Call.id)
        .execution_options(synchronize_session=False)
    )
    return (await session.execute(statement)).first() is not None


async def end(session: AsyncSession, call: Call, became: CallState, **values: Any) -> bool:
    """An open call is over; False: it was before."""
    return await change(
        session,
        call,
        CallState.OPEN,
        state=became.value,
        ended_at=utc_now(),
        taken_by=None,
        taken_until=None,
        **values,
    )


@dataclass(frozen=True, slots=True)
class Ending:
    """An open call that is over, and what became of it."""

    call: Call
    became: CallState
    result: Any = None
    error: Any = None
    degraded: Any = None


async def end_all(session: AsyncSession, endings: Sequence[Ending]) -> list[bool]:
    """As `end` for each in turn, on PostgreSQL in one statement; False: it was over before."""
    connection = await session.connection()
    if connection.dialect.name != "postgresql" or len(endings) < 2:
        return [
            await end(
                session, one.call, one.became, result=one.result, error=one.error, degraded=one.degraded
            )
            for one in endings
        ]
    # Of two for the same call the first counts.
    first = {one.call.id: one for one in reversed(endings)}
    columns: list[list[Any]] = [
        list(first),
        [one.call.fencing for one in first.values()],
        [one.became.value for one in first.values()],
        *([_json(getattr(one, name)) for one in first.values()] for name in ("result", "error", "degraded")),
    ]
    found = await connection.exec_driver_sql(_END_ALL, (*columns, utc_now()))
    ended = {as_uuid(row.id) for row in found}
    return [one.call.id in ended and first[one.call.id] is one for one in endings]


def claim_open(dialect: str, calls: Mapping[UUID, Call]) -> Claim:
    """Begins a transaction that ends open calls, given by the messages that answer them: locks them. Those
    that are over, or that somebody else is at, are left out; raises PartlyHandled then."""
    statement = text(_CLAIM_OPEN["sqlite" if dialect == "sqlite" else "postgresql"])
    values = rows.values_for(dialect, {"ids": [_plain(one.id, dialect) for one in calls.values()]})

    def claim(connection: Connection) -> None:
        found = {as_uuid(row.id): row.fencing for row in connection.execute(statement, values)}
        left = {message_id for message_id, call in calls.items() if found.get(call.id) == call.fencing}
        if len(left) < len(calls):
            raise PartlyHandled(left)

    return claim


def _plain(value: UUID, dialect: str) -> Any:
    return str(value) if dialect == "sqlite" else value


_CLAIM_OPEN = {
    "sqlite": "SELECT id, fencing FROM orchestrator_calls WHERE state = 'open' "
    "AND id IN (SELECT value FROM json_each(:ids))",
    "postgresql": "SELECT id, fencing FROM orchestrator_calls WHERE state = 'open' AND id = ANY(:ids) "
    "ORDER BY id FOR UPDATE SKIP LOCKED",
}

_END_ALL = """
UPDATE orchestrator_calls AS c
SET state = v.became, result = v.result::jsonb, error = v.error::jsonb, degraded = v.degraded::jsonb,
    ended_at = $7, taken_by = NULL, taken_until = NULL
FROM (
    SELECT o.id, v.fencing, v.became, v.result, v.error, v.degraded
    FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::text[])
        AS v(id, fencing, became, result, error, degraded)
    JOIN orchestrator_calls AS o ON o.id = v.id
    ORDER BY o.id FOR UPDATE OF o
) AS v
WHERE c.id = v.id AND c.fencing = v.fencing AND c.state = 'open'
RETURNING c.id
"""


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, default=str)


async def note_progress(session: AsyncSession, call: Call, percent: int) -> bool:
    """Only forward; False: that much was known, or the call is over."""
    statement = (
        update(Call)
        .where(
            Call.id == call.id,
            Call.state == CallState.OPEN.value,
            Call.fencing == call.fencing,
            Call.progress < percent,
        )
        .values(progress=percent)
        .returning(Call.id)
        .execution_options(synchronize_session=False)
    )
    return (await session.execute(statement)).first() is not None


async def cancel_all(session: AsyncSession, request_id: UUID) -> list[Call]:
    """The calls of a request that were under way; nobody waits for them any more."""
    running = (CallState.OPEN.value, CallState.WAITING.value, CallState.RETRYING.value)
    query = select(Call).where(Call.request_id == request_id, Call.state.in_(running))
    found = list(await session.scalars(query))
    statement = update(Call).where(Call.request_id == request_id, Call.state.in_(running))
    await session.execute(
        statement.values(state=CallState.CANCELLED.value, ended_at=utc_now()).execution_options(
            synchronize_session=False
        )
    )
    return found


async def overdue(session: AsyncSession, now: datetime, limit: int) -> list[Call]:
    """Open calls whose time is over."""
    query = select(Call).where(Call.state == CallState.OPEN.value, Call.timeout_at <= now)
    return list(await session.scalars(query.order_by(Call.timeout_at).limit(limit)))


async def next_timeout(session: AsyncSession) -> datetime | None:
    found: datetime | None = await session.scalar(
        select(func.min(Call.timeout_at)).where(Call.state == CallState.OPEN.value)
    )
    return found


async def unsent(session: AsyncSession, before: datetime, limit: int) -> list[Call]:
    """Open calls whose envelope was not published yet, or before that moment."""
    is_old = Call.sent_at.is_(None) | (Call.sent_at < before)
    query = select(Call).where(Call.state == CallState.OPEN.value, is_old)
    return list(await session.scalars(query.order_by(Call.priority, Call.opened_at).limit(limit)))


async def mark_sent(connection: AsyncConnection, ids: Collection[UUID]) -> None:
    """Of those that are still open, and that nobody is ending now: the others need not be found again."""
    is_sent = TABLE.c.id.in_(
        select(TABLE.c.id)
        .where(_among(connection, TABLE.c.id, ids), TABLE.c.state == CallState.OPEN.value)
        .with_for_update(skip_locked=True)
    )
    await connection.execute(update(TABLE).where(is_sent).values(sent_at=utc_now()))
