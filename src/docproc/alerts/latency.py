"""Percentiles of any length of time: durations are counted in classes, and counts can be added up.

A mean of percentiles is none, so the history keeps the counts. Each class is a quarter wider than the one
before, so a percentile is right to within about a tenth.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate

# The upper ends of classes, in seconds: from a millisecond to an hour.
_STEP = 1.25
EDGES = tuple(0.001 * _STEP**number for number in range(68))


def bucket_of(seconds: float) -> int:
    """The number of the class; the last one has no upper end."""
    return bisect_left(EDGES, seconds)


def bucket_of_sql(column: str) -> str:
    """The same as an expression, halving as a search does, so that no row is compared with every class."""
    return _between(column, 0, len(EDGES))


def _between(column: str, low: int, high: int) -> str:
    if low == high:
        return str(low)
    middle = (low + high) // 2
    below, above = _between(column, low, middle), _between(column, middle + 1, high)
    return f"CASE WHEN {column} <= {EDGES[middle]:.9g} THEN {below} ELSE {above} END"


def percentile(counts: Mapping[int, float], share: float) -> float | None:
    """The duration that `share` of all stay below: within its class, as if they were spread evenly."""
    places = sorted(counts)
    total = sum(counts.values())
    if total <= 0:
        return None
    wanted = share * total
    for place, reached in zip(places, accumulate(counts[one] for one in places), strict=True):
        if reached >= wanted:
            low = EDGES[place - 1] if place else 0.0
            high = EDGES[min(place, len(EDGES) - 1)]
            inside = 1 - (reached - wanted) / counts[place] if counts[place] else 1.0
            return low + (high - low) * inside
    return EDGES[-1]
