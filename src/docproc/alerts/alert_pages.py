"""Alerts in the console: what fires, what fired, and the rules behind it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, PlainTextResponse

from docproc.alerts import looking, notices, store
from docproc.alerts.collected import collect
from docproc.alerts.configuration import AlertSettings
from docproc.alerts.metric_names import name_of
from docproc.alerts.pages import ALERTS, render, words
from docproc.alerts.prometheus_rules import as_yaml
from docproc.alerts.rules import Rule
from docproc.alerts.spoken import DASH, Spoken
from docproc.engine.message import utc_now
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import Application

router = APIRouter()
SHOWN = 100
_TIME = timedelta(days=30)


@router.get("/monitor/alerts", include_in_schema=False)
@needs(Scope.READ)
async def page(request: Request, application: Application, caller: TheCaller) -> HTMLResponse:
    whose = looking.whose(caller)
    async with application.store.reading() as session:
        opened = await store.listed(session, tenant_id=whose, is_open=True)
        recent = await store.listed(session, since=utc_now() - _TIME, tenant_id=whose, limit=SHOWN)
    _, spoken = words(request)
    rules = sorted(collect(application).rules, key=lambda one: (one.level.rank, one.name))
    settings = application.settings.section(AlertSettings)
    return render(
        request,
        "monitor/alerts.html",
        ALERTS,
        opened=sorted(opened, key=lambda one: (one.level.rank, one.fired_at)),
        over=[one for one in recent if not one.is_open],
        rules=[_rule(one, spoken) for one in rules],
        channels=sorted(notices.channels_in_use(settings)),
        is_on=settings.alerts == "on",
    )


@router.get(
    "/monitor/prometheus-rules",
    summary="The rules for Prometheus",
    tags=["alerts"],
    response_class=PlainTextResponse,
    responses={200: {"content": {"application/yaml": {}}}},
)
@needs(Scope.READ)
async def prometheus_rules(application: Application) -> PlainTextResponse:
    return PlainTextResponse(as_yaml(collect(application).rules), media_type="application/yaml")


def _rule(rule: Rule, spoken: Spoken) -> dict[str, Any]:
    """As the page shows it: the threshold in the metric's unit, or the factor it compares the past with."""
    condition = type(rule.condition).__name__.lower()
    unit = name_of(rule.metric).unit
    factors = {
        "timesusual": lambda: spoken.number(getattr(rule.condition, "factor", 0.0), 1),
        "abovesamehour": lambda: spoken.share(getattr(rule.condition, "share", 0.0)),
        "deviates": lambda: spoken.number(getattr(rule.condition, "deviations", 0.0)),
    }
    limit = rule.condition.limit(None)
    value = (
        factors[condition]()
        if condition in factors
        else DASH
        if limit is None
        else spoken.of_unit(limit, unit)
    )
    return {"rule": rule, "condition": condition, "value": value}
