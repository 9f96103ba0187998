"""Versions of the schema, accepted side by side: an older message is brought to the current form first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from docproc.apps.orchestrator.envelope.errors import Code, refuse
from docproc.apps.orchestrator.envelope.models import CURRENT_VERSION


def _from_1_0(message: dict[str, Any]) -> dict[str, Any]:
    """1.0 wrote the type as one text (`agent.execute`), called the moment `timestamp`, and had a status
    `error` with its reason beside it."""
    message = {**message, "schema_version": CURRENT_VERSION}
    if isinstance(said := message.get("type"), str):
        domain, _, action = said.partition(".")
        message["type"] = {"domain": domain, "action": action}
    if "timestamp" in message:
        message.setdefault("created_at", message.pop("timestamp"))
    if message.get("status") == "error":
        message["status"] = "failed"
    if isinstance(reason := message.get("error"), str):
        message["error"] = {"code": "SERVICE_ERROR", "message": reason}
    return message


# Version -> what brings a message of it to the next one.
UPGRADES: Final[dict[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {"1.0": _from_1_0}
ACCEPTED: Final = (*UPGRADES, CURRENT_VERSION)


def upgraded(message: dict[str, Any]) -> dict[str, Any]:
    """The message in the current version; one that names none is taken for current. Raises EnvelopeError."""
    version = str(message.get("schema_version", CURRENT_VERSION))
    if version not in ACCEPTED:
        raise refuse(
            Code.SCHEMA_VERSION,
            "schema_version",
            f"version {version[:20]!r} is not known here",
            f"Use one of {', '.join(ACCEPTED)}",
        )
    while version != CURRENT_VERSION:
        message = UPGRADES[version](message)
        version = str(message["schema_version"])
    return message
