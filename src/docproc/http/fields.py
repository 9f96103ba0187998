"""The text fields of a submission: what came with the files, checked before anything is stored."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

import orjson

from docproc.http import depth
from docproc.http.callbacks.addresses import LONGEST_URL
from docproc.http.problems import Problem
from docproc.http.reception import PASSWORD, Arrival

# The columns' sizes; `metadata` is the client's own and only must not be endless.
LONGEST = {"channel": 64, "workflow": 64, "external_id": 255, "callback_url": LONGEST_URL}
METADATA_BYTES = 1024 * 1024
FIELD_BYTES = 4096
LONGEST_KEY = 255


def arrival(fields: Mapping[str, str], idempotency_key: str | None = None) -> Arrival:
    """What the fields say; empty ones count as absent, unknown ones are ignored. Raises Problem."""
    texts = {name: _plain(name, fields[name], size) for name, size in LONGEST.items() if fields.get(name)}
    return Arrival(
        workflow=texts.get("workflow"),
        channel=texts.get("channel", "api"),
        external_id=texts.get("external_id"),
        metadata=metadata(fields.get("metadata") or "{}"),
        callback_url=texts.get("callback_url"),
        idempotency_key=_plain("Idempotency-Key", idempotency_key, LONGEST_KEY) if idempotency_key else None,
    )


def metadata(text: str) -> dict[str, Any]:
    return checked_password(json_object(text, "metadata", "invalid_metadata"))


def checked_password(metadata: dict[str, Any]) -> dict[str, Any]:
    """A number would fail where the file is opened, long after its client has gone."""
    if not isinstance(metadata.get(PASSWORD, ""), str):
        remedy = f'Send it in quotes: {{"{PASSWORD}": "1234"}}'
        raise Problem(422, "invalid_metadata", f"metadata.{PASSWORD} is not text", remedy)
    return metadata


def json_object(text: str | bytes, what: str, code: str) -> dict[str, Any]:
    """A JSON object that every database can keep; `code` is the problem's where it is none."""
    try:
        orjson.loads(text)  # strict: no NaN, no half characters, no numbers beyond measure
        depth.check(text, what, code)
        value = json.loads(text)  # exact: integers of any size
    except ValueError as error:
        if depth.is_closed(text):  # else it ends in the middle, however deep that is
            depth.check(text, what, code)
        raise Problem(400, code, f"{what} is not JSON: {error}", "Send a JSON object") from error
    if not isinstance(value, dict):
        raise Problem(400, code, f"{what} is JSON, but not an object", "Send it as {…}")
    _check_json(value, what, code)
    return value


def _check_json(value: Any, what: str, code: str) -> None:
    if isinstance(value, str):
        if "\0" in value:
            raise Problem(422, code, f"{what} contains a NUL character", "Leave it out")
    elif isinstance(value, dict):
        for name, part in value.items():
            _check_json(name, what, code)
            _check_json(part, what, code)
    elif isinstance(value, list):
        for part in value:
            _check_json(part, what, code)


def _plain(name: str, text: str, longest: int) -> str:
    if len(text) > longest:
        raise Problem(422, "invalid_field", f"{name} is longer than {longest} characters", "Shorten it")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise Problem(422, "invalid_field", f"{name} contains control characters", "Leave them out")
    return text
