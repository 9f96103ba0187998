"""The event `material_uploaded` as other systems send it, in either of its two shapes.

As an envelope: {event_id, event_type, event_version, timestamp, payload: {material_id, file_url, …}}.
Or flat: {event_type?, material_id, s3_key, author_id, preferred_language}.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from pydantic import ValidationError

from docproc.apps.materials.errors import MaterialError
from docproc.apps.materials.order import Order

EVENT_TYPE = "material_uploaded"
LARGEST_BYTES = 256 * 1024
# Of the uuid5 of events; any constant, as long as it stays the same.
_NAMESPACE = UUID("5b0f3f0e-6d0c-4c1b-9d43-0a6a2a6c6c15")

_SHAPES = (
    'Send {"event_id": …, "event_type": "material_uploaded", "payload": {"material_id": …, "file_url": '
    '"s3://bucket/key"}} or {"material_id": …, "s3_key": …}'
)


@dataclass(frozen=True, slots=True)
class Uploaded:
    """One event, read."""

    # The same for every copy of the event: its own id, else what it says.
    event_id: UUID
    # Of what it says, however it is written down.
    content_hash: str
    order: Order


def read(body: bytes, *, bucket: str | None = None) -> Uploaded:
    """Raises MaterialError (`bad_event`) for what can never be processed."""
    said = _object(body)
    said_type = said.get("event_type", said.get("event", EVENT_TYPE))
    if said_type != EVENT_TYPE:
        raise _bad(f"the event type is {str(said_type)[:80]!r}, and only {EVENT_TYPE!r} is taken here")
    inner = said.get("payload", said)
    if not isinstance(inner, dict):
        raise _bad("`payload` is no JSON object")
    content_hash = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    own_id = said.get("event_id")
    name = f"id:{own_id}" if own_id else f"content:{content_hash}"
    return Uploaded(uuid5(_NAMESPACE, name), content_hash, order_of(inner, bucket=bucket))


def order_of(said: dict[str, Any], *, bucket: str | None = None) -> Order:
    """What an event's own part asks for; raises MaterialError (`bad_event`)."""
    material_id = said.get("material_id")
    if material_id is None or material_id == "":
        raise _bad("`material_id` is missing")
    if isinstance(material_id, bool | float | dict | list):
        raise _bad("`material_id` must be a text or a whole number")
    try:
        return Order(
            material_id=str(material_id),
            language=said.get("preferred_language") or said.get("language"),
            title=str(said.get("title") or ""),
            school_id=str(said.get("school_id") or ""),
            teacher_id=str(said.get("teacher_id") or said.get("author_id") or ""),
            teacher_email=str(said.get("teacher_email") or said.get("author_email") or ""),
            source=_source(said, bucket),
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _bad(f"`{'.'.join(map(str, first['loc']))}`: {first['msg']}") from error


def _source(said: dict[str, Any], bucket: str | None) -> str:
    url, key = said.get("file_url") or said.get("s3_url"), said.get("s3_key")
    if isinstance(url, str) and url:
        return url
    if not isinstance(key, str) or not key:
        raise _bad("there is neither `file_url` nor `s3_key`")
    if bucket is None:
        raise MaterialError(
            "the event names an `s3_key` only, and no bucket is set",
            code="bad_event",
            remedy="Set DOCPROC_MATERIALS_BUCKET, or send `file_url` as s3://bucket/key",
        )
    return f"s3://{bucket}/{key}"


def _object(body: bytes) -> dict[str, Any]:
    if len(body) > LARGEST_BYTES:
        raise _bad(f"it has {len(body)} bytes; events have at most {LARGEST_BYTES}")
    try:
        said = json.loads(body)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise _bad(f"it is no JSON: {str(error)[:120]}") from error
    if not isinstance(said, dict):
        raise _bad("it is no JSON object")
    return said


def _bad(problem: str) -> MaterialError:
    return MaterialError(f"the event cannot be used: {problem}", code="bad_event", remedy=_SHAPES)
