"""What the assignment works with: who could take a task, what waits for them, and offers made and ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, exists, func, literal_column, or_, select, update
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import events, rows, tasks
from docproc.engine.store.columns import NO_DEADLINE
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.people.availability import PRESENT_SECONDS
from docproc.people.availability import Operator as Person
from docproc.people.store import claims, operators
from docproc.people.store.claims import ASSIGNED, COOL_DOWN_SECONDS, ORDER, PENDING

# How much somebody did is counted over this long.
LOAD_SECONDS = 900.0
# The status of a task whose holder fell silent (specification §4.1), until it is given to others.
TIMEOUT = "timeout"
# With so many people present tasks are offered, where nobody said otherwise.
SEVERAL = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """Somebody of the back office; `load` tasks done lately. `is_free`: without a task, and not one who just
    let one go."""

    id: UUID
    person: Person
    tenant_id: str = "default"
    role: str = "operator"
    load: int = 0
    is_free: bool = True


@dataclass(frozen=True, slots=True)
class Waiting:
    """A task that nobody has."""

    id: UUID
    task_type: str
    skills: frozenset[str]
    created_at: datetime
    deadline: datetime | None = None
    priority: int = 5
    tenant_id: str = "default"
    role: str = "operator"
    passed_by: frozenset[UUID] = frozenset()

    @property
    def order(self) -> tuple[int, datetime, datetime]:
        """The most urgent first, as people see them (`claims.ORDER`)."""
        return -self.priority, self.deadline or NO_DEADLINE, self.created_at


@dataclass(frozen=True, slots=True)
class Lost:
    """A task that was taken from somebody."""

    task_id: UUID
    operator_id: UUID
    operator: str
    outcome: str
    reason: str


# --- who and what ---------------------------------------------------------------------------------------


async def candidates(session: AsyncSession, now: datetime) -> list[Candidate]:
    """Everybody who works here, present or not."""
    loads = await _loads(session, now)
    busy = await _holders(session) | await _lost_lately(session, now)
    query = select(
        Operator.id, Operator.tenant_id, Operator.role, Operator.current_task_id, Operator.username,
        Operator.skills, Operator.last_seen_at, Operator.shifts, Operator.handling,
    ).where(Operator.is_active)  # fmt: skip
    return [
        Candidate(
            row.id,
            operators.person(row),
            row.tenant_id,
            row.role,
            loads.get(row.id, 0),
            is_free=row.current_task_id is None and row.id not in busy,
        )
        for row in await session.execute(query)
    ]


async def busy_tenants(session: AsyncSession, now: datetime) -> set[str]:
    """Tenants of which several people are present."""
    present = Operator.last_seen_at > now - timedelta(seconds=PRESENT_SECONDS)
    query = select(Operator.tenant_id).where(Operator.is_active, present).group_by(Operator.tenant_id)
    return set(await session.scalars(query.having(func.count() >= SEVERAL)))


async def _loads(session: AsyncSession, now: datetime) -> Mapping[UUID, int]:
    query = select(BackofficeTask.assigned_to, func.count()).where(
        BackofficeTask.status == literal_column("'completed'"),
        BackofficeTask.completed_at > now - timedelta(seconds=LOAD_SECONDS),
        BackofficeTask.assigned_to.is_not(None),
    )
    found = await session.execute(query.group_by(BackofficeTask.assigned_to))
    return {operator_id: number for operator_id, number in found if operator_id is not None}


async def _holders(session: AsyncSession) -> set[UUID]:
    return {one for one in await session.scalars(select(BackofficeTask.assigned_to).where(ASSIGNED)) if one}


async def _lost_lately(session: AsyncSession, now: datetime) -> set[UUID]:
    """Who has the page open and does not look at it would else keep every urgent task from the others."""
    lately = BackofficeTask.lost_at > now - timedelta(seconds=COOL_DOWN_SECONDS)
    return {found for found in await session.scalars(select(BackofficeTask.lost_by).where(lately)) if found}


async def waiting_for(session: AsyncSession, people: Sequence[Candidate]) -> list[Waiting]:
    """For everybody the most urgent tasks they may do, as many as there are people.

    Read by what people can do: else tasks that need a rare skill would hide those of all others.
    """
    alike: dict[tuple[str, str, frozenset[str]], list[UUID]] = defaultdict(list)
    for one in people:
        alike[one.tenant_id, one.role, one.person.skills].append(one.id)
    found: dict[UUID, Waiting] = {}
    for (tenant, role, skills), ids in alike.items():
        query = select(
            BackofficeTask.id, BackofficeTask.task_type, BackofficeTask.required_skills,
            BackofficeTask.created_at, BackofficeTask.deadline_utc, BackofficeTask.priority,
            BackofficeTask.tenant_id, BackofficeTask.needs_role, BackofficeTask.passed_by,
        ).where(
            PENDING,
            BackofficeTask.tenant_id == tenant,
            BackofficeTask.needs_role.in_(claims.roles_up_to(role)),
            claims.has_skills(session, sorted(skills)),
            or_(*(claims.not_passed(one) for one in ids)),
        )  # fmt: skip
        for row in await session.execute(query.order_by(*ORDER).limit(len(people))):
            found[row.id] = _waiting(row)
    return list(found.values())


def _waiting(row: Row[Any]) -> Waiting:
    return Waiting(
        row.id,
        row.task_type,
        frozenset(row.required_skills or ()),
        row.created_at,
        row.deadline_utc,
        row.priority,
        row.tenant_id,
        row.needs_role,
        frozenset(UUID(one) for one in row.passed_by or ()),
    )


# --- offers ---------------------------------------------------------------------------------------------


async def offer(session: AsyncSession, pairs: Collection[tuple[UUID, UUID]], now: datetime) -> int:
    """Give tasks to people who have none; whom or what somebody was quicker with is left alone.

    Tasks before operators, as everybody locks them, and nothing is waited for: whoever works goes first.
    """
    tasks = await _locked_tasks(session, [task for task, _ in pairs])
    people = await _locked_people(session, [person for _, person in pairs])
    made = [(task, person) for task, person in pairs if task in tasks and person in people]
    given = {"status": "assigned", "assigned_at": now, "accepted_at": None, "seen_at": None}
    changes = [{"id": task, "assigned_to": person, **given} for task, person in made]
    await rows.update_many(session, BackofficeTask.__table__, changes)  # type: ignore[arg-type] # is a Table
    current = [{"id": person, "current_task_id": task} for task, person in made]
    await rows.update_many(session, Operator.__table__, current)  # type: ignore[arg-type] # is a Table
    notes = [
        _note(tasks[task], "offered", {"task_id": str(task), "operator": people[person]})
        for task, person in made
    ]
    await events.record(session, notes)
    return len(made)


async def _locked_tasks(session: AsyncSession, ids: Collection[UUID]) -> dict[UUID, Any]:
    query = select(
        BackofficeTask.id, BackofficeTask.request_id, BackofficeTask.tenant_id, BackofficeTask.source_stage
    ).where(BackofficeTask.id.in_(ids), PENDING)
    found = await session.execute(query.with_for_update(skip_locked=True, key_share=True))
    return {row.id: row for row in found}


async def _locked_people(session: AsyncSession, ids: Collection[UUID]) -> dict[UUID, str]:
    free = and_(Operator.is_active, Operator.current_task_id.is_(None))
    query = select(Operator.id, Operator.username).where(Operator.id.in_(ids), free)
    found = await session.execute(query.with_for_update(skip_locked=True, key_share=True))
    return {row.id: row.username for row in found}


# --- tasks come back ------------------------------------------------------------------------------------


async def recall(session: AsyncSession) -> None:
    """What timed out in the round before waits for others now."""
    again = update(BackofficeTask).where(claims.TIMED_OUT).values(status="pending")
    await session.execute(again.execution_options(synchronize_session=False))


async def free_silent(session: AsyncSession, now: datetime, seconds: float) -> list[Lost]:
    """Tasks whose holders gave no sign for that long."""
    sign = func.coalesce(BackofficeTask.seen_at, BackofficeTask.accepted_at)
    silent = and_(BackofficeTask.accepted_at.is_not(None), sign < now - timedelta(seconds=seconds))
    return await _free(session, silent, now, TIMEOUT, "silent")


async def free_unaccepted(session: AsyncSession, now: datetime, seconds: float) -> list[Lost]:
    """Offers that were not accepted within that time."""
    late = BackofficeTask.assigned_at < now - timedelta(seconds=seconds)
    return await _free(
        session, and_(BackofficeTask.accepted_at.is_(None), late), now, TIMEOUT, "not accepted"
    )


async def free_inactive(session: AsyncSession, now: datetime) -> list[Lost]:
    """Tasks of people who no longer work here."""
    return await _free(session, Operator.is_active.is_(False), now, "released", "inactive")


async def _free(
    session: AsyncSession, which: ColumnElement[bool], now: datetime, outcome: str, reason: str
) -> list[Lost]:
    query = (
        select(
            BackofficeTask.id, BackofficeTask.request_id, BackofficeTask.tenant_id,
            BackofficeTask.source_stage, BackofficeTask.assigned_to, Operator.username,
        )
        .join(Operator, Operator.id == BackofficeTask.assigned_to)
        .where(ASSIGNED, which)
        .with_for_update(skip_locked=True, key_share=True, of=BackofficeTask)
    )  # fmt: skip
    found = list(await session.execute(query))
    lost = [Lost(row.id, row.assigned_to, row.username, outcome, reason) for row in found]
    for one in lost:
        status = TIMEOUT if outcome == TIMEOUT else "pending"
        await claims.let_go(session, one.task_id, one.operator_id, status)
    await _remember(session, lost, now)
    notes = [
        _note(row, outcome, {"task_id": str(row.id), "operator": row.username, "reason": reason})
        for row in found
    ]
    await events.record(session, notes)
    return lost


async def _remember(session: AsyncSession, lost: Iterable[Lost], now: datetime) -> None:
    """Who lost a task is given others first."""
    changes = [{"id": one.task_id, "lost_by": one.operator_id, "lost_at": now} for one in lost]
    await rows.update_many(session, BackofficeTask.__table__, changes)  # type: ignore[arg-type] # is a Table


async def mend_current(session: AsyncSession) -> None:
    """Nobody has a current task that is not theirs, even if somebody changed the tables by hand."""
    theirs = exists().where(
        BackofficeTask.id == Operator.current_task_id, ASSIGNED, BackofficeTask.assigned_to == Operator.id
    )
    query = select(Operator.id, Operator.current_task_id).where(
        Operator.current_task_id.is_not(None), ~theirs
    )
    for operator_id, task_id in list(await session.execute(query)):
        if task_id is not None:
            await tasks.clear_current(session, operator_id, task_id)


def _note(task: Any, outcome: str, data: dict[str, Any]) -> events.Event:
    return events.Event(
        task.request_id,
        "task",
        tenant_id=task.tenant_id,
        stage=task.source_stage,
        outcome=outcome,
        data=data,
    )
