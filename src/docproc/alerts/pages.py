"""The monitor in the console: what its pages share, and those by service, queue and tenant."""

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
from docproc.alerts.spoken import DASH, Spoken
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
ALERTS = View("alerts", "/monitor/alerts")
LETTERS = View("letters", "/monitor/dead-letters")
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
    ("queue.depth", "queue.age", "message.processing_time", "system.throughput"),
)
TENANTS = View(
    "tenants",
    "/monitor/tenants",
    "tenant",
    ("queue.depth", "system.throughput", "message.processing_time", "message.error_rate"),
)
VIEWS = (GENERAL, ALERTS, LETTERS, QUEUES, SERVICES, TENANTS)


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
    points = await looking.points(application, caller, MINUTES, metrics=view.columns, label=f"{view.by}=")
    async with application.store.reading() as session:
        alerts = await store.listed(session, tenant_id=looking.whose(caller), is_open=True)
    text, spoken = words(request)
    return render(
        request,
        "monitor/view.html",
        view,
        alerts=sorted(_concerning(alerts, view), key=lambda one: one.level.rank),
        lines=views.lines(views.series(points, now), view.by),
        shown=partial(shown, text, spoken),
        drawn=lambda one: views.drawn(one, now),
    )


def words(request: Request) -> tuple[Callable[..., str], Spoken]:
    """The texts and the numbers of whoever looks."""
    pages = pages_of(request)
    language = pages.language_of(request, getattr(request.state, "visitor", None))
    return partial(pages.texts.text, language), Spoken(language)


def render(request: Request, template: str, view: View, **context: Any) -> HTMLResponse:
    """A page of the monitor: its tabs, the moment it is of, and names in the language of whoever looks."""
    pages = pages_of(request)
    _, spoken = words(request)

    def named(beginning: str, key: str, otherwise: str = "") -> str:
        """The text of a composed key; what others install may have none."""
        known = pages.texts.beginning(spoken.language, beginning)
        return known.get(key.replace(".", "_"), otherwise or key)

    def measured(alert: Alert, value: float | None) -> str:
        return DASH if value is None else spoken.of_unit(value, name_of(alert.metric).unit)

    return pages.page(
        request,
        template,
        view=view,
        views=VIEWS,
        now=utc_now(),
        spoken=spoken,
        named=named,
        measured=measured,
        **context,
    )


def _concerning(alerts: Any, view: View) -> list[Alert]:
    """Those of a page's own lines."""
    return [one for one in alerts if view.by in one.labels]


_STATES = {0.0: "monitor_closed", 0.5: "monitor_half_open", 1.0: "monitor_open"}


def shown(text: Callable[..., str], spoken: Spoken, one: Series | None) -> str:
    """A value as people read it; a dash where nothing was measured lately."""
    if one is None or one.latest is None:
        return DASH
    unit = name_of(one.metric).unit
    if unit == "state":
        return text(_STATES.get(one.latest, "monitor_open"))
    return spoken.of_unit(one.latest, unit)
