"""A circuit breaker as a value: what it is, and what it becomes (§6.1).

    closed ──share of failures──▶ open ──reset time──▶ half open ──probe passes──▶ closed
                                   ▲                       │
                                   └──────probe fails──────┘

Nothing here reads a clock or a table: moments come from the caller, who takes them from the database, so
that all replicas mean the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from docproc.apps.orchestrator.resilience.levels import BreakerPolicy

OK, FAILED = ".", "x"
# A probe that has been due for so long: nobody wants to call the service, so nobody else goes without for it.
IDLE = timedelta(seconds=60)


class BreakerState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class Breaker:
    state: BreakerState = BreakerState.CLOSED
    # The latest outcomes while closed, oldest first: "." passed, "x" failed.
    outcomes: str = ""
    # How often it opened. A probe carries this number: its outcome counts for this opening only.
    generation: int = 0
    opened_at: datetime | None = None
    # When the next probe may go out.
    probe_at: datetime | None = None
    # Probes that passed since it is half open.
    passed: int = 0
    # What opened it: `failures`, `probe`, or the alert or person that did.
    reason: str = ""

    @property
    def is_closed(self) -> bool:
        return self.state is BreakerState.CLOSED


def record(breaker: Breaker, outcomes: Iterable[bool], policy: BreakerPolicy, now: datetime) -> Breaker:
    """After calls that were no probes. What ends while it is not closed began before: it changes nothing."""
    if not breaker.is_closed:
        return breaker
    latest = breaker.outcomes + "".join(OK if passed else FAILED for passed in outcomes)
    # Each outcome is looked at as if it had come alone: how they were gathered must not matter.
    for end in range(len(breaker.outcomes) + 1, len(latest) + 1):
        seen = latest[max(0, end - policy.window) : end]
        if len(seen) == policy.window and seen.count(FAILED) >= _most_failures(policy):
            return opened(breaker, policy, now, reason="failures")
    return replace(breaker, outcomes=latest[-policy.window :])


def _most_failures(policy: BreakerPolicy) -> float:
    return policy.opens_at * policy.window - 1e-9  # 0.3 × 10 is a little more than 3


def opened(breaker: Breaker, policy: BreakerPolicy, now: datetime, reason: str) -> Breaker:
    return Breaker(
        BreakerState.OPEN,
        generation=breaker.generation + 1,
        opened_at=now,
        probe_at=now + timedelta(seconds=policy.reset_seconds),
        reason=reason,
    )


def probe_is_due(breaker: Breaker, now: datetime) -> bool:
    return not breaker.is_closed and breaker.probe_at is not None and now >= breaker.probe_at


def is_idle(breaker: Breaker, now: datetime) -> bool:
    """Open, and nobody comes to probe it: whether the service is still away is not known any more."""
    return not breaker.is_closed and breaker.probe_at is not None and now >= breaker.probe_at + IDLE


def probing(breaker: Breaker, policy: BreakerPolicy, now: datetime) -> Breaker:
    """One probe goes out; the next one may when its interval is over, whatever became of this one."""
    return replace(
        breaker, state=BreakerState.HALF_OPEN, probe_at=now + timedelta(seconds=policy.probe_seconds)
    )


def after_probe(
    breaker: Breaker, passed: bool, generation: int, policy: BreakerPolicy, now: datetime
) -> Breaker:
    """A probe of an earlier opening says nothing about this one."""
    if breaker.is_closed or generation != breaker.generation:
        return breaker
    if not passed:
        return opened(breaker, policy, now, reason="probe")
    if breaker.passed + 1 < policy.probes_to_close:
        return replace(breaker, passed=breaker.passed + 1)
    return Breaker(generation=breaker.generation)
