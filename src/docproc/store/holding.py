"""Who holds a task: claims that the database decides, whoever asks at the same moment."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    String,
    TextClause,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.store.tables import BackofficeTask, Operator

# Roles from the least to the most: each may do what those before it may.
ROLES = ("operator", "supervisor", "admin")

# The order of work: priority, deadline, age (store/tasks.py, `Urgency`).
ORDER = (BackofficeTask.priority.desc(), BackofficeTask.deadline_utc, BackofficeTask.created_at)


def roles_up_to(role: str) -> tuple[str, ...]:
    return ROLES[: ROLES.index(role) + 1]


async def claim(session: AsyncSession, task_id: UUID, operator: Operator, now: datetime) -> bool:
    """Take a task that nobody has, or that was offered to this person; False when it is not to be had.

    One UPDATE: of many at the same moment one finds the row pending.
    """
    mine = BackofficeTask.assigned_to == operator.id
    free = or_(BackofficeTask.status == "pending", and_(BackofficeTask.status == "assigned", mine))

    def kept(column: Any) -> Any:
        """An earlier moment counts if it was this person's."""
        return func.coalesce(case((mine, column)), now)

    taken = await session.execute(
        update(BackofficeTask)
        .where(BackofficeTask.id == task_id, free)
        .values(
            status="assigned",
            assigned_to=operator.id,
            assigned_at=kept(BackofficeTask.assigned_at),
            accepted_at=kept(BackofficeTask.accepted_at),
            seen_at=now,
        )
        .returning(BackofficeTask.id)
        .execution_options(synchronize_session=False)
    )
    if taken.first() is None:
        return False
    await _set_current(session, operator.id, task_id)
    return True


async def claim_next(
    session: AsyncSession, operator: Operator, now: datetime, skip: Collection[UUID] = ()
) -> UUID | None:
    """The most urgent task this person may do; what others are just taking is skipped."""
    held = select(BackofficeTask.id).where(
        BackofficeTask.status == "assigned", BackofficeTask.assigned_to == operator.id
    )
    offered = await session.scalar(held.order_by(*ORDER).limit(1))
    if offered is None:
        query = select(BackofficeTask.id).where(
            BackofficeTask.status == "pending", *may_do(session, operator)
        )
        query = query.where(BackofficeTask.id.not_in(skip)) if skip else query
        offered = await session.scalar(query.order_by(*ORDER).limit(1).with_for_update(skip_locked=True))
    if offered is None or not await claim(session, offered, operator, now):
        return None
    return offered


def may_do(session: AsyncSession, operator: Operator) -> list[ColumnElement[bool]]:
    """What a person may be given: of the tenant, within the role, with all skills, and not passed before."""
    return [
        BackofficeTask.tenant_id == operator.tenant_id,
        BackofficeTask.needs_role.in_(roles_up_to(operator.role)),
        has_skills(session, operator.skills or ()),
        not_passed(operator.id),
    ]


def has_skills(session: AsyncSession, skills: Sequence[str]) -> ColumnElement[bool]:
    """Whether a task requires no other skills; in SQL, so that the best task is found by its index."""
    if session.get_bind().dialect.name == "postgresql":
        statement = text("backoffice_tasks.required_skills <@ :held")
        return _condition(statement.bindparams(bindparam("held", list(skills), ARRAY(String))))
    unheld = "s.value NOT IN (SELECT value FROM json_each(:held))"
    statement = text(
        f"NOT EXISTS (SELECT 1 FROM json_each(backoffice_tasks.required_skills) s WHERE {unheld})"
    )
    return _condition(statement.bindparams(held=json.dumps(list(skills))))


def _condition(statement: TextClause) -> ColumnElement[bool]:
    return cast("ColumnElement[bool]", statement)


def not_passed(operator_id: UUID) -> ColumnElement[bool]:
    """Whether the person has not skipped a task; the list is short, so its text is looked at."""
    passed = sql_cast(BackofficeTask.passed_by, String)
    return or_(passed.is_(None), passed.not_like(f"%{operator_id}%"))


async def let_go(session: AsyncSession, task_id: UUID, operator_id: UUID) -> bool:
    """Give a task back; False when the person does not hold it."""
    freed = await session.execute(
        update(BackofficeTask)
        .where(
            BackofficeTask.id == task_id,
            BackofficeTask.status == "assigned",
            BackofficeTask.assigned_to == operator_id,
        )
        .values(status="pending", assigned_to=None, assigned_at=None, accepted_at=None, seen_at=None)
        .returning(BackofficeTask.id)
        .execution_options(synchronize_session=False)
    )
    if freed.first() is None:
        return False
    await clear_current(session, operator_id, task_id)
    return True


async def sign_of_life(session: AsyncSession, task_id: UUID, operator_id: UUID, now: datetime) -> bool:
    """The holder is at it; False when the task is no longer this person's."""
    seen = await session.execute(
        update(BackofficeTask)
        .where(
            BackofficeTask.id == task_id,
            BackofficeTask.status == "assigned",
            BackofficeTask.assigned_to == operator_id,
        )
        .values(seen_at=now)
        .returning(BackofficeTask.id)
        .execution_options(synchronize_session=False)
    )
    return seen.first() is not None


async def free_silent(
    session: AsyncSession, now: datetime, timeout_seconds: float
) -> list[tuple[UUID, UUID]]:
    """Tasks whose holders gave no sign for that long are anybody's again; (task, who lost it)."""
    limit = now - timedelta(seconds=timeout_seconds)
    query = (
        select(BackofficeTask.id, BackofficeTask.assigned_to)
        .where(BackofficeTask.status == "assigned", BackofficeTask.seen_at < limit)
        .with_for_update(skip_locked=True)
    )
    lost = [(row.id, row.assigned_to) for row in await session.execute(query)]
    for task_id, operator_id in lost:
        await let_go(session, task_id, operator_id)
    return lost


async def _set_current(session: AsyncSession, operator_id: UUID, task_id: UUID) -> None:
    await session.execute(
        update(Operator)
        .where(Operator.id == operator_id)
        .values(current_task_id=task_id)
        .execution_options(synchronize_session=False)
    )


async def clear_current(session: AsyncSession, operator_id: UUID, task_id: UUID) -> None:
    await session.execute(
        update(Operator)
        .where(Operator.id == operator_id, Operator.current_task_id == task_id)
        .values(current_task_id=None)
        .execution_options(synchronize_session=False)
    )
