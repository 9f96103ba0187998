"""Requests: where they stand, what happened to them, and what a client can do about it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Body, Query
from fastapi import Request as HttpRequest
from pydantic import AfterValidator, BeforeValidator
from sqlalchemy import and_, case, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import events, tasks
from docproc.engine.store.tables import Event, Request, RequestStatus
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import PLAIN_TEXT, Application, RequestId
from docproc.http.following import TheHub
from docproc.http.models import (
    Accepted,
    EventInfo,
    KnownStatus,
    ReprocessBody,
    Reprocessed,
    RequestSummary,
    StageProgress,
    Timeline,
)
from docproc.http.problems import documented
from docproc.http.reception import reception_of
from docproc.http.views import Shapes, shapes_of, status_of
from docproc.http.waiting import Wait, status_after

router = APIRouter(tags=["requests"])

_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _written_out(value: Any) -> Any:
    """Not seconds since 1970, which would be accepted by accident."""
    if isinstance(value, str) and "-" not in value[1:]:
        raise ValueError("write it as 2026-03-01T00:00:00Z")
    return value


def _in_utc(moment: datetime) -> datetime:
    """A time without a zone is UTC."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # the year 1, or 9999, beyond UTC's own edge
        return datetime.min.replace(tzinfo=UTC) if moment.year < 5000 else datetime.max.replace(tzinfo=UTC)


# What a database can compare with; it matches everything that may be stored.
Text64 = Annotated[str | None, Query(max_length=64, pattern=PLAIN_TEXT)]
Text255 = Annotated[str | None, Query(max_length=255, pattern=PLAIN_TEXT)]
Since = Annotated[
    Annotated[datetime, BeforeValidator(_written_out), AfterValidator(_in_utc)] | None,
    Query(description="Only those received at this time or later", examples=["2026-03-01T00:00:00Z"]),
]
Cursor = Annotated[
    str | None,
    Query(description="`next` of the page before", pattern=f"^[0-9]{{1,16}}_{_UUID}$", max_length=53),
]
# Where a reader of events stopped.
POSITION = "^[0-9]{1,18}[.][0-9]{1,18}$"
After = Annotated[
    str | None, Query(description="`next` of an earlier answer, or an event's `id`", pattern=POSITION)
]
AfterVersion = Annotated[
    int, Query(ge=0, le=2**31 - 1, description="The `answer_version` that the client has")
]


def routes(shapes: Shapes) -> APIRouter:
    """The endpoints whose answers have fields of applications; beside `router`, which has the others."""
    made = APIRouter(tags=["requests"])
    made.add_api_route(
        "/status/{request_id}",
        status,
        response_model=shapes.status,
        summary="Where a request stands",
        responses=documented(404, 422, 503),
    )
    made.add_api_route(
        "/requests",
        list_requests,
        response_model=shapes.list,
        summary="Requests, newest first",
        responses=documented(422, 503),
    )
    made.add_api_route(
        "/requests/{request_id}",
        detail,
        response_model=shapes.detail,
        summary="All about a request",
        responses=documented(404, 422, 503),
    )
    return made


@needs(Scope.READ)
async def status(
    application: Application,
    hub: TheHub,
    http: HttpRequest,
    request_id: RequestId,
    wait: Wait = 0,
    after_version: AfterVersion = 0,
) -> Any:
    """At once; with `wait`, as soon as there is a newer answer or the request is over."""
    return await status_after(application, hub, http, request_id, wait, after_version)


@needs(Scope.READ)
async def list_requests(
    application: Application,
    caller: TheCaller,
    status: KnownStatus | None = None,
    channel: Text64 = None,
    workflow: Text64 = None,
    external_id: Text255 = None,
    since: Since = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Cursor = None,
) -> Any:
    query = _filtered(caller.tenant_id, status, channel, workflow, external_id, since)
    if cursor is not None:
        query = query.where(_behind(cursor))
    query = query.order_by(Request.created_at.desc(), Request.id.desc()).limit(limit + 1)
    async with application.store.reading() as session:
        found = list(await session.execute(query))
        shown = found[:limit]
        added = await shapes_of(application).added(session, [row.id for row in shown])
    following = _cursor(shown[-1]) if len(found) > limit else None
    return {"requests": [{**_summary(row), **added[row.id]} for row in shown], "next": following}


@needs(Scope.READ)
async def detail(application: Application, request_id: RequestId) -> Any:
    request = await reception_of(application).find(request_id)
    shapes = shapes_of(application)
    async with application.store.reading() as session:
        known = {
            **await status_of(shapes, session, request),
            "channel": request.channel,
            "external_id": request.external_id,
            "priority": request.priority,
            "metadata": request.metadata_,
            "linked_to": request.linked_to,
            "link": request.link,
            "files": [{"name": one["name"], "size": one["size"]} for one in request.uploads or ()],
            "progress": {"stages": await _stages(session, request.id)},
            "open_tasks": await tasks.open_count(session, request_id),
        }
        return await shapes.details(session, request, known)


