"""Throttles: tenants that are held back for a while, so that what waits can be worked off."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Table, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import rows
from docproc.engine.store.tables import Request
from docproc.engine.store.tenant_tables import Throttle

# Whoever has no row of its own.
EVERYBODY = "*"

_TABLE: Table = Throttle.__table__  # type: ignore[assignment] # is a Table


async def limit_of(session: AsyncSession, tenant_id: str) -> int | None:
    """Requests a minute; None: nobody holds it back."""
    query = (
        select(Throttle.tenant_id, func.min(Throttle.requests_per_minute))
        .where(Throttle.tenant_id.in_([tenant_id, EVERYBODY]))
        .group_by(Throttle.tenant_id)
    )
    found: dict[str, int] = {row[0]: row[1] for row in await session.execute(query)}
    return found.get(tenant_id, found.get(EVERYBODY))


async def begin(session: AsyncSession, cause: str, limits: Mapping[str, int]) -> None:
    """Hold tenants back; those that this cause holds back already stay as they are."""
    wanted = [
        {"tenant_id": tenant_id, "cause": cause, "requests_per_minute": limit}
        for tenant_id, limit in sorted(limits.items())
    ]
    await rows.insert(session, _TABLE, wanted, on_conflict="nothing")


async def end(session: AsyncSession, cause: str) -> None:
    statement = delete(Throttle).where(Throttle.cause == cause)
    await session.execute(statement.execution_options(synchronize_session=False))


async def received(session: AsyncSession, since: datetime) -> dict[str, int]:
    """How many requests each tenant sent since then."""
    query = select(Request.tenant_id, func.count()).where(Request.created_at >= since)
    return {row[0]: row[1] for row in await session.execute(query.group_by(Request.tenant_id))}
