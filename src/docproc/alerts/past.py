"""The past of a series, as rules look at it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usual:
    """How a value was distributed: by its means of minutes, or of hours."""

    mean: float
    deviation: float
    # Of so many minutes or hours.
    number: int


@dataclass(frozen=True, slots=True)
class Past:
    """What is not known well enough is None."""

    # The last day, without the last ten minutes: what goes on now must not excuse itself.
    day: Usual | None = None
    # The same hour of the same weekday, in the last four weeks.
    same_hour: Usual | None = None
