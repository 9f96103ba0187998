"""What clients are told of calls: events of the request, written in the transaction that changes the call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from docproc.apps.orchestrator.tables import Call
from docproc.engine.store.events import Event

# Kinds of events beside the engine's own.
STEP: Final = "step"
PROGRESS: Final = "progress"


def of_step(call: Call | Mapping[str, Any], outcome: str, **data: Any) -> Event:
    """A step began, goes on, is to be tried again, or is over."""
    read = _reader(call)
    return Event(
        read("request_id"),
        STEP,
        tenant_id=read("tenant_id"),
        stage=read("stage"),
        attempt=read("attempt"),
        outcome=outcome,
        data=_facts(read, data),
    )


def of_progress(call: Call, percent: int, text: str = "") -> Event:
    read = _reader(call)
    said = {"percent": percent, **({"message": text} if text else {})}
    return Event(
        call.request_id,
        PROGRESS,
        tenant_id=call.tenant_id,
        stage=call.stage,
        attempt=call.attempt,
        outcome=str(percent),
        data=_facts(read, said),
    )


def _reader(call: Call | Mapping[str, Any]) -> Any:
    return call.get if isinstance(call, Mapping) else lambda name: getattr(call, name)


def _facts(read: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    tool = read("tool_key")
    return {
        "correlation_id": str(read("correlation_id")),
        "service": read("service"),
        "call_id": str(read("id")),
        "fencing": read("fencing"),
        **({"tool": tool} if tool else {}),
        **data,
    }
