"""Tasks: work for a person, created in the transaction of whoever was not sure."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.message import PipelineMessage, utc_now
from docproc.store import events, rows
from docproc.store.tables import BackofficeTask

TABLE: Any = BackofficeTask.__table__
OPEN = ("pending", "assigned")


async def create(
    session: AsyncSession,
    message: PipelineMessage,
    *,
    task_type: str,
    reference_id: UUID,
    input_data: dict[str, Any],
) -> UUID:
    """One task for what `message` is about; the same message always makes the same task."""
    task_id = uuid5(message.message_id, f"task:{task_type}")
    row = {
        "id": task_id,
        "tenant_id": message.tenant_id,
        "request_id": message.request_id,
        "task_type": task_type,
        "reference_id": reference_id,
        "status": "pending",
        "priority": message.priority,
        "required_skills": [task_type],
        "source_stage": message.current_stage,
        "workflow_name": message.workflow_name,
        "deadline_utc": message.deadline_utc,
        "input_data": input_data,
        "message": message.encode().decode(),
    }
    await rows.insert(session, TABLE, [row])
    note = events.Event(
        message.request_id,
        "task",
        tenant_id=message.tenant_id,
        stage=message.current_stage,
        unit_key=message.unit_key,
        outcome="pending",
        data={"task_id": str(task_id), "task_type": task_type},
    )
    await events.record(session, [note])
    return task_id


async def open_count(session: AsyncSession, request_id: UUID) -> int:
    query = select(BackofficeTask.id).where(
        BackofficeTask.request_id == request_id, BackofficeTask.status.in_(OPEN)
    )
    return len(list(await session.scalars(query)))


async def close_all(session: AsyncSession, request_id: UUID, reason: str) -> None:
    """The request is over: nobody needs to look at it any more."""
    await session.execute(
        update(BackofficeTask)
        .where(BackofficeTask.request_id == request_id, BackofficeTask.status.in_(OPEN))
        .values(status="completed", completed_at=utc_now(), output_data={"closed": reason})
        .execution_options(synchronize_session=False)
    )
