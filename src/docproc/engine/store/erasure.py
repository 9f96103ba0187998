"""Erasing a request: its rows go, and the audit keeps who did what kind of thing and when, without values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, null, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import utc_now
from docproc.engine.store import events, messages, requests, rows, tasks
from docproc.engine.store.events import Event
from docproc.engine.store.tables import (
    AggregationState,
    Answer,
    AnswerDelivery,
    DeadLetter,
    FanInArrival,
    Request,
)
from docproc.engine.store.task_tables import BackofficeTask, Operator

# What an application does about its own rows of a request, in the transaction that erases it.
EraseOwn = Callable[[AsyncSession, UUID], Awaitable[None]]

_REASON = "erased"


@dataclass(frozen=True, slots=True)
class Erasing:
    """A request to be erased: who asked for it, and until when the audit is kept (None: for good)."""

    request_id: UUID
    by: str
    audit_until: datetime | None = None


async def erase(session: AsyncSession, erasing: Erasing, erasers: Sequence[EraseOwn]) -> bool:
    """Remove all of a request in the caller's transaction; one under way is cancelled first. False: no such.

    The order matters: with the request's row locked and its messages removed nobody can be at work on it, so
    nothing is written again behind us.
    """
    request_id = erasing.request_id
    request = await requests.locked(session, request_id)
    if request is None:
        return False
    await requests.cancel(session, request_id, _REASON)
    await messages.drop_request(session, request_id)
    for erase_own in erasers:
        await erase_own(session, request_id)
    await _erase_tasks(session, request_id)
    for table in (AnswerDelivery, Answer, FanInArrival, AggregationState, DeadLetter):
        await session.execute(delete(table).where(table.request_id == request_id))
    await _erase_values(session, request_id)
    workflow, tenant = request.workflow_name, request.tenant_id
    session.expunge(request)
    await session.execute(delete(Request).where(Request.id == request_id))
    until = erasing.audit_until.isoformat() if erasing.audit_until else None
    told = {"by": erasing.by, "workflow": workflow, "audit_until": until}
    await events.record(session, [Event(request_id, "erased", tenant_id=tenant, outcome="erased", data=told)])
    return True


async def _erase_tasks(session: AsyncSession, request_id: UUID) -> None:
    """Whoever has one of them has nothing any more."""
    await tasks.close_all(session, request_id, _REASON)
    mine = select(BackofficeTask.id).where(BackofficeTask.request_id == request_id)
    await session.execute(
        update(Operator)
        .where(Operator.current_task_id.in_(mine))
        .values(current_task_id=None)
        .execution_options(synchronize_session=False)
    )
    await session.execute(delete(BackofficeTask).where(BackofficeTask.request_id == request_id))


async def _erase_values(session: AsyncSession, request_id: UUID) -> None:
    table: Any = events.TABLE
    mine = table.c.request_id == request_id
    found = list(await session.execute(select(table.c.id, table.c.data).where(mine)))
    people = [(row.id, kept) for row in found if (kept := _who(row.data))]
    # Units are named by applications: perhaps after what they found.
    await session.execute(update(table).where(mine).values(data=null(), unit_key=None))
    await rows.update_many(session, table, [{"id": row_id, "data": kept} for row_id, kept in people])


def _who(data: Any) -> dict[str, Any]:
    return {name: data[name] for name in events.WHO if data.get(name)} if isinstance(data, dict) else {}


async def end_audits(session: AsyncSession) -> int:
    """Remove the events of erased requests whose audit has been kept long enough; returns how many."""
    table: Any = events.TABLE
    query = select(table.c.request_id, table.c.data).where(table.c.kind == "erased")
    now = utc_now()
    over = [row.request_id for row in await session.execute(query) if _is_over(row.data, now)]
    for request_id in over:
        await session.execute(delete(table).where(table.c.request_id == request_id))
    return len(over)


def _is_over(data: Any, now: datetime) -> bool:
    until = (data or {}).get("audit_until")
    return until is not None and datetime.fromisoformat(until) <= now
