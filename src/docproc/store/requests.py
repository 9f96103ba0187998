"""The life of a request: its status moves forward only, and ends once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.message import utc_now
from docproc.store import events, fan_in, messages, tasks
from docproc.store.tables import Request, RequestStatus

# The order of life. A status that is not listed here ranks with `processing`.
RANKS = {
    status: rank
    for rank, status in enumerate(
        (
            RequestStatus.RECEIVED,
            RequestStatus.ROUTING,
            RequestStatus.SPLITTING,
            RequestStatus.PROCESSING,
            RequestStatus.EXTRACTING,
            RequestStatus.CONSOLIDATING,
        )
    )
}
TERMINAL = (RequestStatus.COMPLETED, RequestStatus.FAILED, RequestStatus.SLA_BREACHED)


def rank(status: str) -> int:
    return RANKS.get(RequestStatus(status), RANKS[RequestStatus.PROCESSING]) if status in RANKS else 3


async def advance(session: AsyncSession, request_ids: Sequence[UUID], status: str) -> list[UUID]:
    """Move requests forward to `status`; those already there, beyond it or ended stay. One event each."""
    earlier = [known.value for known, place in RANKS.items() if place < rank(status)]
    if not earlier or not request_ids:
        return []
    moved = await session.execute(
        update(Request)
        .where(Request.id.in_(sorted(request_ids, key=str)), Request.status.in_(earlier))
        .values(status=status, updated_at=utc_now())
        .returning(Request.id, Request.tenant_id)
        .execution_options(synchronize_session=False)
    )
    found = list(moved)
    await events.record(
        session,
        [events.Event(r.id, "status", tenant_id=r.tenant_id, outcome=status) for r in found],
    )
    return [r.id for r in found]


@dataclass(frozen=True, slots=True)
class Ending:
    """A flow that has come to its end, with what it found."""

    request_id: UUID
    result: Any = None
    generation: int = 1


async def finish(
    session: AsyncSession, request_id: UUID, result: Any = None, generation: int = 1
) -> str | None:
    """End one request; returns the status set now, None when it had ended before."""
    return (await finish_all(session, [Ending(request_id, result, generation)])).get(request_id)


async def finish_all(session: AsyncSession, endings: Sequence[Ending]) -> dict[UUID, str]:
    """`completed`, or `failed` naming the units that have no result; returns the statuses set now.

    A request that ended before keeps its status and gets the newer result.
    """
    if not endings:
        return {}
    ids = sorted({ending.request_id for ending in endings}, key=str)
    query = select(Request).where(Request.id.in_(ids)).order_by(Request.id).with_for_update()
    found = await session.scalars(query.execution_options(populate_existing=True))
    known = {request.id: request for request in found}
    failed = await fan_in.requests_with_failures(session, ids)
    notes, ended = [], {}
    for ending in endings:
        request = known.get(ending.request_id)
        if request is None or ending.generation < request.result_generation:
            continue
        was_over = request.status in TERMINAL
        units = await fan_in.failures(session, request.id) if request.id in failed else []
        _end(request, ending, units)
        kind = "answer" if was_over else "status"
        notes.append(events.Event(request.id, kind, tenant_id=request.tenant_id, outcome=request.status))
        if not was_over:
            ended[request.id] = request.status
    await session.flush()
    await events.record(session, notes)
    return ended


def _end(request: Request, ending: Ending, failed: list[dict[str, Any]]) -> None:
    request.result_generation = ending.generation
    if ending.result is not None:
        request.result_payload = ending.result
    request.updated_at = request.completed_at = utc_now()
    if request.status in TERMINAL:
        return
    request.status = RequestStatus.FAILED if failed else RequestStatus.COMPLETED
    request.error = None
    if failed:
        named = ", ".join(f"{item['unit']} ({item['error']})" for item in failed[:3])
        more = f" and {len(failed) - 3} more" if len(failed) > 3 else ""
        reason = f"no result for {named}{more}"
        request.error = {"code": "units_failed", "message": reason, "units": failed}


async def fail(session: AsyncSession, request_id: UUID, error: dict[str, Any]) -> bool:
    """End a request at once; what is queued for it waits for a replay. False when it had ended already."""
    request = await _locked(session, request_id)
    if request is None or request.status in TERMINAL:
        return False
    request.status = RequestStatus.FAILED
    request.error = error
    request.updated_at = request.completed_at = utc_now()
    await messages.suspend_request(session, request_id)
    await _note(session, request, "status", RequestStatus.FAILED, error)
    return True


async def cancel(session: AsyncSession, request_id: UUID, reason: str) -> bool:
    """End a request for good: nothing more is done for it. False when it had ended already."""
    request = await _locked(session, request_id)
    if request is None or request.status in TERMINAL:
        return False
    error = {"code": "cancelled", "message": reason}
    request.status = RequestStatus.FAILED
    request.error = error
    request.updated_at = request.completed_at = utc_now()
    await messages.drop_request(session, request_id)
    await tasks.close_all(session, request_id, "cancelled")
    await _note(session, request, "status", RequestStatus.FAILED, error)
    return True


async def reopen(session: AsyncSession, request_id: UUID, *, status: str, reason: str) -> None:
    """An operator's replay, the only way out of `failed`."""
    request = await _locked(session, request_id)
    if request is None or request.status != RequestStatus.FAILED:
        return
    request.status = status
    request.error = None
    request.completed_at = None
    request.updated_at = utc_now()
    await _note(session, request, "reopened", status, {"reason": reason})


async def _locked(session: AsyncSession, request_id: UUID) -> Request | None:
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
