"""Calls of services as values: what is asked of the guard, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from docproc.apps.orchestrator.resilience.failures import FailureClass
from docproc.apps.orchestrator.resilience.levels import ServicePolicy
from docproc.apps.orchestrator.resilience.timeouts import NO_FACTS, Facts

PRIMARY, SECONDARY = "primary", "secondary"


class Action(StrEnum):
    CALL = "call"
    # Answer with `Decision.answer` instead of calling.
    ANSWER = "answer"
    # Ask again after `delay_seconds`; no try is counted.
    POSTPONE = "postpone"
    # Give up: it would be too late by the time the service may be called.
    CANCEL = "cancel"


class Next(StrEnum):
    """What follows after a call."""

    DONE = "done"
    RETRY = "retry"
    # Answer with `Verdict.answer`: the service is away.
    ANSWER = "answer"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Call:
    """A call that somebody wants to make."""

    policy: ServicePolicy
    tenant_id: str
    # Of the message, such as `agent.execute`.
    type: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    # 0 is the most urgent, 9 the least.
    priority: int = 5
    # The first try is 1.
    attempt: int = 1
    correlation_id: str = ""
    request_id: UUID | None = None
    expires_at: datetime | None = None
    # What else the time limit depends on; history and load are filled in.
    facts: Facts = NO_FACTS


@dataclass(frozen=True, slots=True)
class Ticket:
    """What must be known of a call when it ends, perhaps in another process."""

    service: str
    endpoint: str
    tenant_id: str
    type: str
    priority: int
    attempt: int
    question: str
    correlation_id: str = ""
    is_probe: bool = False
    generation: int = 0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Ticket:
        """As it was kept, also by another release."""
        return cls(**{name: said[name] for name in cls.__dataclass_fields__ if name in said})


@dataclass(frozen=True, slots=True)
class Decision:
    action: Action
    timeout_seconds: float = 0.0
    endpoint: str = PRIMARY
    ticket: Ticket | None = None
    answer: Any = None
    delay_seconds: float = 0.0
    # Why the call is not made: `breaker_open`, `degraded`, `too_many_client_errors`.
    reason: str = ""
    # What the client is told where it gets less than usual; None: nothing is missing.
    degradation: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    next: Next
    delay_seconds: float = 0.0
    counts_attempt: bool = True
    failure_class: FailureClass | None = None
    answer: Any = None
    degradation: dict[str, Any] | None = None