@router.get(
    "/requests/{request_id}/events", summary="What happened to a request", responses=documented(404, 422, 503)
)
@needs(Scope.READ)
async def timeline(
    application: Application,
    request_id: RequestId,
    after: After = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> Timeline:
    """In an order in which nothing can appear behind a reader: come again with `after` = `next`."""
    await reception_of(application).find(request_id)
    position = position_of(after)
    async with application.store.reading() as session:
        found = await events.read(session, request_id, position, limit)
    if found:
        position = events.Position(found[-1].transaction_id, found[-1].id)
    return Timeline(
        events=[EventInfo.model_validate(row) for row in found],
        next=f"{position.transaction_id}.{position.id}",
    )


@router.post(
    "/requests/{request_id}/cancel", summary="Cancel a request", responses=documented(403, 404, 409, 422, 503)
)
@needs(Scope.SUBMIT)
async def cancel(application: Application, request_id: RequestId) -> Accepted:
    """It ends `failed` with the error code `cancelled`; 409 when it is over already."""
    await reception_of(application).cancel(request_id)
    return Accepted(request_id=request_id, status=RequestStatus.FAILED)


@router.delete(
    "/requests/{request_id}",
    summary="Erase a request",
    status_code=204,
    response_description="Nothing of it is kept but who did what kind of thing to it, and when",
    responses=documented(403, 404, 422, 503),
)
@needs(Scope.ADMIN)
async def erase(application: Application, request_id: RequestId, caller: TheCaller) -> None:
    """Its files, pages, answers and tasks, and what was learnt from it; one under way is cancelled first."""
    await application.erasure.erase(request_id, caller.by or "api")


@router.post(
    "/requests/{request_id}/reprocess",
    summary="Process a request's files again",
    responses=documented(400, 403, 404, 408, 409, 413, 422, 429, 503, 507),
)
@needs(Scope.SUBMIT)
async def reprocess(
    application: Application,
    request_id: RequestId,
    caller: TheCaller,
    body: Annotated[ReprocessBody | None, Body()] = None,
) -> Reprocessed:
    """As a new request, linked to the first one, with the same workflow or another."""
    workflow = body.workflow if body else None
    new_id = await reception_of(application).reprocess(request_id, workflow, caller.by)
    return Reprocessed(request_id=new_id, status=RequestStatus.RECEIVED, linked_to=request_id)


def position_of(place: str | None) -> events.Position:
    return events.Position(*map(int, place.split("."))) if place else events.BEGINNING


def _filtered(
    tenant_id: str,
    status: str | None,
    channel: str | None,
    workflow: str | None,
    external_id: str | None,
    since: datetime | None,
) -> Any:
    query = select(
        Request.id, Request.status, Request.workflow_name, Request.channel, Request.external_id,
        Request.created_at, Request.deadline_utc, Request.completed_at, Request.error, Request.uploads,
    )  # fmt: skip
    wanted = (
        (Request.tenant_id, tenant_id),
        (Request.status, status),
        (Request.channel, channel),
        (Request.workflow_name, workflow),
        (Request.external_id, external_id),
    )
    query = query.where(*(column == value for column, value in wanted if value is not None))
    return query if since is None else query.where(Request.created_at >= since)


def _cursor(row: Any) -> str:
    micros = (row.created_at - _EPOCH) // timedelta(microseconds=1)
    return f"{micros}_{row.id}"


def _behind(cursor: str) -> Any:
    """Older than the last line of the page before; of the same moment, the lower id."""
    micros, _, request_id = cursor.partition("_")
    moment = _EPOCH + timedelta(microseconds=int(micros))
    same_moment = and_(Request.created_at == moment, Request.id < UUID(request_id))
    return or_(Request.created_at < moment, same_moment)


def _summary(row: Any) -> dict[str, Any]:
    values = {name: getattr(row, name, None) for name in RequestSummary.model_fields}
    names = [upload["name"] for upload in row.uploads or ()]
    return {**values, "request_id": row.id, "file_names": names}


async def _stages(session: AsyncSession, request_id: UUID) -> list[StageProgress]:
    def times(outcome: str) -> Any:
        return func.sum(case((Event.outcome == outcome, 1), else_=0))

    query = (
        select(Event.stage, times("done"), times("dead_letter"))
        .where(Event.request_id == request_id, Event.kind == "handled", Event.stage.is_not(None))
        .group_by(Event.stage)
        .order_by(func.min(Event.id))
    )
    return [
        StageProgress(stage=stage, done=done, failed=failed)
        for stage, done, failed in await session.execute(query)
    ]
