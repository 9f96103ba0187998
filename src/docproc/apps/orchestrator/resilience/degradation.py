"""Degradation levels: what is still done while services fail, and what is not (§6.2).

| level | calls that are made | what takes the place of the others |
|---|---|---|
| full | all | |
| reduced | critical and standard services | non-critical ones wait, or are cancelled |
| minimal | critical services | standard ones get their standard answer; non-critical ones are cancelled |
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from docproc.apps.orchestrator.resilience.levels import ServiceLevel


class Degradation(StrEnum):
    FULL = "full"
    REDUCED = "reduced"
    MINIMAL = "minimal"

    @property
    def rank(self) -> int:
        return list(Degradation).index(self)


DROPS: dict[Degradation, frozenset[ServiceLevel]] = {
    Degradation.FULL: frozenset(),
    Degradation.REDUCED: frozenset({ServiceLevel.NON_CRITICAL}),
    Degradation.MINIMAL: frozenset({ServiceLevel.NON_CRITICAL, ServiceLevel.STANDARD}),
}


@dataclass(frozen=True, slots=True)
class Away:
    """A service none of whose endpoints is called now."""

    service: str
    level: ServiceLevel


# From so many critical services on that are away at once, what is left is kept for critical ones.
MINIMAL_FROM = 2


def level_of(away: Iterable[Away]) -> Degradation:
    """What the state of the services comes to.

    One critical service that is away, or two standard ones: reduced. Two critical ones: minimal. A
    non-critical service that is away concerns only who calls it.
    """
    levels = [one.level for one in away]
    critical, standard = levels.count(ServiceLevel.CRITICAL), levels.count(ServiceLevel.STANDARD)
    if critical >= MINIMAL_FROM:
        return Degradation.MINIMAL
    return Degradation.REDUCED if critical or standard >= 2 else Degradation.FULL


def drops(level: Degradation, service: ServiceLevel) -> bool:
    """Whether calls of such services are not made at this level."""
    return service in DROPS[level]
