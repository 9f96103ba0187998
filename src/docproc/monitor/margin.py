"""How long before the deadline an answer is begun: learnt from how late earlier ones were stored."""

from __future__ import annotations

from collections import deque

FIRST_SECONDS = 0.25
LEAST_SECONDS = 0.05
MOST_SECONDS = 2.0


class Margin:
    """Half as much again as nearly every recent answer took, from its moment to its commit."""

    def __init__(self) -> None:
        self._took: deque[float] = deque(maxlen=500)

    @property
    def seconds(self) -> float:
        if not self._took:
            return FIRST_SECONDS
        ordered = sorted(self._took)
        slow = ordered[int(0.99 * (len(ordered) - 1))]
        return min(max(1.5 * slow, LEAST_SECONDS), MOST_SECONDS)

    def observe(self, seconds: float) -> None:
        # A database that was away for a minute says nothing of how long answering takes.
        self._took.append(min(max(seconds, 0.0), MOST_SECONDS))
