"""POST /materials: a PDF, or where it lies, becomes a request; GET /materials/{id}: what was made of it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import structlog
from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, Field
from python_multipart.multipart import parse_options_header

from docproc.app import App
from docproc.apps.materials.content.stored import AssessmentDocument, SummaryDocument
from docproc.apps.materials.errors import MaterialError
from docproc.apps.materials.events import LARGEST_BYTES, order_of
from docproc.apps.materials.order import PAYLOAD_KEY, WORKFLOW, Order
from docproc.apps.materials.settings import MaterialsSettings
from docproc.apps.materials.source import address
from docproc.apps.materials.store import Kind, MaterialStore
from docproc.apps.materials.stores.choosing import open_store
from docproc.errors import TooLargeError
from docproc.http import fields as form_fields
from docproc.http.access.caller import Caller, TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.bodies import takes
from docproc.http.context import PLAIN_TEXT, Application
from docproc.http.following import TheHub
from docproc.http.models import Answered, Received
from docproc.http.problems import Problem, documented
from docproc.http.reception import Accepted, Arrival, Upload, reception_of
from docproc.http.submitting import IdempotencyKey, received
from docproc.http.uploads import FORM_TYPE, MultipartStream, Part
from docproc.http.waiting import Wait

log = structlog.get_logger(__name__)
router = APIRouter(tags=["materials"])

_JSON_TYPE = "application/json"
_FORM_SLACK_BYTES = 1024 * 1024
_SEND = "Send it as: curl -F file=@material.pdf …/materials, or name it in JSON as file_url"
_FIELDS = ("material_id", "preferred_language", "title", "school_id", "teacher_id", "teacher_email")

_TEXT: dict[str, Any] = {"type": "string", "maxLength": 200}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_ID: dict[str, Any] = {"type": "string", "maxLength": 200, "pattern": "^[!-~]([ -~]*[!-~])?$"}
_COMMON: dict[str, Any] = {
    "preferred_language": {
        "type": "string",
        "pattern": "^([A-Za-z]{2}(-[A-Za-z0-9]{2,8})?)?$",
        "description": "What to write in, such as es or en",
        "example": "es",
    },
    "title": {**_TEXT, "description": "What the material is called"},
    "school_id": _TEXT,
    "teacher_id": _TEXT,
    "teacher_email": {**_TEXT, "description": "Who is told when it is done, where mails are set up"},
}
_FORM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "file": {"type": "string", "format": "binary", "description": "The PDF", "minLength": 1},
        # Empty as a browser sends a field that nobody filled in.
        "material_id": {
            **_ID,
            "pattern": "^([!-~]([ -~]*[!-~])?)?$",
            "description": "Your own id of it; without one, the request's",
        },
        **_COMMON,
    },
}
_JSON_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["material_id", "file_url"],
    "properties": {
        "material_id": {**_ID, "example": "mat-1"},
        "file_url": {
            "type": "string",
            "maxLength": 1000,
            "pattern": "^s3://[a-z0-9][a-z0-9-]{1,61}[a-z0-9](/[A-Za-z0-9_-]+)+(\\.pdf)?$",
            "description": "Or `s3_key`, where DOCPROC_MATERIALS_BUCKET names the bucket",
            "example": "s3://school/mat-1.pdf",
        },
        **_COMMON,
    },
}


@router.post(
    "/materials",
    summary="Send a PDF for a summary and a quiz",
    response_model=Answered | Received,
    response_description="On its way; of a repeated submission, the first request and its status",
    responses=documented(400, 403, 404, 408, 409, 413, 415, 422, 429, 503, 507),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {FORM_TYPE: {"schema": _FORM_SCHEMA}, _JSON_TYPE: {"schema": _JSON_SCHEMA}},
        }
    },
)
@takes(lambda app: _largest(app.state.application), is_streamed=True)
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
    """The file itself in a form, or its place in S3 in JSON, as an event would say it."""
    form_fields.arrival({}, idempotency_key)  # before the body: a client that waits for a word is spared it
    kind, _ = parse_options_header(request.headers.get("content-type", ""))
    receiving = Receiving(application, caller, idempotency_key)
    if kind == _JSON_TYPE.encode():
        order = _named(application, await _body(request))
        accepted = await receiving.submit(order)
    elif kind == FORM_TYPE.encode():
        stream = MultipartStream(request.headers["content-type"], request.stream())
        try:
            async for part in stream.parts():
                await receiving.take(part)
            accepted = await receiving.submit(receiving.order())
        except (Problem, TooLargeError):
            await receiving.discard()
            await stream.drain()
            raise
        except BaseException:  # cancelled, too: what nobody asks for is not kept
            await receiving.discard()
            raise
    else:
        raise Problem(415, "unsupported_type", f"the body must be {FORM_TYPE} or {_JSON_TYPE}", _SEND)
    return await received(application, accepted, request, response, hub, wait)


class Material(BaseModel):
    """What was made of a material."""

    summary: SummaryDocument
    assessment: AssessmentDocument
    versions: list[int] = Field(description="Of the quiz: those that can be asked for")


@router.get(
    "/materials/{material_id}",
    summary="The summary and the quiz of a material",
    response_model=Material,
    responses=documented(403, 404, 503),
)
@needs(Scope.READ)
async def read(
    application: Application,
    caller: TheCaller,
    material_id: str = Path(max_length=200, pattern=PLAIN_TEXT, description="As its event called it"),
) -> Material:
    """As they are stored now."""
    store = documents_of(application)
    found = {kind: await store.get(kind, caller.tenant_id, material_id) for kind in Kind}
    if any(document is None for document in found.values()):
        raise Problem(404, "unknown_material", f"there is no material {material_id!r}", "Check the id")
    return Material(
        summary=SummaryDocument.model_validate(found[Kind.SUMMARY]),
        assessment=AssessmentDocument.model_validate(found[Kind.ASSESSMENT]),
        versions=await store.versions(Kind.ASSESSMENT, caller.tenant_id, material_id),
    )


def documents_of(application: App) -> MaterialStore:
    """The documents' store of a process, made once."""
    return application.shared(_open_documents)


