"""Services over HTTP: which there are and how they do, and the way in for those that come over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import case, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import App
from docproc.apps.orchestrator.calls import adopting
from docproc.apps.orchestrator.envelope import reading as envelopes
from docproc.apps.orchestrator.envelope.errors import EnvelopeError
from docproc.apps.orchestrator.envelope.models import LARGEST_BYTES, Envelope
from docproc.apps.orchestrator.http.documents import reply_schema
from docproc.apps.orchestrator.http.models import ServiceInfo, ServiceList
from docproc.apps.orchestrator.http.tasks import refused
from docproc.apps.orchestrator.resilience.breaker import BreakerState
from docproc.apps.orchestrator.resilience.breakers import Known, known_of
from docproc.apps.orchestrator.resilience.calls import PRIMARY, SECONDARY
from docproc.apps.orchestrator.resilience.policies import policy_of
from docproc.apps.orchestrator.resilience.tables import BreakerRow
from docproc.apps.orchestrator.services.catalogue import Service, catalogue_of
from docproc.apps.orchestrator.services.wires.sql import SqlPort
from docproc.apps.orchestrator.tables import Call, CallState
from docproc.engine.message import utc_now
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.bodies import takes
from docproc.http.context import PLAIN_TEXT, Application
from docproc.http.problems import Problem, documented

router = APIRouter(prefix="/api/v1", tags=["orchestrator"])

# Over how long calls are counted.
WINDOW = timedelta(minutes=5)
ServiceName = Annotated[
    str,
    Field(description="A service of GET /api/v1/services", min_length=1, max_length=64, pattern=PLAIN_TEXT),
]


class Take(BaseModel):
    """Which envelopes a service process wants."""

    model_config = ConfigDict(extra="forbid")

    service: ServiceName
    # Told apart by it: what one process took, another does not get while it renews it.
    consumer: str = Field(min_length=1, max_length=64, pattern=PLAIN_TEXT)
    limit: int = Field(default=1, ge=1, le=100)
    wait_seconds: float = Field(default=0.0, ge=0, le=30, description="How long to wait for the first one")


class TakenEnvelopes(BaseModel):
    envelopes: list[dict[str, Any]]
    lease_seconds: float = Field(description="Renew, or answer, before that is over")


class Renew(BaseModel):
    """Envelopes that a service process still works on."""

    model_config = ConfigDict(extra="forbid")

    service: ServiceName
    consumer: str = Field(min_length=1, max_length=64, pattern=PLAIN_TEXT)
    call_ids: list[UUID] = Field(min_length=1, max_length=100)


@router.get("/services", summary="The services and how they do", response_model=ServiceList)
@needs(Scope.READ)
async def listed(application: Application, caller: TheCaller) -> ServiceList:
    """Calls of the caller's own tenant."""
    async with application.store.reading() as session:
        counts = await _counts(session, caller.tenant_id)
        breakers = [known_of(row) for row in await session.scalars(select(BreakerRow))]
    services = catalogue_of(application.settings).services.values()
    return ServiceList(services=[_info(one, counts.get(one.name), breakers) for one in services])


async def _counts(session: AsyncSession, tenant_id: str) -> dict[str, Any]:
    def times(*states: CallState) -> Any:
        return func.sum(case((Call.state.in_([state.value for state in states]), 1), else_=0))

    recent = (Call.ended_at >= utc_now() - WINDOW) | (Call.state == CallState.OPEN.value)
    query = (
        select(
            Call.service,
            times(CallState.OPEN).label("open"),
            times(CallState.COMPLETED).label("done"),
            times(CallState.FAILED).label("failed"),
        )
        .where(Call.tenant_id == tenant_id, recent)
        .group_by(Call.service)
    )
    return {row.service: row for row in await session.execute(query)}


def _info(service: Service, counts: Any, breakers: Sequence[Known]) -> ServiceInfo:
    states = {one.endpoint: one.breaker.state for one in breakers if one.service == service.name}
    first = states.get(PRIMARY, BreakerState.CLOSED)
    done, failed = (counts.done, counts.failed) if counts else (0, 0)
    ended = done + failed
    return ServiceInfo(
        name=service.name,
        title=service.title or service.name,
        queue=service.queue,
        integrations=[str(one) for one in service.integrations],
        answers=service.answers,
        priority=service.priority,
        criticality=str(service.criticality),
        takes=list(service.takes),
        secondary=list(service.secondary),
        open_calls=counts.open if counts else 0,
        calls=ended,
        failed=failed,
        availability=done / ended if ended else None,
        health=_health(service, first, states.get(SECONDARY, BreakerState.CLOSED)),
        breaker=first.value,
    )


def _health(service: Service, first: BreakerState, second: BreakerState) -> Literal["up", "standby", "down"]:
    if first is BreakerState.CLOSED:
        return "up"
    return "standby" if policy_of(service).has_second and second is BreakerState.CLOSED else "down"


@router.post(
    "/services/take",
    summary="Take envelopes, as a service",
    response_model=TakenEnvelopes,
    responses=documented(400, 403, 404, 408, 413, 422, 503),
)
@needs(Scope.ADMIN)
async def take(application: Application, caller: TheCaller, wanted: Take) -> TakenEnvelopes:
    """Of the caller's tenant. One that is neither answered nor renewed is given to others."""
    queue = _queue(application, wanted.service)
    port = _port(application, caller.tenant_id, wanted.service, wanted.consumer)
    taken = await port.take([queue], wanted.limit, wanted.wait_seconds)
    found = [Envelope.model_validate_json(one.body).as_dict() for one in taken]
    return TakenEnvelopes(envelopes=found, lease_seconds=port.lease_seconds)


@router.post(
    "/services/renew",
    status_code=204,
    summary="Go on working on envelopes, as a service",
    response_class=Response,
    responses=documented(400, 403, 404, 408, 413, 422, 503),
)
@needs(Scope.ADMIN)
async def renew(application: Application, caller: TheCaller, wanted: Renew) -> Response:
    _queue(application, wanted.service)
    port = _port(application, caller.tenant_id, wanted.service, wanted.consumer)
    await port.renew_calls(wanted.call_ids)
    return Response(status_code=204)


@router.post(
    "/services/replies",
    status_code=204,
    summary="Answer an envelope, as a service",
    response_class=Response,
    responses=documented(400, 403, 408, 413, 422, 503),
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/json": {"schema": reply_schema()}}}
    },
)
@takes(LARGEST_BYTES + 256 * 1024)
@needs(Scope.ADMIN)
async def reply(request: Request, application: Application, caller: TheCaller) -> Response:
    """An envelope that answers one. When this returns, it is kept."""
    body = await request.body()
    try:
        envelopes.parsed(body)
        async with application.store.writing() as session:
            adopted = await adopting.adopt(session, [body], caller.tenant_id)
        for error in adopted.refused.values():
            raise error
    except EnvelopeError as error:
        return refused(error)
    if adopted.has_news:
        await tell(application)
    return Response(status_code=204)


async def tell(application: App) -> None:
    """There are answers: whoever handles them is woken."""
    if application.transport.has_broker:
        application.relay.nudge()
    else:
        await application.transport.announce([adopting.QUEUE])


def _queue(application: App, service: str) -> str:
    known = catalogue_of(application.settings).find(service)
    if known is None:
        raise Problem(404, "unknown_service", "there is no such service", "See GET /api/v1/services")
    return known.queue


def _port(application: App, tenant_id: str, service: str, consumer: str) -> SqlPort:
    return SqlPort(application.store, tenant_id=tenant_id, name=f"http {service} {consumer}")
