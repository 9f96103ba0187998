"""What is wrong with an envelope: every violation with a code, its place and a remedy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import ValidationError

from docproc.errors import UsageError


class Code(StrEnum):
    """Codes of violations; clients may rely on them."""

    REQUIRED = "VAL_REQUIRED"
    UUID = "VAL_UUID"
    PRIORITY = "VAL_PRIORITY"
    TYPE = "VAL_TYPE"
    STATUS = "VAL_STATUS"
    TIMESTAMP = "VAL_TIMESTAMP"
    EXPIRES = "VAL_EXPIRES"
    TOO_LARGE = "VAL_TOO_LARGE"
    SCHEMA_VERSION = "VAL_SCHEMA_VERSION"
    UNKNOWN_FIELD = "VAL_UNKNOWN_FIELD"
    FORMAT = "VAL_FORMAT"
    JSON = "VAL_JSON"
    IMMUTABLE = "VAL_IMMUTABLE"
    PLAN = "VAL_PLAN"
    SERVICE = "VAL_SERVICE"
    TENANT = "VAL_TENANT"


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that is wrong: `path` is where, `remedy` what to do."""

    code: Code
    path: str
    message: str
    remedy: str

    def as_dict(self) -> dict[str, str]:
        return {
            "code": self.code.value,
            "where": self.path,
            "problem": self.message,
            "remedy": self.remedy,
        }


class EnvelopeError(UsageError):
    """An envelope that cannot be used, with everything that is wrong with it."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        first = violations[0]
        super().__init__(f"{first.path}: {first.message}", remedy=first.remedy)
        self.violations = tuple(violations)

    @property
    def code(self) -> str:
        return self.violations[0].code.value


def refuse(code: Code, path: str, message: str, remedy: str) -> EnvelopeError:
    return EnvelopeError([Violation(code, path, message, remedy)])


# By the last name of the place, else by Pydantic's kind of error.
_BY_FIELD = {
    "message_id": Code.UUID,
    "task_id": Code.UUID,
    "correlation_id": Code.UUID,
    "conversation_id": Code.UUID,
    "priority": Code.PRIORITY,
    "created_at": Code.TIMESTAMP,
    "expires_at": Code.TIMESTAMP,
    "status": Code.STATUS,
    "schema_version": Code.SCHEMA_VERSION,
    "domain": Code.TYPE,
    "action": Code.TYPE,
    "type": Code.TYPE,
}
_BY_KIND = {"missing": Code.REQUIRED, "extra_forbidden": Code.UNKNOWN_FIELD}
REMEDIES = {
    Code.REQUIRED: "Add the field",
    Code.UUID: "Send a UUID, for example 6f1c1c0e-5a0e-4b51-9d5e-0a4b8d9a7f21, or leave it out",
    Code.PRIORITY: "Send a whole number from 0 (most urgent) to 9, or leave it out",
    Code.TYPE: 'Send, for example, {"domain": "agent", "action": "execute"}',
    Code.STATUS: "Use pending, processing, completed or failed",
    Code.TIMESTAMP: "Send an ISO 8601 moment with its zone, for example 2026-01-31T12:00:00Z",
    Code.SCHEMA_VERSION: "Use 1.0 or 1.1, or leave it out",
    Code.UNKNOWN_FIELD: "Remove it, or put it under metadata or payload",
    Code.FORMAT: "Correct the value",
    Code.EXPIRES: "Send an expires_at in the future, or leave it out",
    Code.TOO_LARGE: "Send large content as a file, and its address in the payload",
    Code.JSON: "Send a JSON object",
    Code.IMMUTABLE: "Copy it from the message that is answered",
    Code.PLAN: "Correct the plan, or name a flow that exists",
    Code.SERVICE: "Name a service of GET /api/v1/services",
    Code.TENANT: "Leave it out: the key says whose it is",
}


def from_pydantic(error: ValidationError) -> EnvelopeError:
    """Pydantic's findings in the words of the protocol."""
    return EnvelopeError([_violation(one) for one in error.errors(include_url=False, include_input=False)])


def _violation(found: object) -> Violation:
    assert isinstance(found, dict)
    said = found.get("ctx", {})
    if "code" in said:  # raised by the model itself
        return Violation(
            Code(said["code"]), said.get("path") or _path(found["loc"]), found["msg"], said["remedy"]
        )
    last = str(found["loc"][-1]) if found["loc"] else ""
    code = _BY_KIND.get(found["type"]) or _BY_FIELD.get(last, Code.FORMAT)
    return Violation(code, _path(found["loc"]), str(found["msg"]), REMEDIES[code])


def _path(location: Sequence[int | str]) -> str:
    return ".".join(map(str, location)) or "(whole message)"
