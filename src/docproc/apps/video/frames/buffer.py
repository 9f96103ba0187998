"""FrameBuffer: filtered frames between those who read them and the one who writes the film."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from docproc.apps.video.filters.filter import Image
from docproc.apps.video.frames.files import Facts


@dataclass(frozen=True, slots=True)
class Collected:
    """A frame for the film, and what is known of how it came about."""

    index: int
    image: Image
    facts: Facts
    # Why the original stands in, if it does.
    failure: Facts | None = None


class FrameBuffer:
    """Filled by several threads in any order, emptied in the film's order."""

    def __init__(self, filled: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._frames: dict[int, Collected] = {}
        self._filled = filled

    def put(self, frame: Collected) -> None:
        with self._lock:
            self._frames[frame.index] = frame
        self._filled()

    def take(self, index: int) -> Collected | None:
        """None while it is not there."""
        with self._lock:
            return self._frames.pop(index, None)
