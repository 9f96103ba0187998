"""Supervisors steer the work: tasks are given to somebody, taken back, or put before others."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import events
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.engine.store.tasks import OPEN
from docproc.errors import InvalidAnswerError, NotAllowedError, TaskConflictError, UnknownTaskError
from docproc.people import desk
from docproc.people.audit import change
from docproc.people.store import assigning, claims

PRIORITIES = range(10)


async def release(session: AsyncSession, task_id: UUID, by: Operator) -> None:
    """The holder loses it; anybody may take it."""
    task = await _open_task(session, task_id, by)
    if task.assigned_to is None:
        raise TaskConflictError("nobody holds this task", remedy="There is nothing to release")
    before = await _take_away(session, task)
    await _note(session, task, "taken_back", by, [change("holder", before, None)])


async def reassign(session: AsyncSession, task_id: UUID, to: Operator, by: Operator, now: datetime) -> None:
    """Offered to somebody who may do it and has no other task; it ends by itself if it is not accepted."""
    task = await _open_task(session, task_id, by)
    if not to.is_active or to.tenant_id != by.tenant_id:
        raise NotAllowedError("this person does not work here", remedy="Choose somebody else")
    desk.check_may_do(task, to)
    if task.assigned_to == to.id:
        raise TaskConflictError("this person has the task already", remedy="Choose somebody else")
    before = await _take_away(session, task) if task.assigned_to else None
    if not await assigning.offer(session, [(task.id, to.id)], now):
        raise TaskConflictError("this person has another task in hand", remedy="Choose somebody else")
    await _note(session, task, "reassigned", by, [change("holder", before, to.username)])


async def prioritise(session: AsyncSession, task_id: UUID, priority: int, by: Operator) -> None:
    if priority not in PRIORITIES:
        raise InvalidAnswerError(
            "priority: it is a number from 0 to 9",
            problems={"priority": "it is a number from 0 to 9"},
            remedy="9 is the most urgent",
        )
    task = await _open_task(session, task_id, by)
    before = task.priority
    await session.execute(
        update(BackofficeTask)
        .where(BackofficeTask.id == task.id)
        .values(priority=priority)
        .execution_options(synchronize_session=False)
    )
    await _note(session, task, "prioritised", by, [change("priority", before, priority)])


async def _open_task(session: AsyncSession, task_id: UUID, by: Operator) -> BackofficeTask:
    """Locked: nobody answers it meanwhile."""
    mine = (BackofficeTask.id == task_id, BackofficeTask.tenant_id == by.tenant_id)
    query = select(BackofficeTask).where(*mine).with_for_update(key_share=True)
    task = await session.scalar(query.execution_options(populate_existing=True))
    if task is None:
        raise UnknownTaskError(f"there is no task {task_id}", remedy="Go back to the list")
    if task.status not in OPEN:
        raise TaskConflictError("this task is done", remedy="Go back to the list")
    return task


async def _take_away(session: AsyncSession, task: BackofficeTask) -> str | None:
    holder = task.assigned_to
    if holder is None:
        return None
    await claims.let_go(session, task.id, holder)
    return await session.scalar(select(Operator.username).where(Operator.id == holder))


async def _note(
    session: AsyncSession, task: BackofficeTask, outcome: str, by: Operator, changes: list[dict[str, Any]]
) -> None:
    data = {"task_id": str(task.id), "operator": by.username, "changes": changes}
    note = events.Event(
        task.request_id,
        "task",
        tenant_id=task.tenant_id,
        stage=task.source_stage,
        outcome=outcome,
        data=data,
    )
    await events.record(session, [note])
