"""The life of a request: its status moves forward only, and ends once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import utc_now
from docproc.engine.store import answers, completing, events, fan_in, messages, rows, tasks
from docproc.engine.store.columns import as_uuid
from docproc.engine.store.completing import Ending
from docproc.engine.store.standing import Standing
from docproc.engine.store.tables import Request, RequestStatus

# Where every flow begins.
ROUTING = Standing(RequestStatus.ROUTING, (RequestStatus.RECEIVED,))
TERMINAL = completing.TERMINAL


async def advance(session: AsyncSession, request_ids: Sequence[UUID], standing: Standing) -> list[UUID]:
    """Move requests forward to a status; those already there, beyond it or ended stay. One event each."""
    if not standing.after or not request_ids:
        return []
    status = standing.status
    dialect = session.get_bind().dialect.name
    ids = [str(one) if dialect == "sqlite" else one for one in sorted(request_ids, key=str)]
    found = await rows.execute(
        session,
        "UPDATE requests SET status = :status, updated_at = :now "
        f"WHERE {rows.among(dialect, 'id', ':ids')} AND {rows.among(dialect, 'status', ':before')} "
        "RETURNING id, tenant_id",
        status=status,
        now=utc_now(),
        ids=ids,
        before=list(standing.after),
    )
    await events.record(
        session,
        [events.Event(as_uuid(r.id), "status", tenant_id=r.tenant_id, outcome=status) for r in found],
    )
    return [as_uuid(r.id) for r in found]


async def finish(
    session: AsyncSession, request_id: UUID, result: Any = None, generation: int = 1
) -> str | None:
    """End one request; returns the status set now, None when it had ended before."""
    return (await finish_all(session, [Ending(request_id, result, generation)])).get(request_id)


async def finish_all(session: AsyncSession, endings: Sequence[Ending]) -> dict[UUID, str]:
    """`completed`, or `failed` naming the units that have no result; returns the statuses set now.

    After its deadline it is `sla_breached`, whether the monitor has said so yet or not. A request that ended
    before keeps its status and gets the newer result. Each is answered with the next version.
    """
    if not endings:
        return {}
    done = await completing.complete_all(session, endings)
    ended = dict.fromkeys(done, RequestStatus.COMPLETED.value)
    return ended | await _finish_others(session, [one for one in endings if one.request_id not in done])


async def _finish_others(session: AsyncSession, endings: Sequence[Ending]) -> dict[UUID, str]:
    if not endings:
        return {}
    ids = sorted({ending.request_id for ending in endings}, key=str)
    query = select(Request).where(Request.id.in_(ids)).order_by(Request.id).with_for_update()
    found = await session.scalars(query.execution_options(populate_existing=True))
    known = {request.id: request for request in found}
    failed = await fan_in.requests_with_failures(session, ids)
    notes: list[events.Event] = []
    ended: dict[UUID, str] = {}
    given: list[answers.Given] = []
    for ending in endings:
        request = known.get(ending.request_id)
        if request is None or ending.generation < request.result_generation:
            continue
        was_over = request.status in TERMINAL
        units = await fan_in.failures(session, request.id) if request.id in failed else []
        _end(request, ending, units)
        if not was_over:
            ended[request.id] = request.status
            notes.append(
                events.Event(request.id, "status", tenant_id=request.tenant_id, outcome=request.status)
            )
        # An amendment may tell of a part that another one has under way.
        is_partial = isinstance(ending.result, dict) and bool(ending.result.get("partial"))
        given.append(answers.Given(request, ending.result, is_partial, answers.Reason.COMPLETE))
    await events.record(session, notes)
    await answers.give(session, given)
    return ended


def _end(request: Request, ending: Ending, failed: list[dict[str, Any]]) -> None:
    now = utc_now()
    request.result_generation = ending.generation
    request.updated_at = now
    # When it was done is a fact that later answers do not move.
    if request.completed_at is None:
        request.completed_at = now
    else:
        request.amended_at = now
    is_over = request.status in TERMINAL
    if is_over and request.status != RequestStatus.SLA_BREACHED:
        return
    if not is_over:
        request.status = RequestStatus.FAILED if failed else RequestStatus.COMPLETED
        if _is_late(request, now):
            breach(request, now)
    request.next_check_at = None
    request.error = None
    if failed:
        named = ", ".join(f"{item['unit']} ({item['error']})" for item in failed[:3])
        more = f" and {len(failed) - 3} more" if len(failed) > 3 else ""
        reason = f"no result for {named}{more}"
        request.error = {"code": "units_failed", "message": reason, "units": failed}


def _is_late(request: Request, now: datetime) -> bool:
    """Whether the monitor, had it been quicker, would have marked the request by now."""
    watched = request.next_check_at is not None
    return watched and request.deadline_utc is not None and request.deadline_utc <= now


def breach(request: Request, now: datetime) -> None:
    """The deadline passed unfinished: that stays on record, whatever comes later."""
    request.status = RequestStatus.SLA_BREACHED
    request.breached_at = request.updated_at = now
    request.next_check_at = None


def _is_over(request: Request) -> bool:
    """Nothing more is done for it; a breached request goes on until it is complete."""
    breached = request.status == RequestStatus.SLA_BREACHED
    return request.completed_at is not None if breached else request.status in TERMINAL


def _give_up(request: Request, error: dict[str, Any]) -> None:
    if request.status != RequestStatus.SLA_BREACHED:
        request.status = RequestStatus.FAILED
    request.error = error
    request.next_check_at = None
    request.updated_at = request.completed_at = utc_now()


async def fail(session: AsyncSession, request_id: UUID, error: dict[str, Any]) -> bool:
    """End a request at once; what is queued for it waits for a replay. False when it had ended already."""
    request = await locked(session, request_id)
    if request is None or _is_over(request):
        return False
    _give_up(request, error)
    await messages.suspend_request(session, request_id)
    await _note(session, request, "status", request.status, error)
    await answers.give(session, [answers.Given(request, None, True, answers.Reason.FAILED)])
    return True


async def cancel(session: AsyncSession, request_id: UUID, reason: str) -> bool:
    """End a request for good: nothing more is done for it. False when it had ended already."""
    request = await locked(session, request_id)
    if request is None or _is_over(request):
        return False
    error = {"code": "cancelled", "message": reason}
    _give_up(request, error)
    await messages.drop_request(session, request_id)
    await tasks.close_all(session, request_id, "cancelled")
    await _note(session, request, "status", request.status, error)
    return True


async def reopen(session: AsyncSession, request_id: UUID, *, status: str, reason: str) -> None:
    """An operator's replay, the only way out of `failed`."""
    request = await locked(session, request_id)
    if request is None or (request.status != RequestStatus.FAILED and request.error is None):
        return
    if request.status == RequestStatus.FAILED:  # a breach stays on record
        request.status = status
    request.error = None
    request.completed_at = None
    request.updated_at = utc_now()
    await _note(session, request, "reopened", status, {"reason": reason})


async def locked(session: AsyncSession, request_id: UUID) -> Request | None:
    """The request's row, this transaction's alone until it ends."""
    query = select(Request).where(Request.id == request_id).with_for_update()
    return (await session.execute(query.execution_options(populate_existing=True))).scalar_one_or_none()


async def _note(
    session: AsyncSession, request: Request, kind: str, outcome: str, data: dict[str, Any] | None = None
) -> None:
    await session.flush()
    note = events.Event(request.id, kind, tenant_id=request.tenant_id, outcome=outcome, data=data)
    await events.record(session, [note])


def readable_error(error: Any) -> str:
    return str(error.get("message") or json.dumps(error)) if isinstance(error, dict) else str(error)
