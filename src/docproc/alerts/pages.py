"""The monitor in the console: everything, by service, by queue, by tenant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from docproc.alerts import looking, store, views
from docproc.alerts.metric_names import name_of
from docproc.alerts.store import Alert
from docproc.alerts.views import Series
from docproc.app import App
from docproc.application import Link
from docproc.engine.message import utc_now
from docproc.http.access.caller import Caller, TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import Application
from docproc.http.pages import Part, pages_of

_FOLDER = Path(__file__).parent
MINUTES = 60

PART = Part(
    templates=_FOLDER / "templates",
    static=_FOLDER / "static",
    static_path="/static/monitor",
    texts=_FOLDER / "texts",
    navigation=(Link("monitor", "/monitor", role="supervisor"),),
)

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class View:
    """A page of the monitor; `by` is the label of its lines, `columns` the metrics."""

    name: str
    href: str
    by: str = ""
    columns: tuple[str, ...] = ()


GENERAL = View("general", "/monitor")
SERVICES = View(
    "services",
    "/monitor/services",
    "service",
    ("service.availability", "service.latency", "retry.count", "circuit_breaker.state"),
)
QUEUES = View(
    "queues",
    "/monitor/queues",
    "queue",
    ("queue.depth", "message.processing_time", "system.throughput"),
)
TENANTS = View(
    "tenants",
    "/monitor/tenants",
    "tenant",
    ("queue.depth", "system.throughput", "message.processing_time", "message.error_rate"),
)
VIEWS = (GENERAL, SERVICES, QUEUES, TENANTS)


@router.get("/monitor")
@needs(Scope.READ)
async def general(request: Request, application: Application, caller: TheCaller) -> HTMLResponse:
    return await _page(request, application, caller, GENERAL)


@router.get("/monitor/services")
@needs(Scope.READ)
async def services(request: Request, application: Application, caller: TheCaller) -> HTMLResponse:
    return await _page(request, application, caller, SERVICES)


@router.get("/monitor/queues")
@needs(Scope.READ)
async def queues(request: Request, application: Application, caller: TheCaller) -> HTMLResponse:
    return await _page(request, application, caller, QUEUES)


@router.get("/monitor/tenants")
@needs(Scope.READ)
async def tenants(request: Request, application: Application, caller: TheCaller) -> HTMLResponse:
    return await _page(request, application, caller, TENANTS)


async def _page(request: Request, application: App, caller: Caller, view: View) -> HTMLResponse:
    now = utc_now()
    found = views.series(await looking.points(application, caller, MINUTES), now)
    async with application.store.reading() as session:
        alerts = await store.listed(session, tenant_id=looking.whose(caller), is_open=True)
    pages = pages_of(request)
    text = partial(pages.texts.text, pages.language_of(request))
    return pages.page(
        request,
        "monitor/view.html",
        view=view,
        views=VIEWS,
        alerts=sorted(_concerning(alerts, view), key=lambda one: one.level.rank),
        lines=views.lines(found, view.by) if view.by else [],
        figures=_figures(found, text) if view is GENERAL else [],
        shown=partial(shown, text),
        drawn=lambda one: views.drawn(one, now),
        now=now,
    )


def _concerning(alerts: Any, view: View) -> list[Alert]:
    """Those of a page's own lines; the first page shows all."""
    return [one for one in alerts if not view.by or view.by in one.labels]


def _figures(found: list[Series], text: Callable[..., str]) -> list[tuple[str, str]]:
    """The whole deployment in four numbers."""
    depths = [one.latest for one in found if one.metric == "queue.depth" and "queue" in one.labels]
    away = [
        one
        for one in found
        if one.metric == "circuit_breaker.state" and one.labels.get("endpoint") == "primary" and one.latest
    ]
    errors = [
        one.latest
        for one in found
        if one.metric == "message.error_rate" and "stage" in one.labels and one.latest is not None
    ]
    throughput = views.total(found, "system.throughput")
    return [
        (text("monitor_throughput"), shown(text, throughput)),
        (text("monitor_waiting"), f"{sum(one for one in depths if one is not None):.0f}"),
        (text("monitor_worst_errors"), f"{100 * max(errors, default=0.0):.1f} %"),
        (text("monitor_breakers_open"), str(len(away))),
    ]


_STATES = {0.0: "monitor_closed", 0.5: "monitor_half_open", 1.0: "monitor_open"}


def shown(text: Callable[..., str], one: Series | None) -> str:
    """A value as people read it; a dash where nothing was measured lately."""
    if one is None or one.latest is None:
        return "–"
    value, unit = one.latest, name_of(one.metric).unit
    if unit == "state":
        return text(_STATES.get(value, "monitor_open"))
    return {
        "seconds": f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s",
        "share": f"{100 * value:.1f} %",
        "per_second": f"{value:.1f} /s",
        "per_minute": f"{value:.0f} /min",
    }.get(unit, f"{value:.0f}")
