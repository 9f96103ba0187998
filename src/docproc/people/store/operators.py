"""Operators: the people of the back office, when they were seen last and how long their tasks take."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import or_, select, update
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store.task_tables import Operator
from docproc.people.availability import Handling, Shift
from docproc.people.availability import Operator as Person

log = structlog.get_logger(__name__)

# The mean follows whoever gets quicker: older tasks fade from this number on.
REMEMBERED_TASKS = 50


async def active(session: AsyncSession, tenants: Collection[str]) -> dict[str, list[Person]]:
    """Who works for these tenants, present or not: those away still know how long tasks take."""
    query = select(
        Operator.tenant_id, Operator.username, Operator.skills, Operator.last_seen_at,
        Operator.shifts, Operator.handling,
    ).where(Operator.is_active, Operator.tenant_id.in_(tenants))  # fmt: skip
    found: dict[str, list[Person]] = {tenant: [] for tenant in tenants}
    for row in await session.execute(query):
        found[row.tenant_id].append(person(row))
    return found


def person(row: Row[Any]) -> Person:
    known = (row.handling or {}).items()
    handling = {task_type: Handling(one["n"], one["mean_seconds"]) for task_type, one in known}
    try:
        shifts = tuple(Shift.parse(said) for said in row.shifts or ())
    except ValueError as error:
        # One person's shifts must not stop everybody's work; when this one works nobody knows.
        log.warning("operator_shifts_unreadable", operator=row.username, error=str(error))
        return Person(frozenset(row.skills), None, handling=handling)
    return Person(frozenset(row.skills), row.last_seen_at, shifts=shifts, handling=handling)


async def seen(session: AsyncSession, username: str, now: datetime) -> bool:
    """The person is there; False when nobody is called so."""
    await session.execute(
        update(Operator)
        # An older sign of life, come late, changes nothing.
        .where(Operator.username == username)
        .where(or_(Operator.last_seen_at.is_(None), Operator.last_seen_at < now))
        .values(last_seen_at=now)
        .execution_options(synchronize_session=False)
    )
    return await session.scalar(select(Operator.id).where(Operator.username == username)) is not None


async def record_handling(session: AsyncSession, operator_id: UUID, task_type: str, seconds: float) -> None:
    """The person finished a task: how long the type takes is known a little better."""
    mine = Operator.id == operator_id
    # Locked: of two tasks finished at once, none is forgotten.
    query = select(Operator.handling).where(mine).with_for_update()
    handling: dict[str, Any] = dict(await session.scalar(query) or {})
    known = handling.get(task_type) or {"n": 0, "mean_seconds": 0.0}
    number = min(known["n"] + 1, REMEMBERED_TASKS)
    mean = known["mean_seconds"] + (seconds - known["mean_seconds"]) / number
    handling[task_type] = {"n": number, "mean_seconds": round(mean, 3)}
    await session.execute(
        update(Operator).where(mine).values(handling=handling).execution_options(synchronize_session=False)
    )
