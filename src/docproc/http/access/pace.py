"""How fast somebody may call: so many at once, and as many again every minute; counted in this process."""

from __future__ import annotations

import math
import time
from collections import OrderedDict

MOST_KEPT = 10_000


class Pace:
    """A bucket of calls for each name: it holds a minute's worth and fills steadily."""

    def __init__(self) -> None:
        # What is left, and when that was.
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, per_minute: int) -> int:
        """0 when the call may be made; else after how many seconds."""
        now = time.monotonic()
        left, then = self._left.pop(name, (float(per_minute), now))
        left = min(float(per_minute), left + (now - then) * per_minute / 60)
        wait = 0 if left >= 1 else max(1, math.ceil((1 - left) * 60 / per_minute))
        self._left[name] = (left - 1 if wait == 0 else left), now
        while len(self._left) > MOST_KEPT:  # whoever was away longest has a full bucket by now
            self._left.popitem(last=False)
        return wait
