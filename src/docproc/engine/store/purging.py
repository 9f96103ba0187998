"""What is left of a tenant when its requests are erased: every row of it, in every table, but the audit."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Table, delete, func, null, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import events, tenants
from docproc.engine.store.events import Event
from docproc.engine.store.tables import Base, Duty, Request, Worker, WorkflowVersion

# Rows of the installation, which carry a tenant like all and belong to none; and the audit.
_NOT_ITS_OWN = (Worker.__tablename__, Duty.__tablename__, events.TABLE.name)


def tables() -> list[Table]:
    """Those with rows of tenants, as far as their modules are imported; what points at others comes first."""
    found = reversed(Base.metadata.sorted_tables)
    return [table for table in found if "tenant_id" in table.c and table.name not in _NOT_ITS_OWN]


async def count(session: AsyncSession, tenant_id: str) -> dict[str, int]:
    """How many rows of a tenant there are, by table; those that have none are left out."""
    numbers = {table.name: int(await session.scalar(_mine(table, tenant_id)) or 0) for table in tables()}
    return {name: number for name, number in sorted(numbers.items()) if number}


def _mine(table: Table, tenant_id: str) -> Any:
    return select(func.count()).select_from(table).where(table.c.tenant_id == tenant_id)


async def shut(session: AsyncSession, tenant_id: str) -> None:
    """Nobody comes in for it any more."""
    await tenants.change(session, tenant_id, is_active=False)


async def remove(session: AsyncSession, tenant_id: str) -> None:
    """All of it that stayed behind its requests, the tenant itself included."""
    for table in tables():
        mine = table.c.tenant_id == tenant_id
        if table.name == WorkflowVersion.__tablename__:
            mine &= ~_used_by_others(tenant_id)
        await session.execute(delete(table).where(mine))
    await _remove_values(session, tenant_id)


def _used_by_others(tenant_id: str) -> Any:
    """Versions are by content: another tenant may have begun with the same."""
    version = WorkflowVersion.__table__.c
    same = (Request.workflow_name == version.name) & (Request.workflow_version == version.version)
    return select(Request.id).where(same, Request.tenant_id != tenant_id).exists()


async def _remove_values(session: AsyncSession, tenant_id: str) -> None:
    """Of events that tell of no request (accounts, sign-ins, keys): who, when and what kind stays."""
    table: Any = events.TABLE
    mine = (table.c.tenant_id == tenant_id, table.c.request_id.is_(None), table.c.kind != "purged")
    for row in list(await session.execute(select(table.c.id, table.c.data).where(*mine))):
        data = row.data if isinstance(row.data, dict) else {}
        kept = {name: data[name] for name in events.WHO if data.get(name)}
        await session.execute(update(table).where(table.c.id == row.id).values(data=kept or null()))


async def note(session: AsyncSession, tenant_id: str, what: str, by: str, requests: int) -> None:
    """Who erased how many requests; never what was looked for."""
    data = {"by": by, "requests": requests}
    await events.record(session, [Event(None, "purged", tenant_id=tenant_id, outcome=what, data=data)])


async def whose(session: AsyncSession, request_ids: Collection[Any]) -> dict[str, int]:
    """How many of these requests each tenant has."""
    query = select(Request.tenant_id, func.count()).where(Request.id.in_(request_ids))
    return {name: int(number) for name, number in await session.execute(query.group_by(Request.tenant_id))}