def _open_documents(application: App) -> MaterialStore:
    return open_store(application.settings, application.store)


def _largest(application: App) -> int:
    return application.settings.section(MaterialsSettings).max_bytes + _FORM_SLACK_BYTES


async def _body(request: Request) -> bytes:
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > LARGEST_BYTES:
            raise Problem(413, "too_large", f"the body is larger than {LARGEST_BYTES} bytes", _SEND)
    return bytes(content)


def _named(application: App, body: bytes) -> Order:
    """A material that lies in S3; what is wrong with its address is told now, not later."""
    said = _as_documented(form_fields.json_object(body, "the body", "invalid_body"), _JSON_SCHEMA)
    materials = application.settings.section(MaterialsSettings)
    try:
        order = order_of(said, bucket=materials.materials_bucket)
        address.parse(order.source, endpoint=materials.materials_s3_endpoint)
    except MaterialError as error:
        raise Problem(422, "invalid_field", str(error.args[0]), error.remedy) from error
    return order


def _as_documented(said: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The texts of a submission are what the OpenAPI document says; events are taken more loosely. Control
    characters, as a title copied from a document may have them, become spaces."""
    checked = dict(said)
    for name in {"material_id", *_COMMON} & said.keys():
        value, wanted = said[name], schema["properties"][name]
        most, pattern = wanted.get("maxLength", 200), wanted.get("pattern", "(?s).*")
        if not isinstance(value, str) or len(value) > most or not re.fullmatch(pattern, value):
            told = f"`{name}` must be a text of at most {most} characters"
            like = f" like {pattern}" if "pattern" in wanted else ""
            raise Problem(422, "invalid_field", told + like, "Correct the field")
        checked[name] = _CONTROL.sub(" ", value)
    return checked


@dataclass
class Receiving:
    """A material on its way in."""

    application: App
    caller: Caller
    idempotency_key: str | None
    fields: dict[str, str] = field(default_factory=dict)
    upload: Upload | None = None

    def __post_init__(self) -> None:
        self.reception = reception_of(self.application)
        self.request_id: UUID = self.reception.new_request_id()
        self.limit = self.application.settings.section(MaterialsSettings).max_bytes

    async def take(self, part: Part) -> None:
        if part.name == "file" and part.filename is not None:
            await self._take_file(part, part.filename)
        elif part.name == "file":
            raise Problem(422, "missing_file", "`file` came as text, not as a file", _SEND)
        elif part.name in self.fields:
            raise Problem(422, "invalid_field", f"the field {part.name!r} came twice", "Send it once")
        elif part.name in _FIELDS:
            self.fields[part.name] = await part.text(form_fields.FIELD_BYTES)
        else:
            await part.text(form_fields.FIELD_BYTES)  # not ours

    async def _take_file(self, part: Part, name: str) -> None:
        if self.upload is not None:
            raise Problem(422, "invalid_field", "two files came", "Send each PDF by itself")
        self.upload = await self.reception.store_file(
            self.request_id, 0, name, self._measured(part.chunks()), self.caller.tenant_id
        )
        if self.upload.size == 0:
            raise Problem(
                400, "empty_file", f"the file {self.upload.name!r} is empty", "Send one with content"
            )

    async def _measured(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in chunks:
            size += len(chunk)
            if size > self.limit:
                raise TooLargeError(
                    f"the file is larger than {self.limit / 1024**2:g} MB",
                    remedy="Split it, or raise DOCPROC_MATERIALS_MAX_MB",
                )
            yield chunk

    def order(self) -> Order:
        """Of a form."""
        if self.upload is None:
            raise Problem(422, "missing_file", "there is no file", _SEND)
        said = {"material_id": str(self.request_id), "title": _stem(self.upload.name)}
        fields = _as_documented(self.fields, _FORM_SCHEMA)
        said |= {name: value for name, value in fields.items() if value}
        try:
            return order_of({**said, "file_url": "upload:"}).model_copy(update={"source": ""})
        except MaterialError as error:
            raise Problem(422, "invalid_field", str(error.args[0]), "Correct the field") from error

    async def submit(self, order: Order) -> Accepted:
        is_new = order.material_id == str(self.request_id)
        arrival = Arrival(
            workflow=WORKFLOW,
            external_id=None if is_new else order.material_id,
            metadata={"title": order.title} | ({} if is_new else {"material_id": order.material_id}),
            # Without an id that was made here: what is sent again must say the same.
            payload={PAYLOAD_KEY: order.model_dump(mode="json", exclude={"material_id"} if is_new else None)},
            idempotency_key=self.idempotency_key,
            tenant_id=self.caller.tenant_id,
            by=self.caller.by,
        )
        uploads = [self.upload] if self.upload else []
        accepted = await self.reception.submit(self.request_id, uploads, arrival)
        log.info(
            "material_received",
            request_id=str(accepted.request_id),
            tenant_id=self.caller.tenant_id,
            material_id=order.material_id,
            source="upload" if self.upload else "s3",
            repeated=not accepted.is_new,
        )
        return accepted

    async def discard(self) -> None:
        await self.reception.discard(self.request_id)


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name
