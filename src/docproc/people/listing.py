"""The list of tasks as one person sees it: what is waiting, what is urgent, how the day goes."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, exists, func, literal_column, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store.answers import DRAFT_VERSION
from docproc.engine.store.tables import Answer, Request
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.people.kinds import Listed, TaskKinds
from docproc.people.store import claims

MOST = 50
FRESH_SECONDS = 1.0
URGENT = timedelta(minutes=15)
# Written out for the index of done tasks, like the others in store/claims.py.
DONE = BackofficeTask.status == literal_column("'completed'")


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is for a person."""

    pending: int
    mine: int
    done_today: int
    urgent: int


@dataclass(frozen=True, slots=True)
class Line:
    """A task in the list."""

    id: UUID
    listed: Listed
    file: str
    created_at: datetime
    deadline: datetime | None
    is_mine: bool
    is_urgent: bool
    needs_role: str
    priority: int
    request_id: UUID
    # The deadline was met without it: nobody is late, its answer will amend.
    is_answered: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks of one file that stand together in the list."""

    file: str
    lines: tuple[Line, ...]

    @property
    def together(self) -> str:
        """Where all of them are answered on one page; empty where there is no such page."""
        addresses = [line.listed.together for line in self.lines if line.listed.together]
        return addresses[0] if len(addresses) > 1 else ""


@dataclass(frozen=True, slots=True)
class Outline:
    """The list without its words: cheap to look up, and enough to know whether anything changed."""

    counts: Counts
    places: tuple[Place, ...]

    @property
    def unseen(self) -> int:
        """How many more there are."""
        return max(0, self.counts.pending + self.counts.mine - len(self.places))


@dataclass(frozen=True, slots=True)
class Place:
    """A task's place in the list."""

    id: UUID
    priority: int
    is_mine: bool
    is_urgent: bool
    is_answered: bool = False


class Counter:
    """More tasks than a list shows are counted once a second for all who may take the same."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[float, tuple[int, int]]] = {}

    async def free(self, session: AsyncSession, operator: Operator, now: datetime) -> tuple[int, int]:
        """All, and those that are urgent."""
        kind = (operator.tenant_id, operator.role, tuple(operator.skills or ()))
        at, counted = self._kept.get(kind, (0.0, (0, 0)))
        if monotonic() - at > FRESH_SECONDS:
            which = _is_free(session, operator)
            urgent = (_is_soon(now), ~_is_met(now))
            counted = await _count(session, *which), await _count(session, *which, *urgent)
            self._kept[kind] = (monotonic(), counted)
        return counted


async def outline(session: AsyncSession, counter: Counter, operator: Operator, now: datetime) -> Outline:
    """Own tasks first, then what the person may take, the most urgent first."""
    mine = await _places(session, [_is_mine(operator)], operator, now)
    free = await _places(session, _is_free(session, operator), operator, now)
    pending, urgent = len(free), sum(place.is_urgent for place in free)
    if len(free) == MOST:
        pending, urgent = await counter.free(session, operator, now)
    urgent += sum(place.is_urgent for place in mine)
    counts = Counts(pending, len(mine), await _done_today(session, operator, now), urgent)
    return Outline(counts, (*mine, *free)[:MOST])


async def lines(session: AsyncSession, listed: Outline, kinds: TaskKinds, language: str) -> list[Line]:
    """The same with its words."""
    places = {place.id: place for place in listed.places}
    query = select(BackofficeTask).where(BackofficeTask.id.in_(places))
    tasks = {task.id: task for task in await session.scalars(query)}
    names = await files_of(session, {task.request_id for task in tasks.values()})
    return [
        _line(task, place, kinds.listed(task, language), names.get(task.request_id, ""))
        for place in places.values()
        if (task := tasks.get(place.id))
    ]


def grouped(found: Sequence[Line]) -> list[Group]:
    """Tasks of one file together, where their first one stands; the order of priorities stays."""
    groups: dict[Hashable, list[Line]] = {}
    for line in found:
        groups.setdefault((line.is_mine, line.priority, line.request_id), []).append(line)
    return [Group(lines[0].file, tuple(lines)) for lines in groups.values()]


def _is_mine(operator: Operator) -> ColumnElement[bool]:
    return and_(claims.ASSIGNED, BackofficeTask.assigned_to == operator.id)


def _is_free(session: AsyncSession, operator: Operator) -> list[ColumnElement[bool]]:
    return [claims.PENDING, *claims.may_do(session, operator)]


async def _places(
    session: AsyncSession, which: Sequence[ColumnElement[bool]], operator: Operator, now: datetime
) -> list[Place]:
    task = BackofficeTask
    query = select(task.id, task.priority, task.assigned_to, task.deadline_utc, task.request_id).where(*which)
    found = list(await session.execute(query.order_by(*claims.ORDER).limit(MOST)))
    soon = {row.id: row.deadline_utc is not None and row.deadline_utc <= now + URGENT for row in found}
    met = await met_deadlines(session, [row.id for row in found if soon[row.id]], now)
    return [
        Place(
            row.id,
            row.priority,
            row.assigned_to == operator.id,
            soon[row.id] and row.id not in met,
            row.id in met,
        )
        for row in found
    ]


async def met_deadlines(session: AsyncSession, task_ids: Collection[UUID], now: datetime) -> set[UUID]:
    """Of which of these tasks the deadline was met without them."""
    if not task_ids:
        return set()
    query = select(BackofficeTask.id).where(BackofficeTask.id.in_(task_ids), _is_met(now))
    return set(await session.scalars(query))


def _is_met(now: datetime) -> ColumnElement[bool]:
    """A complete answer is out, or the deadline has passed and a partial one was out by then."""
    in_time = Answer.created_at <= BackofficeTask.deadline_utc
    enough = or_(Answer.is_partial.is_(False), BackofficeTask.deadline_utc < now)
    given = and_(Answer.request_id == BackofficeTask.request_id, Answer.version > DRAFT_VERSION)
    return exists().where(given, in_time, enough).correlate(BackofficeTask)


async def _done_today(session: AsyncSession, operator: Operator, now: datetime) -> int:
    local_midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    return await _count(
        session,
        DONE,
        BackofficeTask.assigned_to == operator.id,
        BackofficeTask.completed_at >= local_midnight,
    )


def _is_soon(now: datetime) -> ColumnElement[bool]:
    return BackofficeTask.deadline_utc <= now + URGENT


async def _count(session: AsyncSession, *which: ColumnElement[bool]) -> int:
    return int(await session.scalar(select(func.count()).select_from(BackofficeTask).where(*which)) or 0)


async def files_of(session: AsyncSession, requests: Collection[UUID]) -> dict[UUID, str]:
    """By request, the name of what was sent."""
    query = select(Request.id, Request.uploads, Request.workflow_name).where(Request.id.in_(requests))
    return {row.id: _name(row.uploads) or row.workflow_name for row in await session.execute(query)}


def _name(uploads: Any) -> str:
    names = [str(one.get("name") or "") for one in uploads or ()]
    more = f" +{len(names) - 1}" if len(names) > 1 else ""
    return f"{names[0]}{more}" if names else ""


def _line(task: BackofficeTask, place: Place, listed: Listed, file: str) -> Line:
    return Line(
        id=task.id,
        listed=listed,
        file=file,
        created_at=task.created_at,
        deadline=task.deadline_utc,
        is_mine=place.is_mine,
        is_urgent=place.is_urgent,
        needs_role=task.needs_role,
        priority=place.priority,
        request_id=task.request_id,
        is_answered=place.is_answered,
    )
