"""The people of the back office as supervisors see and change them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import events
from docproc.engine.store.task_tables import Operator
from docproc.errors import InvalidAnswerError, NotAllowedError
from docproc.people.audit import change
from docproc.people.availability import DAYS, Shift
from docproc.people.availability import Operator as Person
from docproc.people.sign_in.door import is_name
from docproc.people.store import accounts, claims, operators, supervision
from docproc.people.store.accounts import Account

LONGEST_NAME = 255
SKILL = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
CHANGEABLE = ("display_name", "skills", "shifts", "role", "language")


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody, and what they are at now."""

    operator: Operator
    person: Person
    is_present: bool
    is_on_shift: bool
    tasks: Sequence[Any]  # in their hands: id and task_type


async def everybody(session: AsyncSession, tenant_id: str, now: datetime) -> list[Member]:
    held = await supervision.held(session, tenant_id)
    found = await supervision.staff(session, tenant_id)
    return [_member(one, held.get(one.id, ()), now) for one in found]


def _member(operator: Operator, tasks: Sequence[Any], now: datetime) -> Member:
    person = operators.person(operator)  # type: ignore[arg-type] # has the columns of a row
    on_shift = not operator.shifts or any(shift.end_after(now) for shift in person.shifts)
    is_present = operator.is_active and person.is_present(now)
    return Member(operator, person, is_present, on_shift, tasks)


# --- what a form or a program says ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Said:
    """An operator as wanted, checked."""

    display_name: str | None
    skills: list[str]
    shifts: list[dict[str, Any]]
    role: str
    language: str | None
    is_active: bool

    @classmethod
    def read(cls, said: Mapping[str, Any], skills_known: Sequence[str]) -> Said:
        """Raises InvalidAnswerError with all problems by field."""
        problems: dict[str, str] = {}
        skills, shifts = _skills(said, skills_known, problems), _shifts(said, problems)
        role, language = str(said.get("role") or "operator"), str(said.get("language") or "") or None
        shown = str(said.get("display_name") or "").strip()
        if role not in claims.ROLES:
            problems["role"] = "there is no such role"
        if language not in (None, "es", "en"):
            problems["language"] = "it must be es or en"
        if len(shown) > LONGEST_NAME or not shown.isprintable():
            problems["display_name"] = "it is too long or has strange characters"
        _refuse(problems)
        return cls(shown or None, skills, shifts, role, language, _is_on(said.get("is_active", True)))


def _refuse(problems: dict[str, str]) -> None:
    if problems:
        told = "; ".join(f"{where}: {what}" for where, what in problems.items())
        raise InvalidAnswerError(told, problems=problems, remedy="Correct these and send it again")


def _is_on(value: Any) -> bool:
    return value in (True, "true", "on", "1", 1)


def _skills(said: Mapping[str, Any], known: Sequence[str], problems: dict[str, str]) -> list[str]:
    """A list; or of a form a box for each known skill, and others with commas between."""
    given = said.get("skills", ())
    if not isinstance(given, list):
        ticked = [skill for skill in known if _is_on(said.get(f"skill.{skill}"))]
        given = [*ticked, *(part.strip() for part in str(said.get("other_skills") or "").split(","))]
    found = list(dict.fromkeys(skill for skill in given if skill))
    if not all(isinstance(skill, str) and SKILL.fullmatch(skill) for skill in found):
        problems["skills"] = "skills are small letters, digits, _ . and -"
    return found


def _shifts(said: Mapping[str, Any], problems: dict[str, str]) -> list[dict[str, Any]]:
    given = said.get("shifts")
    if not isinstance(given, list):
        given = _shifts_of_form(said)
    for place, shift in enumerate(given):
        if problem := _shift_problem(shift):
            problems[f"shift.{place}"] = problem
    return given


