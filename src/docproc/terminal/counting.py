"""How far a long command is, for people who read a pipe or a log: counts in words, and lines now and then."""

from __future__ import annotations

import time
from collections.abc import Callable

EVERY_SECONDS = 5.0


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class Paced:
    """Says how far it is every few seconds, and at once when something else begins."""

    def __init__(
        self,
        say: Callable[[str], None],
        seconds: float = EVERY_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say, self._seconds, self._clock = say, seconds, clock
        self._said_at = clock()
        self._phase = ""

    def __call__(self, text: str, phase: str = "") -> None:
        now = self._clock()
        if phase == self._phase and now - self._said_at < self._seconds:
            return
        self._phase, self._said_at = phase, now
        self._say(text)
