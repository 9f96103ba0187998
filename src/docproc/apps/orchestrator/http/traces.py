"""Traces: the whole timeline of one request by its correlation id, as data and as a picture."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Response
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.http import reading
from docproc.apps.orchestrator.http.models import Trace, TraceEntry
from docproc.apps.orchestrator.http.picture import svg
from docproc.apps.orchestrator.tables import Task
from docproc.engine.store import events
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import Application
from docproc.http.problems import Problem, documented

router = APIRouter(prefix="/api/v1/traces", tags=["orchestrator"])

MOST_EVENTS = 5000


@router.get(
    "/{correlation_id}",
    summary="All that happened to a request",
    response_model=Trace,
    responses=documented(404, 422, 503),
)
@needs(Scope.READ)
async def trace(application: Application, caller: TheCaller, correlation_id: UUID) -> Trace:
    """Every message, call, retry and event of the tasks that share the id, in order."""
    async with application.store.reading() as session:
        return await _read(session, caller.tenant_id, correlation_id)


@router.get(
    "/{correlation_id}/picture",
    summary="The same as a picture",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}, **documented(404, 422, 503)},
)
@needs(Scope.READ)
async def picture(application: Application, caller: TheCaller, correlation_id: UUID) -> Response:
    async with application.store.reading() as session:
        found = await _read(session, caller.tenant_id, correlation_id)
    return Response(svg(found), media_type="image/svg+xml")


async def _read(session: AsyncSession, tenant_id: str, correlation_id: UUID) -> Trace:
    query = select(Task).where(Task.correlation_id == correlation_id, Task.tenant_id == tenant_id)
    tasks = await reading.many(session, query.order_by(Task.created_at).limit(100))
    if not tasks:
        raise Problem(404, "unknown_trace", "no task of yours has this correlation id", "Check the id")
    timeline: list[TraceEntry] = []
    for task in tasks:
        found = await events.read(session, task.task_id, limit=MOST_EVENTS)
        timeline += [_entry(task.task_id, row) for row in found]
    timeline.sort(key=lambda entry: entry.at)
    return Trace(correlation_id=correlation_id, tasks=list(tasks), timeline=timeline)


def _entry(task_id: UUID, row: Any) -> TraceEntry:
    return TraceEntry(
        at=row.finished_at,
        task_id=task_id,
        kind=row.kind,
        step=row.stage,
        outcome=row.outcome,
        attempt=row.attempt,
        worker_id=row.worker_id,
        data=events.for_clients(row.kind, row.data),
    )