def _shifts_of_form(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Lines that were left empty are no shifts."""
    places = sorted({int(m[1]) for name in said if (m := re.fullmatch(r"shift\.(\d{1,3})\..+", name))})
    found = []
    for place in places:
        days = [day for day in DAYS if _is_on(said.get(f"shift.{place}.{day}"))]
        begins, ends = (str(said.get(f"shift.{place}.{end}") or "") for end in ("from", "to"))
        zone = str(said.get(f"shift.{place}.zone") or "").strip()
        if days or begins or ends:
            found.append({"days": days, "from": begins, "to": ends, "zone": zone})
    return found


def _shift_problem(shift: Any) -> str | None:
    """In words for whoever typed it; `Shift.parse` has the last one."""
    if not isinstance(shift, Mapping):
        return "it must have days, from, to and zone"
    if not shift.get("days"):
        return "choose at least one day"
    try:
        for end in ("from", "to"):
            time.fromisoformat(str(shift.get(end)))
    except ValueError:
        return "write times such as 08:00"
    try:
        ZoneInfo(str(shift.get("zone")))
    except (ValueError, OSError, KeyError):
        return "there is no such time zone; one is Europe/Madrid"
    try:
        Shift.parse(shift)
    except ValueError:
        return "this is not a shift"
    return None


# --- changing -------------------------------------------------------------------------------------------


async def create(
    session: AsyncSession, username: str, said: Said, by: Operator, *, may_give: Sequence[str]
) -> None:
    """Raises InvalidAnswerError when the name cannot be or is taken."""
    if not is_name(username):
        raise InvalidAnswerError(
            "username: it cannot be a name",
            problems={"username": "write a name of up to 64 characters"},
            remedy="Choose another name",
        )
    _check_role(said.role, may_give)
    account = Account(
        username, said.skills, said.role, said.display_name, said.language, tenant_id=by.tenant_id
    )
    if not await accounts.add(session, account, by.username):
        raise InvalidAnswerError(
            "username: it is taken", problems={"username": "it is taken"}, remedy="Choose another name"
        )
    made = await accounts.find(session, username)
    values: dict[str, Any] = {"shifts": said.shifts, "is_active": said.is_active}
    await _update(session, made, values)


async def change_operator(
    session: AsyncSession, operator: Operator, said: Said, by: Operator, *, may_give: Sequence[str]
) -> None:
    """Nobody takes their own role or account away, and nobody changes whom they are below."""
    wanted = {name: getattr(said, name) for name in CHANGEABLE}
    if operator.id == by.id and (said.role != operator.role or not said.is_active):
        raise NotAllowedError("your own role and account are another's to change", remedy="Ask an admin")
    _check_role(operator.role, may_give)
    _check_role(said.role, may_give)
    before = {name: getattr(operator, name) for name in CHANGEABLE}
    before["shifts"] = before["shifts"] or []
    changes = [change(n, before[n], value) for n, value in wanted.items() if value != before[n]]
    if changes:
        await _update(session, operator, wanted)
        await _note(session, operator, by, changes)
    if operator.is_active and not said.is_active:
        await accounts.deactivate(session, operator, by.username)
    elif said.is_active and not operator.is_active:
        await accounts.activate(session, operator, by.username)


def _check_role(role: str, may_give: Sequence[str]) -> None:
    if role not in may_give:
        raise NotAllowedError(f"the role {role} is an admin's to give", remedy="Ask an admin")


async def _update(session: AsyncSession, operator: Operator, values: dict[str, Any]) -> None:
    await session.execute(
        update(Operator)
        .where(Operator.id == operator.id)
        .values(**values)
        .execution_options(synchronize_session=False)
    )


async def _note(
    session: AsyncSession, operator: Operator, by: Operator, changes: list[dict[str, Any]]
) -> None:
    data = {"name": operator.username, "by": by.username, "changes": changes}
    note = events.Event(None, "account", tenant_id=operator.tenant_id, outcome="changed", data=data)
    await events.record(session, [note])
