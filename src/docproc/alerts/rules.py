"""Rules: which sample is worth an alert, how grave it is, and what is done about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from docproc.alerts.past import Past
from docproc.alerts.samples import Sample


class Level(StrEnum):
    """The four levels, gravest first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 is the gravest."""
        return list(Level).index(self)


class Condition(Protocol):
    """Whether a sample is worth an alert. `past` is None where nothing is known yet."""

    @property
    def needs_past(self) -> bool:
        """Whether `past` is looked up for it, which costs a query for each series now and then."""

    def holds(self, sample: Sample, past: Past | None) -> bool: ...

    def limit(self, past: Past | None) -> float | None:
        """What the value is measured against, for people to read."""


@dataclass(frozen=True, slots=True)
class Above:
    threshold: float
    needs_past = False

    def holds(self, sample: Sample, past: Past | None) -> bool:
        return sample.value > self.threshold

    def limit(self, past: Past | None) -> float | None:
        return self.threshold


@dataclass(frozen=True, slots=True)
class Below:
    threshold: float
    needs_past = False

    def holds(self, sample: Sample, past: Past | None) -> bool:
        return sample.value < self.threshold

    def limit(self, past: Past | None) -> float | None:
        return self.threshold


@dataclass(frozen=True, slots=True)
class TimesUsual:
    """So many times the mean of the last day."""

    factor: float
    needs_past = True

    def holds(self, sample: Sample, past: Past | None) -> bool:
        limit = self.limit(past)
        return limit is not None and limit > 0 and sample.value > limit

    def limit(self, past: Past | None) -> float | None:
        return past.day.mean * self.factor if past and past.day else None


@dataclass(frozen=True, slots=True)
class AboveSameHour:
    """By that share above what it was at the same hour of the same weekday: 0.4 is 40 % more."""

    share: float
    needs_past = True

    def holds(self, sample: Sample, past: Past | None) -> bool:
        limit = self.limit(past)
        return limit is not None and limit > 0 and sample.value > limit

    def limit(self, past: Past | None) -> float | None:
        return past.same_hour.mean * (1 + self.share) if past and past.same_hour else None


@dataclass(frozen=True, slots=True)
class Deviates:
    """By so many standard deviations from the mean of the last day, to either side.

    A series that hardly ever moves would deviate at the first step, so a fifth of the mean is always allowed.
    """

    deviations: float = 3.0
    needs_past = True

    def holds(self, sample: Sample, past: Past | None) -> bool:
        if past is None or past.day is None:
            return False
        return abs(sample.value - past.day.mean) > self._allowed(past)

    def limit(self, past: Past | None) -> float | None:
        return past.day.mean + self._allowed(past) if past and past.day else None

    def _allowed(self, past: Past) -> float:
        assert past.day is not None
        return max(self.deviations * past.day.deviation, abs(past.day.mean) / 5)


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    metric: str
    # The labels that its samples have, no more and no fewer: `("service",)`.
    by: tuple[str, ...]
    condition: Condition
    level: Level
    # What is done while it fires: a name of `AlertSet.actions`, or of the actions of every deployment
    # (`throttle`, `watch_closely`, `summarise`); empty: nothing but notices.
    action: str = ""
    # Only samples whose labels have these values.
    only: Mapping[str, str] = field(default_factory=dict)
    # For so long the condition must hold before it fires, and be gone before it resolves.
    for_seconds: float = 0.0
    resolve_seconds: float = 30.0
    # Of at least so many calls, messages and so on a sample must tell.
    least_count: int = 1

    def concerns(self, sample: Sample) -> bool:
        return (
            sample.metric == self.metric
            and tuple(sorted(sample.labels)) == tuple(sorted(self.by))
            and all(sample.labels[name] == value for name, value in self.only.items())
        )
