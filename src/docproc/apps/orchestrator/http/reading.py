"""Tasks as clients see them: request, envelope and calls put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.calls import rows
from docproc.apps.orchestrator.calls.envelopes import delegated
from docproc.apps.orchestrator.http.models import StepInfo, TaskDetail
from docproc.apps.orchestrator.tables import Call, CallState, Task
from docproc.engine.store.tables import Request, RequestStatus
from docproc.errors import UnknownRequestError


async def one(session: AsyncSession, request_id: UUID) -> TaskDetail:
    """Raises UnknownRequestError."""
    found = await many(session, select(Task).where(Task.request_id == request_id))
    if not found:
        raise UnknownRequestError(f"there is no task {request_id}", remedy="Check the id")
    return found[0]


async def many(session: AsyncSession, query: Any) -> list[TaskDetail]:
    """The tasks that a query finds, in its order."""
    tasks = list(await session.scalars(query))
    ids = [task.request_id for task in tasks]
    requests = {row.id: row for row in await session.scalars(select(Request).where(Request.id.in_(ids)))}
    calls = await rows.of_requests(session, ids)
    return [_detail(task, requests[task.request_id], calls[task.request_id]) for task in tasks]


def status_of(request: Request) -> str:
    """In the envelope's words."""
    if request.completed_at is not None:
        return "failed" if request.error else "completed"
    return "pending" if request.status == RequestStatus.RECEIVED else "processing"


def progress_of(calls: Sequence[Call], steps: int, status: str) -> int:
    """Each step counts the same; one that is under way, by what it reported."""
    if status == "completed":
        return 100
    done = sum(
        100 if call.state == CallState.COMPLETED.value else call.progress
        for call in calls
        if call.parent_id is None
    )
    return min(99, done // max(1, steps))


def step_info(call: Call) -> StepInfo:
    return StepInfo(
        step=call.stage,
        call_id=call.id,
        tool=call.tool_key,
        parent=call.parent_id,
        service=call.service,
        queue=call.queue,
        type=f"{call.domain}.{call.action}",
        status=call.state,
        attempt=call.attempt,
        fencing=call.fencing,
        progress=100 if call.state == CallState.COMPLETED.value else call.progress,
        started_at=call.opened_at,
        ended_at=call.ended_at,
        result=call.result,
        error=call.error,
        degraded=call.degraded,
    )


def _detail(task: Task, request: Request, calls: Sequence[Call]) -> TaskDetail:
    status = status_of(request)
    return TaskDetail.model_validate(
        {
            "task_id": task.request_id,
            "session_id": task.session_id,
            "conversation_id": task.conversation_id,
            "correlation_id": task.correlation_id,
            "type": f"{task.domain}.{task.action}",
            "priority": task.priority,
            "status": status,
            "progress": progress_of(calls, task.steps, status),
            "created_at": task.created_at,
            "completed_at": request.completed_at,
            "expires_at": task.expires_at,
            "result": request.result_payload,
            "error": request.error,
            "delegated_services": [one.model_dump() for one in delegated(calls)],
            "steps": [step_info(call) for call in calls],
        }
    )
