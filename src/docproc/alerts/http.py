"""Alerts and metrics over HTTP."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field

from docproc.alerts import axes, history, looking, store, views, wording
from docproc.alerts.collected import collect
from docproc.alerts.exposition import exposition
from docproc.alerts.metric_names import name_of
from docproc.alerts.rules import Level
from docproc.engine.message import utc_now
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import PLAIN_TEXT, Application

router = APIRouter(tags=["alerts"])

# What the axes tell Prometheus is of so long: percentiles of fewer minutes would jump.
AXES_TIME = timedelta(minutes=5)


class AlertInfo(BaseModel):
    id: str
    rule: str
    level: Level
    metric: str
    labels: dict[str, str]
    value: float = Field(description="When it fired")
    latest: float
    threshold: float | None
    fired_at: datetime
    resolved_at: datetime | None
    action: str | None
    action_state: str | None = Field(description="`due`, `begun`, `ending` or `ended`")
    action_result: dict[str, Any] | None = Field(description="What the action did")
    tenant_id: str


class AlertList(BaseModel):
    alerts: list[AlertInfo]


class RuleInfo(BaseModel):
    name: str
    metric: str
    by: list[str]
    level: Level
    condition: str
    threshold: float | None
    action: str | None
    for_seconds: float
    resolve_seconds: float


class RuleList(BaseModel):
    rules: list[RuleInfo]


class SeriesInfo(BaseModel):
    metric: str
    unit: str
    labels: dict[str, str]
    value: float | None = Field(description="The latest; null where it was not measured lately")
    at: datetime | None
    points: list[tuple[datetime, float]] = Field(description="Its means by minute")


class SeriesList(BaseModel):
    metrics: list[SeriesInfo]


@router.get("/alerts", summary="Alerts, newest first", response_model=AlertList)
@needs(Scope.READ)
async def alerts(
    application: Application,
    caller: TheCaller,
    state: Annotated[Literal["open", "all"], Query()] = "open",
    level: Annotated[Level | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    async with application.store.reading() as session:
        found = await store.listed(
            session, level=level, tenant_id=looking.whose(caller), is_open=state == "open", limit=limit
        )
    return {"alerts": [wording.of(one) for one in found]}


@router.get("/alerts/rules", summary="The rules that alerts follow", response_model=RuleList)
@needs(Scope.READ)
async def rules(application: Application) -> dict[str, Any]:
    found = collect(application).rules
    return {
        "rules": [
            {
                "name": rule.name,
                "metric": rule.metric,
                "by": list(rule.by),
                "level": rule.level,
                "condition": type(rule.condition).__name__.lower(),
                "threshold": None if rule.condition.needs_past else rule.condition.limit(None),
                "action": rule.action or None,
                "for_seconds": rule.for_seconds,
                "resolve_seconds": rule.resolve_seconds,
            }
            for rule in found
        ]
    }


@router.get("/monitor/metrics", summary="Metrics of the whole deployment", response_model=SeriesList)
@needs(Scope.READ)
async def metrics(
    application: Application,
    caller: TheCaller,
    metric: Annotated[str | None, Query(max_length=64, pattern=PLAIN_TEXT)] = None,
    minutes: Annotated[int, Query(ge=1, le=1440)] = 15,
) -> dict[str, Any]:
    found = await looking.points(application, caller, minutes, metric)
    return {
        "metrics": [
            {
                "metric": one.metric,
                "unit": name_of(one.metric).unit,
                "labels": one.labels,
                "value": one.latest,
                "at": one.latest_at,
                "points": one.points,
            }
            for one in views.series(found, utc_now())
        ]
    }


@router.get(
    "/monitor/prometheus",
    summary="The same for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}},
)
@needs(Scope.READ)
async def prometheus(application: Application, caller: TheCaller) -> Response:
    now = utc_now()
    found = await looking.points(application, caller, 5)
    async with application.store.reading() as session:
        sums = await history.totals(session, now - AXES_TIME, axes.METRICS, tenant_id=looking.whose(caller))
    told = axes.told(sums, AXES_TIME / timedelta(minutes=1))
    return Response(exposition(views.latest(found, now), told), media_type=CONTENT_TYPE_LATEST)
