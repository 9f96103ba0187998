"""What a service's failure is, in the words of the guard."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from docproc.apps.orchestrator.resilience.failures import Failure, FailureKind

TIMED_OUT = Failure(FailureKind.RESPONSE_TIMEOUT, code="TIMEOUT", message="no answer in time")


def failure_of(error: Mapping[str, Any] | None) -> Failure:
    """`error` of an envelope: `{"code", "message", "status"?, "kind"?, "retry_after_seconds"?}`.

    One that says neither status nor kind is the service's considered answer: another try changes nothing."""
    said = dict(error or {})
    code, message = str(said.get("code", ""))[:64], str(said.get("message", ""))[:2000]
    wait = said.get("retry_after_seconds")
    kind = FailureKind.BUSINESS
    status = said.get("status")
    status = status if isinstance(status, int) and 100 <= status <= 599 else None
    if status is not None:
        kind = FailureKind.STATUS
    elif code.startswith("VAL_"):
        kind = FailureKind.VALIDATION
    with suppress(ValueError):
        kind = FailureKind(str(said.get("kind")))
    return Failure(
        kind,
        status=status,
        code=code,
        message=message,
        retry_after_seconds=float(wait) if isinstance(wait, int | float) else None,
    )


def as_error(failure: Failure) -> dict[str, Any]:
    """For the row of the call, and for clients."""
    found: dict[str, Any] = {"code": failure.code or str(failure.kind), "message": failure.message}
    if failure.status is not None:
        found["status"] = failure.status
    return found
