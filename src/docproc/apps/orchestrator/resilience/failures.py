"""What a failed call failed of, and whether another try may help (§5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FailureKind(StrEnum):
    """What happened, as whoever made the call sees it."""

    CONNECT_TIMEOUT = "connect_timeout"
    RESPONSE_TIMEOUT = "response_timeout"
    # Name not found, connection refused or reset.
    NETWORK = "network"
    # The service answered with an HTTP status, or an error that stands for one.
    STATUS = "status"
    # The service understood and said no: a rule of its business.
    BUSINESS = "business"
    # What was sent or came back was no valid message.
    VALIDATION = "validation"
    # A fault of our own.
    INTERNAL = "internal"


class FailureClass(StrEnum):
    """What is done about it."""

    # Retried with backoff.
    TRANSIENT = "transient"
    # Retried while the service's breaker is closed, else answered by the fallback.
    SERVICE = "service"
    # Two wrote at once; retried.
    CONFLICT = "conflict"
    # The service asked to wait; retried when it said, and no try is counted.
    BUSY = "busy"
    # Wrong data: never retried.
    VALIDATION = "validation"
    # Another mistake of whoever asked: never retried, logged, and such calls are limited.
    CLIENT = "client"
    # Never retried: the next answer would be the same.
    BUSINESS = "business"
    # Told to people by an alert, and retried once.
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Failure:
    kind: FailureKind
    # An HTTP status, where there is one.
    status: int | None = None
    # The code and text of the service's own error.
    code: str = ""
    message: str = ""
    # The service asked to be left alone for so long (`Retry-After`).
    retry_after_seconds: float | None = None


_KINDS = {
    FailureKind.CONNECT_TIMEOUT: FailureClass.TRANSIENT,
    FailureKind.RESPONSE_TIMEOUT: FailureClass.TRANSIENT,
    FailureKind.NETWORK: FailureClass.TRANSIENT,
    FailureKind.BUSINESS: FailureClass.BUSINESS,
    FailureKind.VALIDATION: FailureClass.VALIDATION,
    FailureKind.INTERNAL: FailureClass.SYSTEM,
}
_STATUSES = {
    400: FailureClass.VALIDATION,
    408: FailureClass.TRANSIENT,
    409: FailureClass.CONFLICT,
    422: FailureClass.VALIDATION,
    425: FailureClass.TRANSIENT,
    429: FailureClass.BUSY,
    502: FailureClass.SERVICE,
    503: FailureClass.SERVICE,
    504: FailureClass.SERVICE,
}
_RETRIED = frozenset(
    {
        FailureClass.TRANSIENT,
        FailureClass.SERVICE,
        FailureClass.CONFLICT,
        FailureClass.BUSY,
        FailureClass.SYSTEM,
    }
)
# Those that say that the service is unwell. A refusal is the answer of a healthy one.
_UNWELL = frozenset({FailureClass.TRANSIENT, FailureClass.SERVICE, FailureClass.SYSTEM})


def classify(failure: Failure) -> FailureClass:
    if failure.kind is not FailureKind.STATUS:
        return _KINDS[failure.kind]
    status = failure.status or 500
    if status in _STATUSES:
        return _STATUSES[status]
    return FailureClass.CLIENT if status < 500 else FailureClass.SYSTEM


def may_retry(found: FailureClass) -> bool:
    return found in _RETRIED


def counts_against_service(found: FailureClass) -> bool:
    """Whether it moves the service's breaker towards opening."""
    return found in _UNWELL
