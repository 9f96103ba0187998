"""How important a service is, and what follows: when its breaker opens, and what is answered then."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal


class ServiceLevel(StrEnum):
    CRITICAL = "critical"
    STANDARD = "standard"
    NON_CRITICAL = "non_critical"


class Fallback(StrEnum):
    """What takes the place of a call that is not made."""

    # The last good answer to the same question, else a standard one.
    CACHED = "cached"
    # A fixed answer that says it is one.
    STANDARD = "standard"
    # The call waits until the service may be asked again; where that is too late, it is cancelled.
    POSTPONED = "postponed"


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """One line of the specification's table (§6.1)."""

    # Share of failures among the last `window` calls from which on it opens.
    opens_at: float
    window: int
    # How long it stays open before the first probe, and how far apart probes are.
    reset_seconds: float
    probe_seconds: float
    fallback: Fallback
    # So many probes must pass, one after another, to close it.
    probes_to_close: int = 1


BREAKERS: dict[ServiceLevel, BreakerPolicy] = {
    ServiceLevel.CRITICAL: BreakerPolicy(0.30, 10, 15.0, 5.0, Fallback.CACHED),
    ServiceLevel.STANDARD: BreakerPolicy(0.50, 20, 30.0, 10.0, Fallback.STANDARD),
    ServiceLevel.NON_CRITICAL: BreakerPolicy(0.70, 30, 60.0, 20.0, Fallback.POSTPONED),
}


@dataclass(frozen=True, slots=True)
class ServicePolicy:
    """What the guard must know of a service; the catalogue of services makes one for each."""

    name: str
    level: ServiceLevel = ServiceLevel.STANDARD
    # Whether calls can go to a second endpoint while the first one fails.
    has_second: bool = False
    # What callers of a non-critical service get while its breaker is open.
    when_open: Literal["postpone", "cancel"] = "postpone"
    # The standard answer; None: one that only says that the service is away.
    standard_answer: dict[str, Any] | None = None
    # Another breaker than that of the level.
    breaker: BreakerPolicy | None = None

    @property
    def breaker_policy(self) -> BreakerPolicy:
        return self.breaker or BREAKERS[self.level]
