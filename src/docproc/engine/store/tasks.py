"""Tasks: work for a person, created in the transaction of whoever was not sure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import ColumnElement, and_, case, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import events, rows
from docproc.engine.store.columns import NO_DEADLINE
from docproc.engine.store.tables import Request
from docproc.engine.store.task_tables import BackofficeTask, Operator

TABLE: Any = BackofficeTask.__table__
# `timeout`: its holder fell silent, and the next round of the assignment gives it to others.
OPEN = ("pending", "assigned", "timeout")
# In `input_data`: the answer went out flagged, and what the person says will amend it.
AMENDS = "amends"
# Queues whose messages only tell people of tasks.
NOTICES = "q.backoffice.%"
# Behind the questions of ordinary requests that wait for their answers.
AMENDMENT = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person is to be asked. `amends`: the unit goes on without an answer, which later amends."""

    message: PipelineMessage
    task_type: str
    reference_id: UUID
    input_data: dict[str, Any]
    amends: bool = False

    @property
    def task_id(self) -> UUID:
        """The same message always makes the same task."""
        return uuid5(self.message.message_id, f"task:{self.task_type}")

    @property
    def mark(self) -> dict[str, Any]:
        return {AMENDS: True} if self.amends else {}


async def create(
    session: AsyncSession,
    message: PipelineMessage,
    *,
    task_type: str,
    reference_id: UUID,
    input_data: dict[str, Any],
    amends: bool = False,
) -> UUID:
    """One task for what `message` is about; until it is answered, `message` waits here, to go on from its
    stage."""
    asked = Asked(message, task_type, reference_id, input_data, amends)
    await create_all(session, [asked])
    return asked.task_id


async def create_all(session: AsyncSession, asked: Sequence[Asked]) -> None:
    """Tasks of one request, in as many statements as one of them takes."""
    if not asked:
        return
    request_id = asked[0].message.request_id
    wanted = await session.scalar(select(Request.priority).where(Request.id == request_id))
    await rows.insert(session, TABLE, [_row(one, wanted) for one in asked])
    await events.record(session, [_note(one) for one in asked])


def _row(asked: Asked, wanted: int | None) -> dict[str, Any]:
    message = asked.message
    # What the stage sends now and what the person sends later are two messages: of one id, the later one
    # would be taken for a repetition.
    waiting = message.model_copy(update={"message_id": uuid5(asked.task_id, "answer")})
    return {
        "id": asked.task_id,
        "tenant_id": message.tenant_id,
        "request_id": message.request_id,
        "task_type": asked.task_type,
        "reference_id": asked.reference_id,
        "status": "pending",
        "priority": _priority(message, wanted, asked.amends),
        "required_skills": [asked.task_type],
        "source_stage": message.current_stage,
        "workflow_name": message.workflow_name,
        "deadline_utc": message.deadline_utc,
        "input_data": {**asked.input_data, **asked.mark},
        "message": waiting.encode().decode(),
    }


def _note(asked: Asked) -> events.Event:
    message = asked.message
    return events.Event(
        message.request_id,
        "task",
        tenant_id=message.tenant_id,
        stage=message.current_stage,
        unit_key=message.unit_key,
        outcome="pending",
        data={"task_id": str(asked.task_id), "task_type": asked.task_type, **asked.mark},
    )


def _priority(message: PipelineMessage, wanted: int | None, amends: bool) -> int:
    """As urgent as its request, whatever machines put back; but nobody waits for an amendment."""
    priority = max(message.priority, message.priority if wanted is None else wanted)
    return min(priority, AMENDMENT) if amends else priority


async def open_count(session: AsyncSession, request_id: UUID) -> int:
    query = select(BackofficeTask.id).where(
        BackofficeTask.request_id == request_id, BackofficeTask.status.in_(OPEN)
    )
    return len(list(await session.scalars(query)))


@dataclass(frozen=True, slots=True)
class Urgency:
    """The place of a task in the order of work: priority, then deadline."""

    priority: int
    deadline: datetime | None

    @classmethod
    def of(cls, message: PipelineMessage) -> Urgency:
        return cls(message.priority, message.deadline_utc)

    @property
    def order(self) -> tuple[int, datetime]:
        """The most urgent first."""
        return -self.priority, self.deadline or NO_DEADLINE


