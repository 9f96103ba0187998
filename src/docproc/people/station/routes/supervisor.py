"""Pages of supervisors: the queue against the people, operators, quality and the audit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import utc_now
from docproc.engine.store.task_tables import Operator
from docproc.errors import InvalidAnswerError, NotAllowedError
from docproc.people.availability import DAYS
from docproc.people.desk import Desk
from docproc.people.listing import files_of, met_deadlines
from docproc.people.station.context import DeskOf, Said
from docproc.people.station.routes.supervising import Chief, SupervisorRoute, done, shown
from docproc.people.store import claims, supervision
from docproc.people.store.supervision import Wanted
from docproc.people.supervision import overview, staff, steering

router = APIRouter(prefix="/supervisor", route_class=SupervisorRoute, include_in_schema=False)

SHOWN_TASKS = 200
AUDIT_LINES = 50

TaskId = Annotated[UUID, Path()]
Day = Annotated[str, Query(max_length=10)]


# --- the queue ------------------------------------------------------------------------------------------


@router.get("")
async def queue(request: Request, desk: DeskOf, operator: Chief) -> Response:
    now = utc_now()
    async with desk.store.reading() as session:
        members = await staff.everybody(session, operator.tenant_id, now)
        queues = await supervision.queues(session, operator.tenant_id)
        tasks = await supervision.open_tasks(session, operator.tenant_id, SHOWN_TASKS)
        names = await files_of(session, {task.request_id for task in tasks})
        met = await met_deadlines(session, [task.id for task in tasks], now)
    lines = overview.lines(queues, members, desk.kinds)
    active = [one.operator.username for one in members if one.operator.is_active]
    return shown(
        request,
        "supervisor_queue.html",
        operator,
        lines=lines,
        tasks=tasks,
        people=active,
        names=names,
        met=met,
    )


@router.post("/tasks/{task_id}/release")
async def release(request: Request, desk: DeskOf, task_id: TaskId, operator: Chief) -> Response:
    await _write(desk, lambda session: steering.release(session, task_id, operator))
    desk.wake()
    return done(request, operator, "/supervisor")


@router.post("/tasks/{task_id}/reassign")
async def reassign(request: Request, desk: DeskOf, task_id: TaskId, operator: Chief, said: Said) -> Response:
    to = await desk.operator(str(said.get("to") or ""), create=False)
    await _write(desk, lambda session: steering.reassign(session, task_id, to, operator, utc_now()))
    return done(request, operator, "/supervisor")


@router.post("/tasks/{task_id}/priority")
async def prioritise(
    request: Request, desk: DeskOf, task_id: TaskId, operator: Chief, said: Said
) -> Response:
    given = str(said.get("priority", "")).strip()
    priority = int(given) if given.isdecimal() and len(given) == 1 else -1
    await _write(desk, lambda session: steering.prioritise(session, task_id, priority, operator))
    return done(request, operator, "/supervisor")


# --- operators ------------------------------------------------------------------------------------------


@router.get("/operators")
async def operators(request: Request, desk: DeskOf, operator: Chief) -> Response:
    async with desk.store.reading() as session:
        members = await staff.everybody(session, operator.tenant_id, utc_now())
    return shown(request, "supervisor_operators.html", operator, members=members)


@router.get("/operators/new")
async def new_operator(request: Request, desk: DeskOf, operator: Chief) -> Response:
    blank = Operator(username="", skills=list(desk.kinds.skills), is_active=True, role="operator", shifts=[])
    return _form(request, desk, operator, blank, is_new=True)


@router.get("/operators/{operator_id}")
async def one_operator(
    request: Request, desk: DeskOf, operator: Chief, operator_id: Annotated[UUID, Path()]
) -> Response:
    async with desk.store.reading() as session:
        found = await _member(session, operator_id, operator)
    return _form(request, desk, operator, found, is_new=False)


def _form(request: Request, desk: Desk, operator: Operator, whom: Operator, *, is_new: bool) -> Response:
    roles = [role for role in claims.ROLES if role in {*_may_give(desk, operator), whom.role}]
    return shown(
        request,
        "supervisor_operator.html",
        operator,
        whom=whom,
        is_new=is_new,
        roles=roles,
        skills=desk.kinds.skills,
        days=DAYS,
        shifts=[*(whom.shifts or ()), {"days": [], "from": "", "to": "", "zone": "Europe/Madrid"}],
    )


@router.post("/operators")
async def create_operator(request: Request, desk: DeskOf, operator: Chief, said: Said) -> Response:
    wanted, name = staff.Said.read(said, desk.kinds.skills), str(said.get("username") or "").strip()
    give = _may_give(desk, operator)
    await _write(desk, lambda session: staff.create(session, name, wanted, operator, may_give=give))
    return done(request, operator, "/supervisor/operators")


@router.post("/operators/{operator_id}")
async def change_operator(
    request: Request, desk: DeskOf, operator: Chief, operator_id: Annotated[UUID, Path()], said: Said
) -> Response:
    # An unticked box is not sent: only a form says so of itself.
    told = {**said, "is_active": said.get("is_active", "form" not in said)}
    wanted = staff.Said.read(told, desk.kinds.skills)
    give = _may_give(desk, operator)

    async def change(session: AsyncSession) -> None:
        whom = await _member(session, operator_id, operator)
        await staff.change_operator(session, whom, wanted, operator, may_give=give)

    await _write(desk, change)
    desk.wake()
    return done(request, operator, "/supervisor/operators")


def _may_give(desk: Desk, operator: Operator) -> tuple[str, ...]:
    """Roles up to one's own; with authentication off there are none to guard."""
    return claims.roles_up_to(operator.role) if desk.application.settings.auth == "on" else claims.ROLES


