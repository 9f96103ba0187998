"""Sign-ins: sessions of people, and failed attempts counted for all processes together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Table, case, delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import events, rows
from docproc.engine.store.events import Event
from docproc.engine.store.task_tables import Operator
from docproc.engine.store.tenants import DEFAULT
from docproc.people.tables import SignIn, SignInFailure

SESSIONS: Table = SignIn.__table__  # type: ignore[assignment] # is a Table

# Counts one more attempt, unless the key is blocked: then no row comes back. The row stays locked until the
# end of the transaction, so that of many attempts at once each sees the block that the one before it set.
# Without a block the moment is long past: clocks differ, and attempts that wait here read theirs before.
COUNT = """
INSERT INTO sign_in_failures (key, failures, last_at, blocked_until, tenant_id)
VALUES (:key, 1, :now, :forgotten, 'default')
ON CONFLICT (key) DO UPDATE SET
    failures = CASE WHEN sign_in_failures.last_at < :forgotten THEN 1 ELSE sign_in_failures.failures + 1 END,
    last_at = excluded.last_at
WHERE sign_in_failures.blocked_until <= excluded.last_at
RETURNING failures
"""


@dataclass(frozen=True, slots=True)
class Found:
    """A session in force, and whose it is."""

    operator: Operator
    csrf: str
    seen_at: datetime


# --- sessions -------------------------------------------------------------------------------------------


async def begin(session: AsyncSession, row: dict[str, object], now: datetime) -> None:
    """A new session; those that are over by their time are removed."""
    await session.execute(delete(SignIn).where(SignIn.expires_at < now))
    await rows.insert(session, SESSIONS, [row])


async def find(session: AsyncSession, key: str, now: datetime, idle: timedelta) -> Found | None:
    """The session with this hash, neither over nor idle for too long, of somebody active."""
    query = (
        select(SignIn.csrf, SignIn.seen_at, Operator)
        .join(Operator, Operator.id == SignIn.operator_id)
        .where(SignIn.id == key, SignIn.expires_at > now, SignIn.seen_at > now - idle, Operator.is_active)
    )
    found = (await session.execute(query)).first()
    return None if found is None else Found(found.Operator, found.csrf, found.seen_at)


async def touch(session: AsyncSession, key: str, now: datetime) -> None:
    await session.execute(
        update(SignIn)
        .where(SignIn.id == key, SignIn.seen_at < now)
        .values(seen_at=now)
        .execution_options(synchronize_session=False)
    )


async def end(session: AsyncSession, key: str) -> None:
    await session.execute(delete(SignIn).where(SignIn.id == key))


async def end_all(session: AsyncSession, operator_id: UUID) -> None:
    """Every session of a person: the password changed, or the person left."""
    await session.execute(delete(SignIn).where(SignIn.operator_id == operator_id))


# --- failures -------------------------------------------------------------------------------------------


async def count_attempt(
    session: AsyncSession,
    key: str,
    now: datetime,
    forget: timedelta,
    wait_of: Callable[[int], float],
) -> int | None:
    """Count an attempt as failed before it is looked at; how many that makes, None while blocked.

    `wait_of` says how many seconds to wait after so many failures.
    """
    values = {"key": key, "now": now, "forgotten": now - forget}
    counted = await rows.execute(session, COUNT, **values)
    if not counted:
        return None
    failures = int(counted[0].failures)
    wait = wait_of(failures)
    if wait > 0:
        await session.execute(
            update(SignInFailure)
            .where(SignInFailure.key == key)
            .values(blocked_until=now + timedelta(seconds=wait))
            .execution_options(synchronize_session=False)
        )
    return failures


async def blocked_until(session: AsyncSession, key: str) -> datetime | None:
    return await session.scalar(select(SignInFailure.blocked_until).where(SignInFailure.key == key))


async def forgive(session: AsyncSession, key: str) -> None:
    """It was the right person after all."""
    await session.execute(delete(SignInFailure).where(SignInFailure.key == key))


async def take_back(session: AsyncSession, key: str, long_ago: datetime, free: int) -> None:
    """The attempt that was just counted was right: the others of the key stay, and their block with them."""
    left = SignInFailure.failures - 1
    await session.execute(
        update(SignInFailure)
        .where(SignInFailure.key == key, SignInFailure.failures > 0)
        .values(
            failures=left, blocked_until=case((left <= free, long_ago), else_=SignInFailure.blocked_until)
        )
        .execution_options(synchronize_session=False)
    )


async def forget_failures(session: AsyncSession, now: datetime, forget: timedelta) -> None:
    """What is old; rows in use just now are left alone, so that nobody waits for anybody here."""
    old = select(SignInFailure.key).where(
        SignInFailure.last_at < now - forget, SignInFailure.blocked_until < now
    )
    keys = old.with_for_update(skip_locked=True)
    await session.execute(
        delete(SignInFailure)
        .where(SignInFailure.key.in_(keys.scalar_subquery()))
        .execution_options(synchronize_session=False)
    )


# --- audit ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Attempt:
    """Who came, or tried to; of a name that nobody has, no tenant knows."""

    name: str
    address: str
    way: str = "password"
    tenant_id: str = DEFAULT


async def note(session: AsyncSession, outcome: str, attempt: Attempt) -> None:
    """For the audit; passwords are never part of it."""
    data = {"name": attempt.name, "address": attempt.address, "way": attempt.way}
    event = Event(None, "sign_in", tenant_id=attempt.tenant_id, outcome=outcome, data=data)
    await events.record(session, [event])