async def open_ahead(
    session: AsyncSession, task_type: str, urgencies: Collection[Urgency]
) -> dict[tuple[str, Urgency], int]:
    """By tenant, how many open tasks of the type are as urgent or more: answered before a new one."""
    wanted = list(dict.fromkeys(urgencies))
    counts = [func.sum(case((_is_ahead(one), 1), else_=0)) for one in wanted]
    query = (
        select(BackofficeTask.tenant_id, *counts)
        .where(BackofficeTask.status.in_(OPEN), BackofficeTask.task_type == task_type)
        .group_by(BackofficeTask.tenant_id)
    )
    found: dict[tuple[str, Urgency], int] = defaultdict(int)
    for tenant, *numbers in await session.execute(query):
        found |= {(tenant, one): int(number) for one, number in zip(wanted, numbers, strict=True)}
    return found


def _is_ahead(urgency: Urgency) -> ColumnElement[bool]:
    soon = BackofficeTask.deadline_utc <= (urgency.deadline or NO_DEADLINE)
    same = BackofficeTask.priority == urgency.priority
    return or_(BackofficeTask.priority > urgency.priority, and_(same, soon))


async def escalate(session: AsyncSession, request_ids: Sequence[UUID], priority: int) -> int:
    """The requests' open questions become as urgent as `priority`; returns how many were less."""
    raised = await session.execute(
        update(BackofficeTask)
        .where(
            BackofficeTask.request_id.in_(request_ids),
            BackofficeTask.status.in_(OPEN),
            BackofficeTask.priority < priority,
        )
        .values(priority=priority)
        .returning(BackofficeTask.id)
        .execution_options(synchronize_session=False)
    )
    return len(list(raised))


async def open_inputs(session: AsyncSession, request_id: UUID, task_type: str) -> list[dict[str, Any]]:
    """What people are being asked about a request."""
    query = select(BackofficeTask.input_data).where(
        BackofficeTask.request_id == request_id,
        BackofficeTask.status.in_(OPEN),
        BackofficeTask.task_type == task_type,
    )
    return list(await session.scalars(query))


async def withdraw_amendments(session: AsyncSession, references: Collection[UUID], reason: str) -> None:
    """What these questions are about is gone; where nothing waits for the answers, nobody need give them."""
    if not references:
        return
    about = BackofficeTask.reference_id.in_(references)
    query = select(BackofficeTask.id, BackofficeTask.input_data).where(about, BackofficeTask.status.in_(OPEN))
    ids = [row.id for row in await session.execute(query) if (row.input_data or {}).get(AMENDS)]
    await _close(session, BackofficeTask.id.in_(ids), reason)


async def close_all(session: AsyncSession, request_id: UUID, reason: str) -> None:
    """The request is over: nobody needs to look at it any more."""
    await _close(session, BackofficeTask.request_id == request_id, reason)


async def remove_notices(session: AsyncSession, request_id: UUID, unit_key: str) -> None:
    """The question is settled: what still tells people of it may go."""
    await rows.execute(
        session,
        f"DELETE FROM messages WHERE request_id = :request AND unit_key = :unit AND queue LIKE '{NOTICES}'",
        request=request_id,
        unit=unit_key,
    )


async def _close(session: AsyncSession, which: ColumnElement[bool], reason: str) -> None:
    closed = await session.execute(
        update(BackofficeTask)
        .where(which, BackofficeTask.status.in_(OPEN))
        .values(status="completed", completed_at=utc_now(), output_data={"closed": reason})
        .returning(BackofficeTask.id, BackofficeTask.assigned_to, BackofficeTask.message)
        .execution_options(synchronize_session=False)
    )
    for row in list(closed):
        if row.message:
            waiting = PipelineMessage.parse(row.message)
            await remove_notices(session, waiting.request_id, waiting.unit_key)
        if row.assigned_to is not None:
            await clear_current(session, row.assigned_to, row.id)


async def clear_current(session: AsyncSession, operator_id: UUID, task_id: UUID) -> None:
    """The person no longer has this task; whoever took several at once has another one still."""
    other = (
        select(BackofficeTask.id)
        .where(BackofficeTask.status == "assigned", BackofficeTask.assigned_to == operator_id)
        .order_by(BackofficeTask.assigned_at.desc())
        .limit(1)
        .scalar_subquery()
    )
    await session.execute(
        update(Operator)
        .where(Operator.id == operator_id, Operator.current_task_id == task_id)
        .values(current_task_id=other)
        .execution_options(synchronize_session=False)
    )
