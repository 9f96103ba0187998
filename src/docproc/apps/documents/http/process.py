"""POST /process: files go straight to the blob store while they arrive; then one request stands for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from python_multipart.multipart import parse_options_header

from docproc.app import App
from docproc.errors import CallbackError, TooLargeError
from docproc.http import fields as form_fields
from docproc.http.access.caller import Caller, TheCaller
from docproc.http.access.gate import check_tenant
from docproc.http.access.scopes import Scope, needs
from docproc.http.bodies import takes
from docproc.http.context import PLAIN_TEXT, Application
from docproc.http.following import TheHub
from docproc.http.models import Answered, Received
from docproc.http.naming import NamedFile, fetch, is_json
from docproc.http.problems import Problem, documented
from docproc.http.reception import Accepted as Admitted
from docproc.http.reception import Arrival, Upload, reception_of, tell_received
from docproc.http.submitting import IdempotencyKey, received
from docproc.http.uploads import FORM_TYPE, MultipartStream, Part
from docproc.http.waiting import Wait
from docproc.settings import Settings

router = APIRouter(tags=["intake"])

# What a form may weigh besides its files.
_FORM_SLACK_BYTES = 4 * 1024 * 1024
_SEND_FILE = "Send it as: curl -F file=@document.pdf …/process"

FORM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "file": {
            "type": "string",
            "format": "binary",
            "description": "The file (PDF, TIFF, image, ZIP, mail, office document …). May be repeated: all "
            "files of one request",
            "minLength": 1,
        },
        "metadata": {
            "type": "object",
            "description": "Anything of the client's own, as a JSON object in text",
            "default": {},
            "example": {"customer": "ACME"},
        },
        "channel": {
            "type": ["string", "null"], "default": "api", "maxLength": 64, "pattern": PLAIN_TEXT,
            "description": "Where it came from",
        },
        "workflow": {
            "type": ["string", "null"], "maxLength": 64, "pattern": PLAIN_TEXT,
            "description": "A workflow's name; without it, the first whose `accepts` fits, else `default`",
        },
        "external_id": {
            "type": ["string", "null"], "maxLength": 255, "pattern": PLAIN_TEXT,
            "description": "The client's own reference. The same content with the same reference and channel "
            "is the same request",
        },
        "tenant_id": {
            "type": ["string", "null"], "maxLength": 64, "pattern": PLAIN_TEXT,
            "description": "Whose it is; no other than the key says",
        },
        "callback_url": {
            "type": "string", "maxLength": form_fields.LONGEST["callback_url"],
            "pattern": "^(https?://[!-~]+)?$",
            "description": "Where every version of the answer is sent, signed: http or https, no user or "
            "password, no private address",
            "example": "https://example.com/answers",
        },
    },
}  # fmt: skip


@router.post(
    "/process",
    summary="Send files for processing",
    response_model=Answered | Received,
    response_description="Stored and on its way; of a repeated submission, the first request and its status",
    responses={
        200: {
            "headers": {
                "Idempotent-Replay": {
                    "description": "`true` when this submission came before",
                    "schema": {"type": "string", "enum": ["true"]},
                    "required": False,
                },
                "Location": {"description": "Where its status is", "schema": {"type": "string"}},
            }
        },
        **documented(400, 403, 404, 408, 409, 413, 415, 422, 429, 503, 507),
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                FORM_TYPE: {
                    "schema": FORM_SCHEMA,
                    "encoding": {"metadata": {"contentType": "application/json"}},
                },
                "application/json": {"schema": NamedFile.model_json_schema()},
            },
        }
    },
)
@takes(lambda app: _largest(app.state.application.settings), is_streamed=True)
@needs(Scope.SUBMIT)
async def process(
    request: Request,
    response: Response,
    application: Application,
    caller: TheCaller,
    hub: TheHub,
    idempotency_key: IdempotencyKey = None,
    wait: Wait = 0,
) -> Any:
    """With `wait`, the answer is the request's status, as soon as there is a result or that time is over.

    Instead of a form, a JSON object may name the `url` of a file on the public internet, which is fetched.
    """
    form_fields.arrival({}, idempotency_key)  # before the body: a client that waits for a word is spared it
    if is_json(request):
        fetched = await fetch(request, application, caller, idempotency_key)
        return await received(application, fetched, request, response, hub, wait)
    limit = int(application.settings.max_upload_mb * 1024 * 1024)
    stream = _opened(request, limit)
    request_id = reception_of(application).new_request_id()
    receiving = Receiving(application, caller, request_id, limit, idempotency_key)
    try:
        async for part in stream.parts():
            await receiving.take(part)
        accepted = await receiving.submit()
    except (Problem, TooLargeError, CallbackError):
        await receiving.discard()
        await stream.drain()
        raise
    except BaseException:  # cancelled, too: what nobody asks for is not kept
        await receiving.discard()
        raise
    return await received(application, accepted, request, response, hub, wait)


def _largest(settings: Settings) -> int:
    """Of the whole body, whatever stands before, between and after its parts."""
    return int(settings.max_upload_mb * 1024 * 1024) + _FORM_SLACK_BYTES


def _opened(request: Request, limit: int) -> MultipartStream:
    content_type = request.headers.get("content-type", "")
    kind, _ = parse_options_header(content_type)
    if kind in (b"", b"application/x-www-form-urlencoded"):  # what clients send who forgot the file
        raise Problem(422, "missing_file", "there is no file", _SEND_FILE)
    if kind.decode("latin-1") != FORM_TYPE:
        raise Problem(415, "unsupported_type", f"the body must be {FORM_TYPE}", _SEND_FILE)
    if int(request.headers.get("content-length") or 0) > limit + _FORM_SLACK_BYTES:
        raise _too_large(limit)
    return MultipartStream(content_type, request.stream())


def _too_large(limit: int) -> TooLargeError:
    return TooLargeError(
        f"the upload is larger than {limit / 1024**2:g} MB",
        remedy="Send it in parts, or raise DOCPROC_MAX_UPLOAD_MB",
    )


@dataclass
class Receiving:
    """A submission on its way in."""

    application: App
    caller: Caller
    request_id: UUID
    limit: int
    idempotency_key: str | None
    fields: dict[str, str] = field(default_factory=dict)
    uploads: list[Upload] = field(default_factory=list)
    size: int = 0

    async def take(self, part: Part) -> None:
        if part.name == "file" and part.filename is not None:
            await self._take_file(part, part.filename)
        elif part.name == "file":
            raise Problem(422, "missing_file", "`file` came as text, not as a file", _SEND_FILE)
        elif part.name in self.fields:
            raise Problem(422, "invalid_field", f"the field {part.name!r} came twice", "Send it once")
        elif part.name in (*form_fields.LONGEST, "metadata"):
            is_metadata = part.name == "metadata"
            self.fields[part.name] = await part.text(
                form_fields.METADATA_BYTES if is_metadata else form_fields.FIELD_BYTES
            )
        elif part.name == "tenant_id" and part.filename is None:
            check_tenant(self.caller, await part.text(form_fields.FIELD_BYTES))
        elif part.filename is not None:
            said = f"the file came as {part.name[:80]!r}"
            raise Problem(422, "missing_file", said, "Send it in a field called `file`")
        else:
            await part.text(form_fields.FIELD_BYTES)  # not ours

    async def _take_file(self, part: Part, name: str) -> None:
        arrival = await self._arrival()  # what came before the file is checked before the file is taken
        reception = reception_of(self.application)
        upload = await reception.store_file(
            self.request_id, len(self.uploads), name, self._measured(part.chunks()), arrival.tenant_id
        )
        if upload.size == 0 and not name:  # a browser's form in which no file was chosen
            raise Problem(422, "missing_file", "there is no file", _SEND_FILE)
        if upload.size == 0:
            raise Problem(400, "empty_file", f"the file {upload.name!r} is empty", "Send one with content")
        self.uploads.append(upload)

    async def _measured(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            self.size += len(chunk)
            if self.size > self.limit:
                raise _too_large(self.limit)
            yield chunk

    async def _arrival(self) -> Arrival:
        plain = form_fields.arrival(self.fields, self.idempotency_key)
        arrival = replace(plain, tenant_id=self.caller.tenant_id, by=self.caller.by)
        await reception_of(self.application).callback_url(arrival)
        if arrival.workflow is not None:
            loader = self.application.loader.of(arrival.tenant_id)
            await asyncio.to_thread(loader.plan, arrival.workflow)
        return arrival

    async def submit(self) -> Admitted:
        arrival = await self._arrival()
        if not self.uploads:
            raise Problem(422, "missing_file", "there is no file", _SEND_FILE)
        accepted = await reception_of(self.application).submit(self.request_id, self.uploads, arrival)
        tell_received(accepted, arrival, self.uploads)
        return accepted

    async def discard(self) -> None:
        await reception_of(self.application).discard(self.request_id)
