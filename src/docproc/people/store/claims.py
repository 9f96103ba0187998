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
    Update,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
    text,
    update,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import tasks
from docproc.engine.store.task_tables import BackofficeTask, Operator

# Roles from the least to the most: each may do what those before it may.
ROLES = ("operator", "supervisor", "admin")

# The order of work: priority, deadline, age (store/tasks.py, `Urgency`).
ORDER = (BackofficeTask.priority.desc(), BackofficeTask.deadline_utc, BackofficeTask.created_at)

# Written out, not bound: SQLite finds an index of only these tasks by the text of the statement.
PENDING = BackofficeTask.status == literal_column("'pending'")
ASSIGNED = BackofficeTask.status == literal_column("'assigned'")

# Its holder fell silent a moment ago; it is pending again with the next round of the assignment.
TIMED_OUT = BackofficeTask.status == literal_column("'timeout'")

# Who lost a task is given others first for so long.
COOL_DOWN_SECONDS = 60.0


def roles_up_to(role: str) -> tuple[str, ...]:
    return ROLES[: ROLES.index(role) + 1]


async def claim(session: AsyncSession, task_id: UUID, operator: Operator, now: datetime) -> bool:
    """Take a task that nobody has, or that was offered to this person; False when it is not to be had."""
    if not await _take(session, task_id, operator.id, now):
        return False
    await session.execute(_current_is(task_id).where(Operator.id == operator.id))
    return True


async def _take(session: AsyncSession, task_id: UUID, operator_id: UUID, now: datetime) -> bool:
    """One UPDATE: of many at the same moment one finds the row pending."""
    mine = BackofficeTask.assigned_to == operator_id

    def kept(column: Any) -> Any:
        """An earlier moment counts if it was this person's."""
        return func.coalesce(case((mine, column)), now)

    taken = await session.execute(
        update(BackofficeTask)
        .where(BackofficeTask.id == task_id, or_(PENDING, TIMED_OUT, and_(ASSIGNED, mine)))
        .values(
            status="assigned",
            assigned_to=operator_id,
            assigned_at=kept(BackofficeTask.assigned_at),
            accepted_at=kept(BackofficeTask.accepted_at),
            seen_at=now,
        )
        .returning(BackofficeTask.id)
        .execution_options(synchronize_session=False)
    )
    return taken.first() is not None


async def claim_next(
    session: AsyncSession, operator: Operator, now: datetime, skip: Collection[UUID] = ()
) -> UUID | None:
    """What this person holds or was offered, else the most urgent task to be had; None: there is none."""
    mine = await held(session, operator.id)
    if mine is not None and await claim(session, mine, operator, now):
        return mine
    found = await _most_urgent(session, operator, now, skip)
    if found is None or not await _take(session, found, operator.id, now):
        return None
    if await _make_current(session, operator.id, found):
        return found
    # Another window of this person, or the assignment, was quicker by a moment: one task at a time.
    await let_go(session, found, operator.id)
    mine = await held(session, operator.id)
    return mine if mine is not None and await claim(session, mine, operator, now) else None


async def held(session: AsyncSession, operator_id: UUID) -> UUID | None:
    """The person's task, taken or offered; of several the most urgent."""
    mine = select(BackofficeTask.id).where(ASSIGNED, BackofficeTask.assigned_to == operator_id)
    found: UUID | None = await session.scalar(mine.order_by(*ORDER).limit(1))
    return found


async def _most_urgent(
    session: AsyncSession, operator: Operator, now: datetime, skip: Collection[UUID]
) -> UUID | None:
    """What others are just taking is skipped; what the person just lost is for others, if there is more.

    Where nothing is pending, what timed out a moment ago is to be had, too.
    """
    for status in (PENDING, TIMED_OUT):
        found = await _most_urgent_of(session, status, operator, now, skip)
        if found is not None:
            return found
    return None


async def _most_urgent_of(
    session: AsyncSession,
    status: ColumnElement[bool],
    operator: Operator,
    now: datetime,
    skip: Collection[UUID],
) -> UUID | None:
    query = select(BackofficeTask.id).where(status, *may_do(session, operator))
    query = query.where(BackofficeTask.id.not_in(skip)) if skip else query
    query = query.order_by(*ORDER).limit(1).with_for_update(skip_locked=True)
    mine = BackofficeTask.lost_by == operator.id
    limit = now - timedelta(seconds=COOL_DOWN_SECONDS)
    not_just_lost = or_(BackofficeTask.lost_by.is_(None), ~mine, BackofficeTask.lost_at <= limit)
    found: UUID | None = await session.scalar(query.where(not_just_lost))
    return found or await session.scalar(query.where(mine, BackofficeTask.lost_at > limit))


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


async def let_go(session: AsyncSession, task_id: UUID, operator_id: UUID, status: str = "pending") -> bool:
    """Give a task back; False when the person does not hold it."""
    freed = await session.execute(
        update(BackofficeTask)
        .where(
            BackofficeTask.id == task_id,
            ASSIGNED,
            BackofficeTask.assigned_to == operator_id,
        )
        .values(status=status, assigned_to=None, assigned_at=None, accepted_at=None, seen_at=None)
        .returning(BackofficeTask.id)
        .execution_options(synchronize_session=False)
    )
    if freed.first() is None:
        return False
    await tasks.clear_current(session, operator_id, task_id)
    return True


async def sign_of_life(session: AsyncSession, task_id: UUID, operator_id: UUID, now: datetime) -> bool:
    """The holder is at it; False when the task is no longer this person's."""
    seen = await session.execute(
        update(BackofficeTask)
        .where(
            BackofficeTask.id == task_id,
            ASSIGNED,
            BackofficeTask.assigned_to == operator_id,
        )
        .values(seen_at=now)
        .returning(BackofficeTask.id)
        .execution_options(synchronize_session=False)
    )
    return seen.first() is not None


def _current_is(task_id: UUID) -> Update:
    return update(Operator).values(current_task_id=task_id).execution_options(synchronize_session=False)


async def _make_current(session: AsyncSession, operator_id: UUID, task_id: UUID) -> bool:
    """False when the person meanwhile has another task: the operator's row decides."""
    free = Operator.current_task_id.is_(None)
    made = await session.execute(
        _current_is(task_id).where(Operator.id == operator_id, free).returning(Operator.id)
    )
    return made.first() is not None
