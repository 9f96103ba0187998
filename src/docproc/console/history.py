"""What happened to a request, read for its page: spans of work and of people, answers, and open tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.console.timeline import Moment, Span
from docproc.engine.store.tables import Answer, Event, Request
from docproc.engine.store.task_tables import BackofficeTask

# A request of a thousand pages has a few thousand; more would not be seen in a picture.
MOST_EVENTS = 5000
OPEN = ("pending", "assigned")


async def spans(session: AsyncSession, request_id: UUID) -> list[Span]:
    """Of handled messages; `row` is the stage."""
    query = (
        select(Event.stage, Event.unit_key, Event.started_at, Event.finished_at, Event.outcome)
        .where(Event.request_id == request_id, Event.kind == "handled", Event.stage.is_not(None))
        .order_by(Event.id)
        .limit(MOST_EVENTS)
    )
    return [
        Span(
            row.stage,
            row.started_at,
            max(row.finished_at, row.started_at),
            "work" if row.outcome in (None, "done") else "failed",
            row.unit_key or "",
        )
        for row in await session.execute(query)
    ]


async def tasks(session: AsyncSession, request_id: UUID) -> list[BackofficeTask]:
    query = select(BackofficeTask).where(BackofficeTask.request_id == request_id)
    return list(await session.scalars(query.order_by(BackofficeTask.created_at)))


def people(found: Sequence[BackofficeTask], now: datetime) -> list[Span]:
    """The wait for somebody, then the work on it."""
    made = []
    for task in found:
        taken = task.accepted_at or task.assigned_at
        ended = task.completed_at or now
        waited = min(taken or ended, ended)
        made.append(Span("people", task.created_at, max(waited, task.created_at), "wait", task.task_type))
        if taken:
            made.append(Span("people", taken, max(ended, taken), "person", task.task_type))
    return made


def moments(
    request: Request, versions: Sequence[Answer], answer: Callable[[Answer], str], deadline: str
) -> list[Moment]:
    found = [Moment(one.created_at, "answer", answer(one)) for one in versions]
    if request.deadline_utc is not None:
        found.append(Moment(request.deadline_utc, "deadline", deadline))
    return found


def stage_name(text: Callable[..., str], knows: Callable[[str], bool], stage: str) -> str:
    key = f"stage_{stage}"
    return text(key) if knows(key) else stage.replace("_", " ")


def open_tasks(found: Sequence[BackofficeTask]) -> list[BackofficeTask]:
    return [task for task in found if task.status in OPEN]


def facts(task: BackofficeTask) -> dict[str, Any]:
    return {"id": task.id, "type": task.task_type, "status": task.status, "created_at": task.created_at}
