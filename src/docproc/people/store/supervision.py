"""What supervisors look at: the queue against the people there, quality, and the audit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from sqlalchemy import ColumnElement, and_, case, extract, func, literal_column, or_, select
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store.tables import Event
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.engine.store.tasks import OPEN
from docproc.people.audit import Rate
from docproc.people.store import claims

# What people did, and what was done about their work.
BY_PEOPLE = ("task", "correction", "view", "account", "sign_in", "reopened", "sla", "key", "access")
# Of a second reading's output, no more than this many are looked at.
_MOST_READINGS = 20_000


# --- the queue ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Queue:
    """The open tasks of one type, which is the skill they take."""

    skill: str
    pending: int
    assigned: int
    oldest: datetime
    nearest_deadline: datetime | None


async def queues(session: AsyncSession, tenant_id: str) -> list[Queue]:
    one = BackofficeTask
    query = (
        select(
            one.task_type,
            func.sum(case((one.status.in_(("pending", "timeout")), 1), else_=0)),
            func.sum(case((one.status == "assigned", 1), else_=0)),
            func.min(one.created_at),
            func.min(one.deadline_utc),
        )
        .where(one.status.in_(OPEN), one.tenant_id == tenant_id)
        .group_by(one.task_type)
        .order_by(one.task_type)
    )
    found = await session.execute(query)
    return [Queue(skill, int(p), int(a), oldest, deadline) for skill, p, a, oldest, deadline in found]


async def open_tasks(session: AsyncSession, tenant_id: str, limit: int) -> list[Row[Any]]:
    """The most urgent ones, with who holds them; neither what is asked nor what was read."""
    one = BackofficeTask
    query = (
        select(
            one.id, one.request_id, one.task_type, one.status, one.priority, one.needs_role, one.second_of,
            one.deadline_utc, one.created_at, Operator.username, Operator.display_name,
        )
        .outerjoin(Operator, Operator.id == one.assigned_to)
        .where(one.status.in_(OPEN), one.tenant_id == tenant_id)
    )  # fmt: skip
    return list(await session.execute(query.order_by(*claims.ORDER).limit(limit)))


async def staff(session: AsyncSession, tenant_id: str) -> list[Operator]:
    mine = Operator.tenant_id == tenant_id
    query = select(Operator).where(mine).order_by(Operator.is_active.desc(), Operator.username)
    return list(await session.scalars(query.execution_options(populate_existing=True)))


async def held(session: AsyncSession, tenant_id: str) -> dict[UUID, list[Any]]:
    """By operator, the tasks in their hands: id and task_type."""
    one = BackofficeTask
    query = select(one.assigned_to, one.id, one.task_type).where(
        claims.ASSIGNED, one.tenant_id == tenant_id, one.assigned_to.is_not(None)
    )
    found: dict[UUID, list[Any]] = defaultdict(list)
    for row in await session.execute(query):
        if row.assigned_to is not None:
            found[row.assigned_to].append(row)
    return found


# --- quality --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Times:
    """How long tasks took one person."""

    username: str
    task_type: str
    number: int
    mean_seconds: float
    longest_seconds: float


async def handling_times(session: AsyncSession, tenant_id: str, since: datetime) -> list[Times]:
    """From taking a task to its answer."""
    one = BackofficeTask
    seconds = _seconds(session, one.accepted_at, one.completed_at)
    query = (
        select(Operator.username, one.task_type, func.count(), func.avg(seconds), func.max(seconds))
        .join(Operator, Operator.id == one.assigned_to)
        .where(*_done(tenant_id, since), one.accepted_at.is_not(None))
        .group_by(Operator.username, one.task_type)
        .order_by(one.task_type, Operator.username)
    )
    found = await session.execute(query)
    return [Times(who, kind, int(n), float(mean), float(most)) for who, kind, n, mean, most in found]


async def per_day(session: AsyncSession, tenant_id: str, since: datetime) -> list[tuple[str, str, int]]:
    """(day in UTC, type, tasks that people answered), the latest day first."""
    one = BackofficeTask
    day = _day(session, one.completed_at)
    query = (
        select(day, one.task_type, func.count())
        .where(*_done(tenant_id, since), one.assigned_to.is_not(None))
        .group_by(day, one.task_type)
    )
    found = [(str(d), str(kind), int(n)) for d, kind, n in await session.execute(query)]
    return sorted(found, key=lambda line: (line[0], line[1]), reverse=True)


async def agreement(session: AsyncSession, tenant_id: str, since: datetime) -> list[Rate]:
    """By field, how often second readers disagreed with the first."""
    one = BackofficeTask
    query = (
        select(one.output_data)
        .where(*_done(tenant_id, since), one.second_of.is_not(None))
        .order_by(one.completed_at.desc())
        .limit(_MOST_READINGS)
    )
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for said in await session.scalars(query):
        for outcome, names in enumerate(((said or {}).get("agreed"), (said or {}).get("disagreed"))):
            for name in names or ():
                counts[str(name).partition(":")[0]][outcome] += 1
    return [Rate("", name, sum(both), both[1]) for name, both in sorted(counts.items())]


def _done(tenant_id: str, since: datetime) -> tuple[ColumnElement[bool], ...]:
    one = BackofficeTask
    return one.status == "completed", one.tenant_id == tenant_id, one.completed_at >= since


def _seconds(session: AsyncSession, begin: Any, end: Any) -> ColumnElement[float]:
    if session.get_bind().dialect.name == "postgresql":
        return cast("ColumnElement[float]", extract("epoch", end - begin))
    return cast("ColumnElement[float]", (func.julianday(end) - func.julianday(begin)) * 86_400.0)


def _day(session: AsyncSession, moment: Any) -> ColumnElement[str]:
    if session.get_bind().dialect.name == "postgresql":
        return func.to_char(func.timezone("UTC", moment), "YYYY-MM-DD")
    return func.substr(moment, 1, 10)


# --- audit ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events; `before` is the id of the last one of the page before."""

    tenant_id: str
    person: str = ""
    request_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None


async def audit(session: AsyncSession, wanted: Wanted, limit: int) -> Sequence[Event]:
    """The latest first. Of a request everything but the handling of its messages."""
    # Written out, not bound: the index of these rows is found by the text of the statement.
    unhandled = Event.kind != literal_column("'handled'")
    query = select(Event).where(unhandled, Event.tenant_id == wanted.tenant_id)
    if wanted.request_id is not None:
        query = query.where(Event.request_id == wanted.request_id)
    else:
        query = query.where(Event.kind.in_(BY_PEOPLE))
    if wanted.person:
        query = query.where(_by(wanted.person))
    if wanted.since is not None:
        query = query.where(Event.finished_at >= wanted.since)
    if wanted.until is not None:
        query = query.where(Event.finished_at < wanted.until)
    if wanted.before is not None:
        query = query.where(Event.id < wanted.before)
    return list(await session.scalars(query.order_by(Event.id.desc()).limit(limit)))


def _by(person: str) -> ColumnElement[bool]:
    """Whoever did it, or whose account it is about."""
    named = [Event.data[key].as_string() == person for key in ("operator", "by", "name")]
    return and_(Event.data.is_not(None), or_(*named))
