"""What a tenant may say of its own work, and the tenants as a process sees them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import structlog
from pydantic import Field, ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import tenants, throttles
from docproc.engine.store.session import Store
from docproc.engine.store.tenant_tables import Tenant as Row
from docproc.engine.store.tenants import DEFAULT
from docproc.engine.workflow.definition import Retention, Strict, Workflow
from docproc.errors import UnknownTenantError

log = structlog.get_logger(__name__)

# How long it may take until every process heeds a change.
LOOK_SECONDS = 2.0


class Quotas(Strict):
    """How much a tenant may take; what is left out has no limit."""

    # Requests that are submitted.
    requests_per_minute: int | None = Field(default=None, ge=1)
    # Whatever the application counts (documents: pages), of the requests received today (UTC).
    units_per_day: int | None = Field(default=None, ge=1)
    # Requests that are not over.
    at_once: int | None = Field(default=None, ge=1)
    # Calls of each of its keys, in each server process.
    calls_per_minute: int | None = Field(default=None, ge=1)


class TenantSettings(Strict):
    """What is different for one tenant."""

    # Component -> the confidence below which a person is asked, instead of the workflow's.
    thresholds: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    # Where answers go when a request names no address.
    callback_url: str | None = None
    # How long its requests stay, instead of what workflows say.
    retention: Retention | None = None
    quotas: Quotas = Quotas()


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant as the engine sees it."""

    id: str
    display_name: str | None = None
    weight: float = 1.0
    settings: TenantSettings = field(default_factory=TenantSettings)
    is_active: bool = True
    # Requests a minute that it may send while the deployment cannot keep up; None: as its quotas say.
    throttle: int | None = None


class Tenants:
    """One per process. What it says may be two seconds old: nothing is asked of the database more often."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[Tenant | None, float]] = {}

    async def find(self, tenant_id: str, session: AsyncSession | None = None) -> Tenant | None:
        """None: there is no such tenant. `default` is always there.

        `session` is the caller's, who must not wait for a second connection while holding one.
        """
        known, until = self._known.get(tenant_id, (None, 0.0))
        if time.monotonic() < until:
            return known
        if session is None:
            async with self._store.reading() as own:
                found = await _look(own, tenant_id)
        else:
            found = await _look(session, tenant_id)
        if len(self._known) > 10_000:  # names that somebody makes up are not kept for ever
            self._known.clear()
        self._known[tenant_id] = found, time.monotonic() + LOOK_SECONDS
        return found

    async def of(self, tenant_id: str, session: AsyncSession | None = None) -> Tenant:
        """What counts for rows of a tenant, also of one that is no more."""
        return await self.find(tenant_id, session) or Tenant(tenant_id, is_active=False)

    async def active(self, tenant_id: str, session: AsyncSession | None = None) -> Tenant:
        """For new work. Raises UnknownTenantError."""
        found = await self.find(tenant_id, session)
        if found is None:
            raise UnknownTenantError(
                f"there is no tenant {tenant_id[:64]!r}", remedy="docproc tenants list shows them"
            )
        if not found.is_active:
            raise UnknownTenantError(
                f"the tenant {tenant_id!r} is switched off", remedy="docproc tenants activate brings it back"
            )
        return found

    def forget(self) -> None:
        """Something was changed here: look again."""
        self._known.clear()


async def _look(session: AsyncSession, tenant_id: str) -> Tenant | None:
    row = await tenants.find(session, tenant_id)
    found = tenant_of(row) if row else Tenant(DEFAULT) if tenant_id == DEFAULT else None
    throttle = await throttles.limit_of(session, tenant_id) if found else None
    return found if found is None or throttle is None else replace(found, throttle=throttle)


def tenant_of(row: Row) -> Tenant:
    return Tenant(
        row.tenant_id, row.display_name, row.weight, _read(row.tenant_id, row.settings), row.is_active
    )


def _read(tenant_id: str, said: Any) -> TenantSettings:
    """As it was written; what a newer release added means nothing to this one."""
    known = {name: value for name, value in (said or {}).items() if name in TenantSettings.model_fields}
    try:
        return TenantSettings.model_validate(known)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        log.warning("tenant_settings_unusable", tenant_id=tenant_id, problem=f"{where}: {first['msg']}")
        return TenantSettings()


def adapted(workflow: Workflow, settings: TenantSettings) -> Workflow:
    """The flow with a tenant's thresholds; the same object where they change nothing."""
    wanted = settings.thresholds
    if not any(_changes(stage, wanted) for stage in workflow.stages):
        return workflow
    stages = tuple(
        stage.model_copy(update={"confidence_threshold": wanted[stage.component]})
        if _changes(stage, wanted)
        else stage
        for stage in workflow.stages
    )
    return workflow.model_copy(update={"stages": stages})


def _changes(stage: Any, thresholds: dict[str, float]) -> bool:
    return stage.component in thresholds and stage.confidence_threshold != thresholds[stage.component]
