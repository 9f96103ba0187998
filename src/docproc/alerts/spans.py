"""A request as one trace: its events as spans. Pure; `traces.py` reads the events and sends the spans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

# What ends a request; its span, the parent of all others, is told then.
ENDS = ("completed", "failed", "sla_breached")
_FAILED = ("retry", "dead_letter", "failed", "sla_breached", "given_up")


@dataclass(frozen=True, slots=True)
class Happened:
    """An event, with what its request and its task say beside it."""

    request_id: UUID
    trace_id: UUID
    kind: str
    outcome: str
    stage: str
    unit_key: str
    message_id: UUID | None
    attempt: int | None
    worker_id: str
    started_at: datetime
    finished_at: datetime
    workflow: str
    received_at: datetime
    tenant_id: str
    event_id: int
    data: Mapping[str, Any] = field(default_factory=dict)
    # Of an answered task.
    task_type: str = ""
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """`parent_id` is 0 for the request's own span."""

    name: str
    trace_id: int
    span_id: int
    parent_id: int
    begins: datetime
    ends: datetime
    has_failed: bool
    attributes: Mapping[str, str | int | float]


def spans_of(happened: Happened) -> list[Span]:
    """The spans that an event tells of: a handled message, a person's detour, a delivery, or the whole."""
    match happened.kind, happened.outcome:
        case "handled", _:
            name, begins = happened.stage or "message", happened.started_at
        case "delivery", _:
            name, begins = "delivery", happened.started_at
        case "task", "completed" if happened.asked_at is not None:
            name, begins = f"person: {happened.task_type}", happened.asked_at
        case "status", "received":
            name, begins = "received", happened.started_at
        case "status", outcome if outcome in ENDS:
            return [_root(happened)]
        case _:
            return []
    return [
        Span(
            name,
            happened.trace_id.int,
            _span_id(happened),
            root_id(happened.request_id),
            begins,
            max(begins, happened.finished_at),
            happened.outcome in _FAILED,
            _attributes(happened),
        )
    ]


def _root(happened: Happened) -> Span:
    return Span(
        f"request {happened.workflow}",
        happened.trace_id.int,
        root_id(happened.request_id),
        0,
        happened.received_at,
        max(happened.received_at, happened.finished_at),
        happened.outcome in _FAILED,
        _attributes(happened),
    )


def root_id(request_id: UUID) -> int:
    """A request's own span: whoever tells of a part of it knows its id."""
    return _half(request_id)


def _span_id(happened: Happened) -> int:
    """The same whenever the event is told; an attempt is a span of its own."""
    if happened.message_id is not None:
        return (_half(happened.message_id) + (happened.attempt or 1) - 1) % 2**64 or 1
    return (_half(happened.request_id) + happened.event_id) % 2**64 or 1


def _half(one: UUID) -> int:
    """Ids of spans have 64 bits; of version 5, the second half of an id is as good as random."""
    return (one.int & (2**64 - 1)) or 1


def _attributes(happened: Happened) -> dict[str, str | int | float]:
    found: dict[str, str | int | float | None] = {
        "docproc.request_id": str(happened.request_id),
        "docproc.tenant_id": happened.tenant_id,
        "docproc.workflow": happened.workflow,
        "docproc.outcome": happened.outcome,
        "docproc.stage": happened.stage,
        "docproc.unit_key": happened.unit_key,
        "docproc.attempt": happened.attempt,
        "docproc.worker_id": happened.worker_id,
        "docproc.type": happened.data.get("type"),
        "docproc.confidence": happened.data.get("confidence"),
    }
    return {name: value for name, value in found.items() if value not in (None, "")}
