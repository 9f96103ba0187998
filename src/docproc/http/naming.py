"""A submission that names its file by address: `{"url": "https://…"}` instead of a form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from docproc.app import App
from docproc.http import fields
from docproc.http.access.caller import Caller
from docproc.http.access.gate import check_tenant
from docproc.http.bodies import LARGE_BYTES
from docproc.http.callbacks.addresses import LONGEST_URL
from docproc.http.context import PLAIN_TEXT
from docproc.http.downloads import downloads_of
from docproc.http.problems import Problem
from docproc.http.reception import Accepted, reception_of

JSON_TYPE = "application/json"
_REMEDY = 'Send, for example, {"url": "https://example.com/invoice.pdf"}'


class NamedFile(BaseModel):
    """A file that is fetched; the other fields are those of the form."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(
        min_length=1,
        max_length=LONGEST_URL,
        pattern="^https?://[!-~]+$",
        description="Where the file is: http or https, no user or password, no private address",
        examples=["https://example.com/invoice.pdf"],
    )
    metadata: dict[str, Any] = Field(default_factory=dict)
    channel: str | None = Field(default=None, max_length=64, pattern=PLAIN_TEXT)
    workflow: str | None = Field(default=None, max_length=64, pattern=PLAIN_TEXT)
    external_id: str | None = Field(default=None, max_length=255, pattern=PLAIN_TEXT)
    tenant_id: str | None = Field(default=None, max_length=64, pattern=PLAIN_TEXT)
    callback_url: str | None = Field(default=None, max_length=LONGEST_URL, pattern="^(https?://[!-~]+)?$")


def is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == JSON_TYPE


async def fetch(request: Request, application: App, caller: Caller, idempotency_key: str | None) -> Accepted:
    """Raises Problem, DownloadError, and what the reception raises; nothing is kept then."""
    wanted = _read(await _body(request))
    check_tenant(caller, wanted.tenant_id)
    names = ("channel", "workflow", "external_id", "callback_url")
    plain = fields.arrival({name: getattr(wanted, name) or "" for name in names}, idempotency_key)
    arrival = replace(
        plain, metadata=fields.checked_password(wanted.metadata), tenant_id=caller.tenant_id, by=caller.by
    )
    async with downloads_of(application).opened(wanted.url) as incoming:
        return await reception_of(application).take([incoming], arrival)


async def _body(request: Request) -> bytes:
    """The endpoint takes files, too, which are larger."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > LARGE_BYTES:
            raise Problem(413, "too_large", f"the body is larger than {LARGE_BYTES // 1024} KiB", "Send less")
    return bytes(content)


def _read(body: bytes) -> NamedFile:
    said = fields.json_object(body, "the body", "invalid_body")
    try:
        return NamedFile.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        raise Problem(422, "invalid_field", f"{where}: {first['msg']}", _REMEDY) from error
