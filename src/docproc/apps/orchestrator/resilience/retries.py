"""When a failed call is made again: the specification's table (§5.2), chosen by the message's priority."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Criticality(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    # "immediate": the first retry at once, those after it exponentially.
    strategy: Literal["immediate", "exponential", "linear"]
    # Tries in all, the first one included.
    tries: int
    delay_seconds: float
    # What the delay is multiplied by, or what is added to it, from one retry to the next.
    step: float
    # The delay is spread evenly over this share of itself, to both sides.
    jitter: float


RETRIES: dict[Criticality, RetryPolicy] = {
    Criticality.HIGH: RetryPolicy("immediate", 5, 0.2, 1.5, 0.10),
    Criticality.MEDIUM: RetryPolicy("exponential", 3, 1.0, 2.0, 0.15),
    Criticality.LOW: RetryPolicy("linear", 2, 2.0, 2.0, 0.05),
}


def criticality_of(priority: int) -> Criticality:
    """Of a message's priority, 0 (most urgent) to 9."""
    if priority <= 1:
        return Criticality.HIGH
    return Criticality.MEDIUM if priority <= 3 else Criticality.LOW


def plain_delay(policy: RetryPolicy, attempt: int) -> float:
    """Seconds before the next try after the `attempt`-th one failed, without jitter."""
    if policy.strategy == "linear":
        return policy.delay_seconds + policy.step * (attempt - 1)
    if policy.strategy == "immediate":
        return 0.0 if attempt == 1 else policy.delay_seconds * policy.step ** (attempt - 2)
    return float(policy.delay_seconds * policy.step ** (attempt - 1))


def band(policy: RetryPolicy, attempt: int) -> tuple[float, float]:
    """Between which delays the next try lies."""
    plain = plain_delay(policy, attempt)
    return plain * (1 - policy.jitter), plain * (1 + policy.jitter)


def next_delay(priority: int, attempt: int, chance: Callable[[], float] = random.random) -> float | None:
    """Seconds until the next try, or None: the tries are used up. `chance` gives numbers in [0, 1)."""
    policy = RETRIES[criticality_of(priority)]
    if attempt >= policy.tries:
        return None
    least, most = band(policy, attempt)
    return least + (most - least) * chance()
