"""How long before the deadline an answer is begun: learnt from how late earlier ones were stored."""

from __future__ import annotations

import math
from collections import deque

FIRST_SECONDS = 0.25
# An answer a moment early costs nothing; one that met a busy machine is late.
LEAST_SECONDS = 0.1
MOST_SECONDS = 2.0
ROOM = 1.5


class Margin:
    """Half as much again as nearly every recent answer took, from its moment to its commit."""

    def __init__(self) -> None:
        # Counted until a hundred others are: a few quick answers say little of the slowest.
        self._took: deque[float] = deque([FIRST_SECONDS / ROOM], maxlen=500)

    @property
    def seconds(self) -> float:
        ordered = sorted(self._took)
        slow = ordered[math.ceil(0.99 * len(ordered)) - 1]
        return min(max(ROOM * slow, LEAST_SECONDS), MOST_SECONDS)

    def observe(self, seconds: float) -> None:
        # A database that was away for a minute says nothing of how long answering takes.
        self._took.append(min(max(seconds, 0.0), MOST_SECONDS))
