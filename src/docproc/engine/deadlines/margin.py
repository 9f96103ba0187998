"""How long before the deadline an answer is begun: learnt from earlier ones and from how slow writing is."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable

FIRST_SECONDS = 0.25
# An answer a moment early costs nothing; one that met a busy machine is late.
LEAST_SECONDS = 0.1
MOST_SECONDS = 2.0
ROOM = 1.5
# How long one slow write counts: a disk that has become slow is slow for the next answer, too.
RECENT_SECONDS = 10.0


class Margin:
    """Half as much again as nearly every recent answer took, from its moment to its commit."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        # Counted until a hundred others are: a few quick answers say little of the slowest.
        self._took: deque[float] = deque([FIRST_SECONDS / ROOM], maxlen=500)
        # When writes ended, and how long they took.
        self._writes: deque[tuple[float, float]] = deque()

    @property
    def seconds(self) -> float:
        ordered = sorted(self._took)
        slow = max(ordered[math.ceil(0.99 * len(ordered)) - 1], self._slowest_write())
        return min(max(ROOM * slow, LEAST_SECONDS), MOST_SECONDS)

    def observe(self, seconds: float) -> None:
        # A database that was away for a minute says nothing of how long answering takes.
        self._took.append(min(max(seconds, 0.0), MOST_SECONDS))

    def wrote(self, seconds: float) -> None:
        """Something was written, an answer or not."""
        self._writes.append((self._now(), seconds))

    def _slowest_write(self) -> float:
        since = self._now() - RECENT_SECONDS
        while self._writes and self._writes[0][0] < since:
            self._writes.popleft()
        return max((seconds for _, seconds in self._writes), default=0.0)
