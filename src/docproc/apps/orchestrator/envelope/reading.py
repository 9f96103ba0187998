"""Reading a message: decoded, brought to the current version, filled in, put into normal form, checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from pydantic import ValidationError

from docproc.apps.orchestrator.envelope import kinds
from docproc.apps.orchestrator.envelope.errors import Code, EnvelopeError, Violation, from_pydantic, refuse
from docproc.apps.orchestrator.envelope.models import (
    CURRENT_VERSION,
    IMMUTABLE,
    LARGEST_BYTES,
    Envelope,
    Status,
)
from docproc.apps.orchestrator.envelope.versions import upgraded
from docproc.engine.message import utc_now

ORCHESTRATOR = "agent-orchestrator"


def decoded(body: bytes) -> dict[str, Any]:
    """A message as an object. Raises EnvelopeError."""
    if len(body) > LARGEST_BYTES:
        raise refuse(
            Code.TOO_LARGE,
            "(whole message)",
            f"{len(body)} bytes are more than the {LARGEST_BYTES} of a message",
            "Send large content as a file, and its address in the payload",
        )
    try:
        said = json.loads(body)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise refuse(
            Code.JSON, "(whole message)", f"not readable as JSON: {error}", "Send a JSON object"
        ) from error
    if not isinstance(said, dict):
        raise refuse(Code.JSON, "(whole message)", "not a JSON object", "Send a JSON object")
    return said


def complete(said: Mapping[str, Any], *, tenant_id: str, target: str | None = None) -> Envelope:
    """A client's message with what it left out filled in. Raises EnvelopeError with all that is wrong.

    `target` is who the type leads to where the message names nobody.
    """
    message = upgraded(dict(said))
    domain, action = _type_of(message)
    filled = {
        "schema_version": CURRENT_VERSION,
        "message_id": str(uuid4()),
        "task_id": str(uuid4()),
        "tenant_id": tenant_id,
        "session_id": f"session-{uuid4()}",
        "correlation_id": str(uuid4()),
        "created_at": utc_now().isoformat(),
        "status": Status.PENDING.value,
        "priority": kinds.typical_priority(domain, action),
        "source_service": "client",
        "target_service": target or ORCHESTRATOR,
        "payload": {},
    }
    given = {name: value for name, value in message.items() if value is not None}
    return checked({**filled, **given})


def checked(message: Mapping[str, Any]) -> Envelope:
    """A complete message as a model. Raises EnvelopeError."""
    try:
        return Envelope.model_validate(message)
    except ValidationError as error:
        raise from_pydantic(error) from error


def parsed(body: bytes) -> Envelope:
    """A complete message from the wire, of any accepted version. Raises EnvelopeError."""
    return checked(upgraded(decoded(body)))


def check_unchanged(before: Mapping[str, Any], after: Envelope) -> None:
    """Nobody changes what identifies the work, compared to the message as it was written (`as_dict`). Raises
    EnvelopeError."""
    changed = [name for name in IMMUTABLE if before.get(name) != _plain(getattr(after, name))]
    if changed:
        raise EnvelopeError(
            [
                Violation(
                    Code.IMMUTABLE,
                    name,
                    f"it was {before.get(name)} and must stay so",
                    "Copy it from the message that is answered",
                )
                for name in changed
            ]
        )


def _plain(value: Any) -> str | None:
    return None if value is None else str(value)


def _type_of(message: Mapping[str, Any]) -> tuple[str, str]:
    """As far as it can be told before it is checked."""
    said = message.get("type")
    if not isinstance(said, Mapping):
        return "", ""
    return str(said.get("domain", "")).strip().lower(), str(said.get("action", "")).strip().lower()
