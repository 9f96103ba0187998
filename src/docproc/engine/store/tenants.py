"""Tenants as rows: added, found, changed; and what they took of their quotas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Table, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import rows
from docproc.engine.store.tables import Request
from docproc.engine.store.tenant_tables import Tenant, TenantUsage

# Whose everything is where nobody speaks of tenants; it needs no row.
DEFAULT = "default"
# Also the name of a folder, and part of addresses.
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")

NO_LIMIT = 2**62

TABLE: Table = Tenant.__table__  # type: ignore[assignment] # is a Table

# One more of a span of time, unless that makes too many: no row comes back then.
TAKE = """
INSERT INTO tenant_usage (tenant_id, kind, since, number) VALUES (:tenant, :kind, :since, :number)
ON CONFLICT (tenant_id, kind, since) DO UPDATE SET number = tenant_usage.number + :number
WHERE tenant_usage.number + :number <= :most
RETURNING number
"""


async def add(session: AsyncSession, tenant_id: str, **values: Any) -> bool:
    """False when there is one of that name."""
    row = {"tenant_id": tenant_id, **values}
    return bool(await rows.insert(session, TABLE, [row], on_conflict="nothing", returning="tenant_id"))


async def find(session: AsyncSession, tenant_id: str) -> Tenant | None:
    found: Tenant | None = await session.scalar(
        select(Tenant).where(Tenant.tenant_id == tenant_id).execution_options(populate_existing=True)
    )
    return found


async def everybody(session: AsyncSession) -> Sequence[Tenant]:
    """Those that have a row, by name."""
    return list(await session.scalars(select(Tenant).order_by(Tenant.tenant_id)))


async def names(session: AsyncSession) -> list[str]:
    """`default` and those that have a row."""
    return sorted({DEFAULT, *await session.scalars(select(Tenant.tenant_id))})


async def change(session: AsyncSession, tenant_id: str, **values: Any) -> None:
    """Of one that has a row."""
    await session.execute(
        update(Tenant)
        .where(Tenant.tenant_id == tenant_id)
        .values(**values)
        .execution_options(synchronize_session=False)
    )


async def locked(session: AsyncSession, tenant_id: str) -> None:
    """Until the transaction ends nobody else counts for this tenant."""
    await session.execute(select(Tenant.tenant_id).where(Tenant.tenant_id == tenant_id).with_for_update())


async def open_requests(session: AsyncSession, tenant_id: str) -> int:
    """How many of its requests are not over."""
    is_open = Request.completed_at.is_(None)
    query = select(func.count()).where(Request.tenant_id == tenant_id, is_open)
    return int(await session.scalar(query) or 0)


async def take(
    session: AsyncSession, tenant_id: str, kind: str, since: datetime, number: int, most: int | None
) -> bool:
    """Count what a tenant takes of a span of time; False: that would be more than `most`."""
    if most is not None and number > most:  # the first of a span is inserted without a look
        return False
    values = {
        "tenant": tenant_id,
        "kind": kind,
        "since": since,
        "number": number,
        "most": NO_LIMIT if most is None else most,
    }
    return bool(await rows.execute(session, TAKE, **values))


async def taken(session: AsyncSession, tenant_id: str, kind: str, since: datetime) -> int:
    query = select(func.sum(TenantUsage.number)).where(
        TenantUsage.tenant_id == tenant_id, TenantUsage.kind == kind, TenantUsage.since >= since
    )
    return int(await session.scalar(query) or 0)


async def forget_usage(session: AsyncSession, before: datetime) -> None:
    """Of spans of time that are over."""
    await session.execute(
        delete(TenantUsage).where(TenantUsage.since < before).execution_options(synchronize_session=False)
    )
