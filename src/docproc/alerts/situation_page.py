"""The monitor's first page: the six axes (specification §9.2), the flow as a picture, and alerts."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from docproc.alerts import axes, looking, people_metrics, request_metrics, situation
from docproc.alerts.axes import StageAxis
from docproc.alerts.cards import cards
from docproc.alerts.collected import collect
from docproc.alerts.flow_picture import Picture, draw
from docproc.alerts.machine_metrics import DISK_FREE, name_of
from docproc.alerts.pages import GENERAL, render, words
from docproc.alerts.samples import labels_of
from docproc.alerts.situation import RANGES, Situation
from docproc.app import App
from docproc.engine.message import utc_now
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import PLAIN_TEXT, Application
from docproc.http.pages import pages_of

router = APIRouter(include_in_schema=False)


@router.get("/monitor")
@needs(Scope.READ)
async def page(
    request: Request,
    application: Application,
    caller: TheCaller,
    time: Annotated[str, Query(max_length=8, pattern=PLAIN_TEXT)] = "day",
    flow: Annotated[str, Query(max_length=64, pattern=PLAIN_TEXT)] = "",
) -> HTMLResponse:
    now, within = utc_now(), RANGES.get(time, RANGES["day"])
    collected = application.shared(collect)
    figures = collected.figures
    async with application.store.reading() as session:
        found = await situation.read(application, session, within, figures, now, looking.whose(caller))
    _, spoken = words(request)
    stages = axes.stages(found.sums, found.minutes)
    flows = [one.name for one in application.loader.usable()]
    chosen = flow if flow in flows else _busiest(application, stages, flows)
    return render(
        request,
        "monitor/situation.html",
        GENERAL,
        times=list(RANGES),
        within=within,
        cards=cards(found, within, figures, spoken, now),
        alerts=found.alerts,
        open_alerts=[one for one in found.alerts if one.is_open],
        flows=flows,
        flow=chosen,
        picture=_picture(request, application, chosen, stages, found) if chosen else None,
        stages=_in_order(application, stages),
        types=axes.types(found.sums)[:30],
        type_names=collected.types(spoken.language),
        requests=_requests(found),
        people=_people(found),
        present=found.latest(people_metrics.PRESENT).get("", 0.0),
        open_tasks=sum(found.latest(people_metrics.OPEN).values()),
        workers=found.workers,
        worker_name=name_of,
        disks={labels_of(one)["place"]: free for one, free in found.latest(DISK_FREE).items()},
    )


def _busiest(app: App, stages: list[StageAxis], flows: list[str]) -> str:
    """The workflow whose stages handle most; of several with the same stages, the first."""
    handled = {one.stage: one.handled for one in stages}
    loads = {
        flow.name: sum(handled.get(stage.name, 0.0) for stage in flow.stages) for flow in app.loader.usable()
    }
    default = "default" if "default" in flows else flows[0] if flows else ""
    return max(loads, key=lambda name: (loads[name], name == default), default="")


def _picture(request: Request, app: App, name: str, stages: list[StageAxis], found: Situation) -> Picture:
    pages = pages_of(request)
    language = words(request)[1].language
    names = pages.texts.beginning(language, "component_")
    return draw(app.loader.plan(name), {one.stage: one for one in stages}, found.queues, names)


def _in_order(app: App, stages: list[StageAxis]) -> list[StageAxis]:
    """As work passes through them; what no workflow has any more comes last."""
    order = [stage.name for flow in app.loader.usable() for stage in flow.stages]
    places = {name: place for place, name in reversed(list(enumerate(order)))}
    return sorted(stages, key=lambda one: (places.get(one.stage, len(order)), one.stage))


def _requests(found: Situation) -> list[dict[str, Any]]:
    """By application: what became of requests, and how those that are open stand."""
    ended = {one.application: one for one in axes.requests(found.sums)}
    metrics = {
        "open": request_metrics.OPEN,
        "at_risk": request_metrics.AT_RISK,
        "overdue": request_metrics.OVERDUE,
    }
    standing = {
        name: {labels_of(one)["application"]: value for one, value in found.latest(metric).items()}
        for name, metric in metrics.items()
    }
    names = sorted(
        name
        for name in {*ended, *standing["open"]}
        if name in ended or any(values.get(name) for values in standing.values())
    )
    return [
        {"application": name, "axis": ended.get(name)}
        | {key: values.get(name, 0.0) for key, values in standing.items()}
        for name in names
    ]


def _people(found: Situation) -> list[dict[str, Any]]:
    """By type of task: what waits, who is there for it, and how long answers took."""
    answers = axes.people(found.sums)
    metrics = {
        "open": people_metrics.OPEN,
        "oldest": people_metrics.OLDEST,
        "urgent": people_metrics.URGENT,
        "present": people_metrics.PRESENT,
        "missing": people_metrics.MISSING,
    }
    values = {
        key: {labels_of(one).get("type", ""): value for one, value in found.latest(metric).items()}
        for key, metric in metrics.items()
    }
    kinds = sorted({*answers, *values["open"]})
    return [
        {"type": kind, "answers": answers.get(kind)}
        | {key: one.get(kind, 0.0) for key, one in values.items()}
        for kind in kinds
    ]
