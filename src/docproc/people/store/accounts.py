"""Accounts of operators: added, given passwords, linked with an identity provider, switched off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Table, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import events, rows
from docproc.engine.store.events import Event
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.engine.store.tenants import DEFAULT
from docproc.errors import UsageError
from docproc.people.store import claims, sign_ins

TABLE: Table = Operator.__table__  # type: ignore[assignment] # is a Table


@dataclass(frozen=True, slots=True)
class Account:
    """A new operator. Without a password hash or a subject nobody can sign in to it."""

    username: str
    skills: Sequence[str]
    role: str = "operator"
    display_name: str | None = None
    language: str | None = None
    password_hash: str | None = None
    oidc_subject: str | None = None
    tenant_id: str = DEFAULT


async def add(session: AsyncSession, account: Account, by: str) -> bool:
    """False when the name or the subject is taken."""
    row = {name: getattr(account, name) for name in Account.__slots__}
    row = {**row, "skills": list(account.skills), "is_active": True}
    added = await rows.insert(session, TABLE, [row], on_conflict="nothing", returning="id")
    if added:
        await _note(session, "added", account, by)
    return bool(added)


async def find(session: AsyncSession, username: str) -> Operator:
    """Raises UsageError when nobody is called so."""
    found = await session.scalar(select(Operator).where(Operator.username == username))
    if found is None:
        raise UsageError(f"there is no operator {username!r}", remedy="docproc operator list shows them")
    return found


async def everybody(session: AsyncSession, tenant_id: str | None = None) -> Sequence[Operator]:
    """Of a tenant, or of all."""
    query = select(Operator).order_by(Operator.username)
    query = query if tenant_id is None else query.where(Operator.tenant_id == tenant_id)
    return list(await session.scalars(query))


async def by_subject(session: AsyncSession, subject: str) -> Operator | None:
    query = select(Operator).where(Operator.oidc_subject == subject, Operator.is_active)
    found: Operator | None = await session.scalar(query)
    return found


async def set_password(session: AsyncSession, operator: Operator, password_hash: str, by: str) -> None:
    """Whoever was signed in with the old one is not any more."""
    await _change(session, operator.id, password_hash=password_hash)
    await sign_ins.end_all(session, operator.id)
    await _note(session, "password", operator, by)


async def is_unchanged(session: AsyncSession, operator: Operator) -> bool:
    """Whether the person is still active, with this password; it stays so until the transaction ends.

    Locked: a new password ends the session that is about to begin with the old one.
    """
    query = select(Operator.id).where(
        Operator.id == operator.id, Operator.is_active, Operator.password_hash == operator.password_hash
    )
    return await session.scalar(query.with_for_update()) is not None


async def renew_hash(session: AsyncSession, operator: Operator, password_hash: str | None) -> None:
    """The same password, hashed as is done today."""
    await _change(session, operator.id, password_hash=password_hash)


async def link(session: AsyncSession, operator: Operator, subject: str, by: str) -> None:
    """Raises UsageError when the subject is somebody else's."""
    query = select(Operator.username).where(Operator.oidc_subject == subject, Operator.id != operator.id)
    other = await session.scalar(query)
    if other is not None:
        raise UsageError(f"{subject!r} is {other}'s already", remedy="Each identity belongs to one operator")
    await _change(session, operator.id, oidc_subject=subject)
    await _note(session, "linked", operator, by)


async def activate(session: AsyncSession, operator: Operator, by: str) -> None:
    await _change(session, operator.id, is_active=True)
    await _note(session, "activated", operator, by)


async def deactivate(session: AsyncSession, operator: Operator, by: str) -> None:
    """Signed out at once, and what the person held is anybody's again."""
    await _change(session, operator.id, is_active=False)
    await sign_ins.end_all(session, operator.id)
    held = select(BackofficeTask.id).where(
        BackofficeTask.status == "assigned", BackofficeTask.assigned_to == operator.id
    )
    for task_id in list(await session.scalars(held)):
        await claims.let_go(session, task_id, operator.id)
    await _note(session, "deactivated", operator, by)


async def _change(session: AsyncSession, operator_id: UUID, **values: Any) -> None:
    await session.execute(
        update(Operator)
        .where(Operator.id == operator_id)
        .values(**values)
        .execution_options(synchronize_session=False)
    )


async def _note(session: AsyncSession, outcome: str, whom: Account | Operator, by: str) -> None:
    data = {"name": whom.username, "by": by}
    note = Event(None, "account", tenant_id=whom.tenant_id, outcome=outcome, data=data)
    await events.record(session, [note])
