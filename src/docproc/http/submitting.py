"""`POST /requests`: a request that is data, for applications whose requests are no files."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from docproc.app import App
from docproc.engine.store.tables import RequestStatus
from docproc.http import fields
from docproc.http.access.caller import TheCaller
from docproc.http.access.gate import check_tenant
from docproc.http.access.scopes import Scope, needs
from docproc.http.bodies import LARGE_BYTES, takes
from docproc.http.context import PLAIN_TEXT, Application
from docproc.http.following import Hub, TheHub
from docproc.http.models import Answered, Received
from docproc.http.problems import Problem, documented
from docproc.http.reception import Accepted, Arrival, reception_of
from docproc.http.views import shapes_of
from docproc.http.waiting import Wait, status_after

router = APIRouter(tags=["requests"])

REPLAY = "Idempotent-Replay"
BODY_BYTES = LARGE_BYTES  # what is larger is a file
IdempotencyKey = Annotated[
    str | None,
    Header(
        description="The client's own key for this submission: repeated, it finds the first request",
        max_length=fields.LONGEST_KEY,
        examples=["order-7731"],
    ),
]


class NewRequest(BaseModel):
    """What is wanted."""

    model_config = ConfigDict(extra="forbid")

    workflow: str = Field(min_length=1, max_length=64, pattern=PLAIN_TEXT, examples=["parcels"])
    payload: dict[str, Any] = Field(default_factory=dict, description="What its first stage is given")
    priority: int = Field(default=5, ge=0, le=9, description="9 is most urgent")
    channel: str = Field(default="api", min_length=1, max_length=64, pattern=PLAIN_TEXT)
    external_id: str | None = Field(
        default=None, max_length=255, pattern=PLAIN_TEXT, description="The client's own reference"
    )
    metadata: dict[str, Any] = Field(default_factory=dict)
    tenant_id: str | None = Field(
        default=None, max_length=64, pattern=PLAIN_TEXT, description="Whose it is; no other than the key says"
    )
    callback_url: str | None = Field(
        default=None,
        max_length=fields.LONGEST["callback_url"],
        pattern="^(https?://[!-~]+)?$",
        description="Where answers are sent",
    )


@router.post(
    "/requests",
    summary="Submit a request without files",
    response_model=Answered | Received,
    responses=documented(400, 403, 404, 408, 409, 413, 422, 429, 503),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": NewRequest.model_json_schema()}},
        }
    },
)
@takes(BODY_BYTES)
@needs(Scope.SUBMIT)
async def submit(
    request: Request,
    response: Response,
    application: Application,
    caller: TheCaller,
    hub: TheHub,
    idempotency_key: IdempotencyKey = None,
    wait: Wait = 0,
) -> Any:
    """With files, an application has endpoints of its own, as documents have `POST /process`."""
    wanted = _read(await request.body())
    check_tenant(caller, wanted.tenant_id)
    texts = {"workflow": wanted.workflow, "channel": wanted.channel, "external_id": wanted.external_id or ""}
    plain = fields.arrival({**texts, "callback_url": wanted.callback_url or ""}, idempotency_key)
    arrival = Arrival(
        workflow=plain.workflow,
        channel=plain.channel,
        external_id=plain.external_id,
        metadata=fields.checked_password(wanted.metadata),
        payload=wanted.payload,
        priority=wanted.priority,
        idempotency_key=plain.idempotency_key,
        callback_url=plain.callback_url,
        tenant_id=caller.tenant_id,
        by=caller.by,
    )
    reception = reception_of(application)
    accepted = await reception.submit(reception.new_request_id(), (), arrival)
    return await received(application, accepted, request, response, hub, wait)


async def received(
    application: App, accepted: Accepted, http: Request, response: Response, hub: Hub, wait: float
) -> Any:
    """What the client of a submission is told: a `Received`, or with `wait` what became of it by then.

    One that was sent before says so in a header.
    """
    response.headers["Location"] = f"{http.scope.get('root_path', '')}/status/{accepted.request_id}"
    if wait:
        if not accepted.is_new:
            response.headers[REPLAY] = "true"
        said = await status_after(application, hub, http, accepted.request_id, wait)
        shape = shapes_of(application).status
        return JSONResponse(jsonable_encoder(shape.model_validate(said)), headers=dict(response.headers))
    if accepted.is_new:
        return Received(
            request_id=accepted.request_id,
            status=RequestStatus.RECEIVED,
            expected_completion=accepted.expected.completion,
            deadline_at_risk=accepted.expected.is_at_risk,
        )
    response.headers[REPLAY] = "true"
    known = await reception_of(application).find(accepted.request_id)
    return Received(request_id=known.id, status=known.status)


def _read(body: bytes) -> NewRequest:
    said = fields.json_object(body, "the body", "invalid_body")
    try:
        return NewRequest.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        remedy = 'Send, for example, {"workflow": "parcels", "payload": {…}}'
        raise Problem(422, "invalid_field", f"{where}: {first['msg']}", remedy) from error
