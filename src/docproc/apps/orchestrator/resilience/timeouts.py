"""How long a call may take: the specification's table (§5.1), adapted to tenant, history, steps and load."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# A tenant may halve or double the limit of basic operations.
LEAST_FACTOR, MOST_FACTOR = 0.5, 2.0
# No client may ask for less: the way to a service and back takes time, too.
LEAST_SECONDS = 0.1
# History counts from so many calls on; fewer say little about the slow ones among them.
ENOUGH_CALLS = 20
# How far above the slowest usual call the limit lies.
_ROOM = 1.5
# A loaded system gets more time, at most twice as much.
_MOST_LOAD = 2.0
PING_SECONDS = 30.0


class Operation(StrEnum):
    BASIC = "basic"
    AGENT = "agent"
    WORKFLOW = "workflow"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class TimeLimit:
    base_seconds: float
    max_seconds: float


TIME_LIMITS: dict[Operation, TimeLimit] = {
    Operation.BASIC: TimeLimit(10, 30),
    Operation.AGENT: TimeLimit(30, 120),
    Operation.WORKFLOW: TimeLimit(60, 300),
    Operation.SESSION: TimeLimit(1800, 7200),
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What a limit depends on beyond the kind of operation; everything may be unknown."""

    # Of the tenant, for basic operations.
    tenant_factor: float = 1.0
    # The tenant's own length of a session.
    session_seconds: float | None = None
    # How long 95 of 100 such calls took lately, and of how many calls that is known.
    usual_seconds: float | None = None
    known_calls: int = 0
    # Steps of the workflow that is called.
    steps: int = 1
    # How much slower the service is now than it usually is; 1 is as ever.
    load: float = 1.0
    # `metadata.timeout_ms` of the message.
    asked_ms: int | None = None


NO_FACTS = Facts()


def operation_of(message_type: str) -> Operation:
    """By the domain of a message type such as `agent.execute`."""
    domain = message_type.partition(".")[0]
    return {"agent": Operation.AGENT, "workflow": Operation.WORKFLOW}.get(domain, Operation.BASIC)


def timeout_seconds(operation: Operation, facts: Facts = NO_FACTS) -> float:
    """Never past the operation's maximum, whatever the history, the tenant or the message says."""
    limit = TIME_LIMITS[operation]
    if facts.asked_ms is not None:
        return _between(LEAST_SECONDS, facts.asked_ms / 1000, limit.max_seconds)
    if operation is Operation.SESSION:
        return _between(limit.base_seconds, facts.session_seconds or limit.base_seconds, limit.max_seconds)
    load = _between(1.0, facts.load, _MOST_LOAD)
    return min(_before_load(operation, limit, facts) * load, limit.max_seconds)


def _before_load(operation: Operation, limit: TimeLimit, facts: Facts) -> float:
    if operation is Operation.BASIC:
        return limit.base_seconds * _between(LEAST_FACTOR, facts.tenant_factor, MOST_FACTOR)
    if operation is Operation.WORKFLOW:
        return limit.base_seconds * max(1, facts.steps)
    if facts.usual_seconds is None or facts.known_calls < ENOUGH_CALLS:
        return limit.base_seconds
    return max(limit.base_seconds, facts.usual_seconds * _ROOM)


def _between(least: float, value: float, most: float) -> float:
    return max(least, min(value, most))
