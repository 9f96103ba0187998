"""What the orchestrator still does while services fail, over HTTP: look at it, and set it by hand."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from docproc.app import App
from docproc.apps.orchestrator.resilience import modes
from docproc.apps.orchestrator.resilience.breakers import Breakers
from docproc.apps.orchestrator.resilience.degradation import DROPS, Degradation, level_of
from docproc.engine.store.tenants import DEFAULT
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import PLAIN_TEXT, Application
from docproc.http.problems import Problem, documented

router = APIRouter(prefix="/api/v1", tags=["orchestrator"])


class BreakerInfo(BaseModel):
    service: str
    endpoint: str
    level: str
    state: str
    reason: str
    opened_at: datetime | None
    probe_at: datetime | None


class DegradationInfo(BaseModel):
    level: Degradation = Field(
        description="What is done now: the graver of what was set and what the services ask for"
    )
    forced: Degradation = Field(description="What was set by hand; `full`: nothing")
    away: list[str] = Field(description="Services none of whose endpoints is called")
    dropped: list[str] = Field(description="Levels of services that are not called")
    breakers: list[BreakerInfo]


class DegradationBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    level: Degradation
    reason: str = Field(default="", max_length=500, pattern=PLAIN_TEXT)


@router.get("/degradation", summary="What is still done while services fail", response_model=DegradationInfo)
@needs(Scope.READ)
async def degradation(application: Application) -> dict[str, Any]:
    return await state(application)


@router.put(
    "/degradation",
    summary="Set the least degradation level, for maintenance say",
    response_model=DegradationInfo,
    responses=documented(400, 403),
)
@needs(Scope.ADMIN)
async def set_degradation(
    application: Application, caller: TheCaller, body: DegradationBody
) -> dict[str, Any]:
    if caller.tenant_id != DEFAULT:  # it concerns everybody
        told = "only those who look after the whole deployment may set it"
        raise Problem(403, "wrong_tenant", told, "Use a key of the tenant default")
    async with application.store.writing() as session:
        await modes.set_degradation(session, body.level, body.reason)
    return await state(application)


async def state(application: App) -> dict[str, Any]:
    """As it is now, whatever replicas may still believe for a second."""
    breakers = Breakers(application.store)
    known, away = await breakers.all(), await breakers.away()
    async with application.store.reading() as session:
        forced = await modes.degradation(session)
    level = max(level_of(away), forced, key=lambda one: one.rank)
    return {
        "level": level,
        "forced": forced,
        "away": sorted(one.service for one in away),
        "dropped": sorted(map(str, DROPS[level])),
        "breakers": [
            {
                "service": one.service,
                "endpoint": one.endpoint,
                "level": str(one.level),
                "state": str(one.breaker.state),
                "reason": one.breaker.reason,
                "opened_at": one.breaker.opened_at,
                "probe_at": one.breaker.probe_at,
            }
            for one in sorted(known, key=lambda one: (one.service, one.endpoint))
        ],
    }
