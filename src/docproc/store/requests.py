"""The life of a request: its status moves forward only, and ends once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.message import utc_now
from docproc.store import events, fan_in, messages
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


async def finish(
    session: AsyncSession, request_id: UUID, result: Any = None, generation: int = 1
) -> str | None:
    """The flow has come to its end: `completed`, or `failed` naming the units that have no result.

    A request that ended before keeps its status and gets the newer result. Returns the status set now.
    """
    request = await _locked(session, request_id)
    if request is None or generation < request.result_generation:
        return None
    request.result_generation = generation
    now = utc_now()
    failed = await fan_in.failures(session, request_id)
    if result is not None:
        request.result_payload = result
    request.updated_at = now
    request.completed_at = now
    if request.status in TERMINAL:
        await _note(session, request, "answer", request.status)
        return None
    if failed:
        units = ", ".join(item["unit"] for item in failed)
        reason = f"no result for {units} ({failed[0]['error']})"
        request.error = {"code": "units_failed", "message": reason, "units": failed}
    else:
        request.error = None
    request.status = RequestStatus.FAILED if failed else RequestStatus.COMPLETED
    await _note(session, request, "status", request.status)
    return request.status


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
