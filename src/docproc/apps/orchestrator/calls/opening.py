"""Opening calls: what a step wants is asked of the guard, and becomes a row with its envelope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.calls import envelopes, rows, telling
from docproc.apps.orchestrator.envelope.models import Envelope, MessageType
from docproc.apps.orchestrator.resilience.calls import Action, Decision
from docproc.apps.orchestrator.resilience.calls import Call as Wanted
from docproc.apps.orchestrator.resilience.guard import Guard
from docproc.apps.orchestrator.resilience.policies import policy_of
from docproc.apps.orchestrator.resilience.timeouts import Facts
from docproc.apps.orchestrator.services.catalogue import Service
from docproc.apps.orchestrator.services.wire import Outgoing
from docproc.apps.orchestrator.tables import Call, CallState, Task
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import events
from docproc.errors import PermanentError, TransientError

# Nobody waits for what is sent one way, so its receiver may be away for long.
ONE_WAY_SECONDS = 3600.0


class CallRefusedError(PermanentError):
    """The call cannot be made, or failed for good; `code` says why, as clients see it."""

    def __init__(self, message: str, *, code: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.code = code


@dataclass(frozen=True, slots=True)
class Question:
    """A call that a step, or an agent that needs a tool, wants to make."""

    id: UUID
    task: Task
    service: Service
    type: MessageType
    payload: Mapping[str, Any]
    priority: int
    stage: str
    # The step's message, from which the flow goes on.
    message: PipelineMessage
    timeout_ms: int | None = None
    # The row of an earlier attempt.
    earlier: Call | None = None
    # Of a tool: the agent's call and its name for the question.
    parent: Call | None = None
    tool_key: str | None = None
    others: Sequence[Call] = ()
    # The tenant's factor of basic time limits.
    tenant_factor: float = 1.0

    @property
    def fencing(self) -> int:
        return self.earlier.fencing + 1 if self.earlier else 1


@dataclass(slots=True)
class Opened:
    """What one transaction opens, gathered over everything it handles."""

    inserted: list[dict[str, Any]] = field(default_factory=list)
    outgoing: list[Outgoing] = field(default_factory=list)
    notes: list[events.Event] = field(default_factory=list)


async def decide(guard: Guard, question: Question) -> Decision:
    """Whether it may be called now; the caller holds no session. Raises what ends or postpones the step."""
    task = question.task
    decision = await guard.before_call(
        Wanted(
            policy_of(question.service),
            tenant_id=task.tenant_id,
            type=question.type.name,
            payload=question.payload,
            priority=question.priority,
            attempt=question.message.attempt,
            correlation_id=str(task.correlation_id),
            request_id=task.request_id,
            expires_at=task.expires_at,
            facts=Facts(tenant_factor=question.tenant_factor, steps=task.steps, asked_ms=question.timeout_ms),
        )
    )
    if decision.action is Action.POSTPONE:
        raise TransientError(
            f"{question.service.name} cannot be called now: {decision.reason}",
            delay=decision.delay_seconds,
            counts_attempt=False,
            remedy="Nothing to do: it is called when that is over",
        )
    if decision.action is Action.CANCEL:
        code = "expired" if decision.reason == "expired" else "service_unavailable"
        raise CallRefusedError(
            f"{question.service.name} is not called: {decision.reason}",
            code=code,
            remedy="Send the task again with a later expires_at" if code == "expired" else "Send it later",
        )
    return decision


async def open_call(session: AsyncSession, question: Question, decision: Decision, opened: Opened) -> None:
    """Write the call, or take up its row for another attempt; its envelope goes out after the commit."""
    envelope, values = _values(question, decision)
    if question.earlier is None:
        opened.inserted.append(values)
    else:
        state = CallState(question.earlier.state)
        changed = {name: value for name, value in values.items() if name != "id"}
        await rows.change(session, question.earlier, state, **changed)
    if values["state"] != CallState.OPEN.value:
        opened.notes.append(telling.of_step(values, "degraded", degradation=decision.degradation))
        return
    opened.notes.append(telling.of_step(values, "started", timeout_seconds=decision.timeout_seconds))
    opened.outgoing.append(
        Outgoing(
            call_id=question.id,
            queue=values["queue"],
            tenant_id=question.task.tenant_id,
            priority=question.priority,
            fencing=question.fencing,
            body=envelope.encode(),
            expires_at=values["timeout_at"],
            message=question.message,
        )
    )


def _values(question: Question, decision: Decision) -> tuple[Envelope, dict[str, Any]]:
    now = utc_now()
    service, task = question.service, question.task
    seconds = decision.timeout_seconds or 1.0
    if not service.answers and question.timeout_ms is None:
        seconds = ONE_WAY_SECONDS
    timeout_at = now + timedelta(seconds=seconds)
    is_answered = decision.action is Action.ANSWER
    is_second = decision.endpoint != "primary" and service.standby_queue is not None
    envelope = envelopes.make(
        task,
        question.id,
        question.fencing,
        service,
        question.type,
        priority=question.priority,
        payload=question.payload,
        timeout_at=timeout_at,
        attempt=question.message.attempt,
        others=question.others,
        endpoint=decision.endpoint,
    )
    return envelope, {
        "id": question.id,
        "request_id": task.request_id,
        "tenant_id": task.tenant_id,
        "correlation_id": task.correlation_id,
        "stage": question.stage,
        "parent_id": question.parent.id if question.parent else None,
        "tool_key": question.tool_key,
        "service": service.name,
        "queue": service.standby_queue if is_second else service.queue,
        "domain": question.type.domain,
        "action": question.type.action,
        "priority": question.priority,
        "state": CallState.COMPLETED.value if is_answered else CallState.OPEN.value,
        "fencing": question.fencing,
        "attempt": question.message.attempt,
        "is_one_way": not service.answers,
        "progress": 0,
        "envelope": envelope.as_dict(),
        "ticket": decision.ticket.as_dict() if decision.ticket else None,
        "message": question.message.model_dump_json(),
        "result": decision.answer if is_answered else None,
        "error": None,
        "degraded": decision.degradation,
        "opened_at": now,
        "sent_at": None,
        "timeout_at": timeout_at,
        "taken_by": None,
        "taken_until": None,
        "ended_at": now if is_answered else None,
    }
