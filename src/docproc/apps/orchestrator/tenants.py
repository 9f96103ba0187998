"""What a tenant may set for its tasks: how long things may take, and what its services know of it."""

from __future__ import annotations

import time
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.tables import TenantSettings
from docproc.engine.message import utc_now
from docproc.engine.store.session import Store


class TenantConfig(BaseModel):
    """One tenant's configuration; Redis has a copy under `orchestrator:tenant:{tenant}:config`."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    # §5.1: of basic operations.
    timeout_factor: float = Field(default=1.0, ge=0.5, le=2.0)
    # §5.1: how long a session lasts without use.
    session_seconds: int = Field(default=1800, ge=1800, le=7200)
    # Whatever its services want to know.
    settings: dict[str, Any] = Field(default_factory=dict)


async def read(session: AsyncSession, tenant_id: str) -> TenantConfig:
    row = await session.get(TenantSettings, tenant_id)
    return TenantConfig.model_validate(row.config) if row else TenantConfig()


async def write(session: AsyncSession, tenant_id: str, config: TenantConfig) -> None:
    said = config.model_dump(mode="json")
    await session.merge(TenantSettings(tenant_id=tenant_id, config=said, updated_at=utc_now()))


# How long it may take until every process heeds a change.
LOOK_SECONDS = 2.0


class Factors:
    """Tenants' factors of time limits, as a process knows them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[float, float]] = {}

    async def of(self, tenant_id: str) -> float:
        factor, until = self._known.get(tenant_id, (1.0, 0.0))
        if time.monotonic() < until:
            return factor
        async with self._store.reading() as session:
            factor = (await read(session, tenant_id)).timeout_factor
        if len(self._known) > 10_000:
            self._known.clear()
        self._known[tenant_id] = factor, time.monotonic() + LOOK_SECONDS
        return factor