async def _member(session: AsyncSession, operator_id: UUID, by: Operator) -> Operator:
    query = select(Operator).where(Operator.id == operator_id, Operator.tenant_id == by.tenant_id)
    found = await session.scalar(query.execution_options(populate_existing=True))
    if found is None:
        raise NotAllowedError("there is no such operator", remedy="Go back to the list")
    return found


# --- quality and audit ----------------------------------------------------------------------------------


@router.get("/quality")
async def quality(
    request: Request, desk: DeskOf, operator: Chief, days: Annotated[int, Query(ge=1, le=366)] = 30
) -> Response:
    since, tenant = utc_now() - timedelta(days=days), operator.tenant_id
    async with desk.store.reading() as session:
        found: dict[str, Any] = {
            "overrides": await desk.kinds.overrides(session, tenant, since),
            "times": await supervision.handling_times(session, tenant, since),
            "per_day": await supervision.per_day(session, tenant, since),
            "agreement": await supervision.agreement(session, tenant, since),
        }
    return shown(request, "supervisor_quality.html", operator, days=days, **found)


@router.get("/audit")
async def audit(
    request: Request,
    desk: DeskOf,
    operator: Chief,
    person: Annotated[str, Query(max_length=64)] = "",
    of: Annotated[str, Query(max_length=64)] = "",
    since: Day = "",
    until: Day = "",
    before: Annotated[int | None, Query(ge=0)] = None,
) -> Response:
    last = _day("until", until)
    wanted = Wanted(
        operator.tenant_id,
        person.strip(),
        _request_id(of.strip()),
        _day("since", since),
        last + timedelta(days=1) if last else None,
        before,
    )
    async with desk.store.reading() as session:
        found = await supervision.audit(session, wanted, AUDIT_LINES + 1)
        names = await files_of(session, {line.request_id for line in found if line.request_id})
    asked = {"person": person, "of": of, "since": since, "until": until}
    more = found[AUDIT_LINES - 1].id if len(found) > AUDIT_LINES else None
    lines = found[:AUDIT_LINES]
    return shown(request, "supervisor_audit.html", operator, lines=lines, asked=asked, more=more, names=names)


def _request_id(text: str) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        raise InvalidAnswerError(
            "of: it is not a request's id", problems={"of": "it is not a request's id"}
        ) from None


def _day(name: str, text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC) if text else None
    except ValueError:
        problem = "write a day such as 2026-03-12"
        raise InvalidAnswerError(f"{name}: {problem}", problems={name: problem}) from None


async def _write(desk: Desk, job: Callable[[AsyncSession], Awaitable[None]]) -> None:
    async with desk.store.writing() as session:
        await job(session)
