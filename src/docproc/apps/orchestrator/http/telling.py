"""Events as clients get them, over WebSocket and SSE alike."""

from __future__ import annotations

from typing import Any, Final

import orjson
from sqlalchemy.engine import Row

from docproc.apps.orchestrator.calls.telling import PROGRESS, STEP
from docproc.engine.store import events

_STATUSES: Final = {
    "received": "task.accepted",
    "processing": "task.processing",
    "completed": "task.completed",
    "failed": "task.failed",
    "sla_breached": "task.late",
}


def place_text(row: Row[Any]) -> str:
    """The event's id: where a client that reconnects goes on."""
    return f"{row.transaction_id}.{row.id}"


def type_of(row: Row[Any]) -> str:
    if row.kind == PROGRESS:
        return "task.progress"
    if row.kind == STEP:
        return f"step.{row.outcome}"
    if row.kind == "status":
        return _STATUSES.get(str(row.outcome), "task.status")
    return {"reopened": "task.resumed"}.get(row.kind, f"task.{row.kind}")


def as_text(row: Row[Any]) -> str:
    """One event as JSON."""
    data = events.for_clients(row.kind, row.data) or {}
    found: dict[str, Any] = {
        "id": place_text(row),
        "type": type_of(row),
        "task_id": str(row.request_id),
        "session_id": row.session_id,
        "correlation_id": str(row.correlation_id),
        "at": row.finished_at.isoformat(),
    }
    if row.stage:
        found["step"] = row.stage
    if row.kind == PROGRESS:
        found["percent"] = data.get("percent")
    if row.kind == "status" and row.outcome == "completed":
        found["percent"] = 100
    if data:
        found["data"] = data
    return orjson.dumps(found, default=str).decode()
