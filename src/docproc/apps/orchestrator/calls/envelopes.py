"""The envelopes of calls: what a service is sent, made of the task, the step and what came before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from docproc.apps.orchestrator.envelope.models import (
    DelegatedService,
    Envelope,
    MessageType,
    Metadata,
    Status,
)
from docproc.apps.orchestrator.envelope.reading import ORCHESTRATOR
from docproc.apps.orchestrator.services.catalogue import Service
from docproc.apps.orchestrator.services.wire import Outgoing
from docproc.apps.orchestrator.tables import Call, CallState, Task
from docproc.engine.message import PipelineMessage, utc_now

# In the payload of a step: what the steps before it found.
INPUTS = "inputs"
# In the payload of an agent's envelope that goes on: the tools' answers by the keys it gave its questions.
TOOL_RESULTS = "tool_results"

_DELEGATED = {CallState.COMPLETED.value: "completed", CallState.FAILED.value: "failed"}


def delegated(calls: Iterable[Call]) -> list[DelegatedService]:
    """Who works, or worked, on a task."""
    return [
        DelegatedService.model_validate(
            {
                "service": call.service,
                "task_id": str(call.id),
                "status": _DELEGATED.get(call.state, "pending"),
            }
        )
        for call in calls
        if call.state != CallState.CANCELLED.value
    ]


def make(
    task: Task,
    call_id: UUID,
    fencing: int,
    service: Service,
    wanted: MessageType,
    *,
    priority: int,
    payload: Mapping[str, Any],
    timeout_at: datetime,
    attempt: int = 1,
    others: Sequence[Call] = (),
    endpoint: str = "primary",
) -> Envelope:
    """One envelope of a call. What identifies the work is the task's own, whoever is called."""
    client: Mapping[str, Any] = task.envelope
    now = utc_now()
    limit_ms = max(1, int((timeout_at - now).total_seconds() * 1000))
    known = {name: value for name, value in client.get("metadata", {}).items() if name != "deduplication_key"}
    return Envelope(
        message_id=uuid5(call_id, str(fencing)),
        task_id=task.request_id,
        tenant_id=task.tenant_id,
        session_id=task.session_id,
        conversation_id=task.conversation_id,
        correlation_id=task.correlation_id,
        created_at=now,
        expires_at=timeout_at,
        status=Status.PENDING,
        type=wanted,
        priority=priority,
        source_service=ORCHESTRATOR,
        target_service=service.name,
        delegated_services=tuple(delegated(others)),
        metadata=Metadata.model_validate(
            {
                **known,
                "call_id": call_id,
                "fencing": fencing,
                "retry_count": attempt - 1,
                "timeout_ms": limit_ms,
                **({"endpoint": endpoint} if endpoint != "primary" else {}),
            }
        ),
        payload=dict(payload),
    )


def outgoing(call: Call) -> Outgoing:
    """A call's envelope for the wire, from its row."""
    envelope = Envelope.model_validate(call.envelope)
    return Outgoing(
        call_id=call.id,
        queue=call.queue,
        tenant_id=call.tenant_id,
        priority=call.priority,
        fencing=call.fencing,
        body=envelope.encode(),
        expires_at=call.timeout_at,
        message=PipelineMessage.parse(call.message),
    )
