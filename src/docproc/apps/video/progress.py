"""How far a film is: one snapshot, for its file, for Redis and for its client."""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

# Frames a second are those of the last seconds.
WINDOW_SECONDS = 5.0
# Points of the chart.
HISTORY = 240


@dataclass(slots=True)
class Progress:
    """Counts the frames of a film as they are written."""

    session_id: str
    filename: str
    filters: list[dict[str, Any]]
    status: str = "decoding"
    frames_processed: int = 0
    frames_total: int = 0
    frames_failed: int = 0
    retries: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    workers: Counter[str] = field(default_factory=Counter)
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    _started: float = field(default_factory=time.monotonic)
    _recent: deque[float] = field(default_factory=deque)
    _history: deque[list[float]] = field(default_factory=lambda: deque(maxlen=HISTORY))

    def count(self) -> None:
        """One more frame is in the film."""
        now = time.monotonic()
        self.frames_processed += 1
        self._recent.append(now)
        while self._recent[0] < now - WINDOW_SECONDS:
            self._recent.popleft()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    @property
    def fps(self) -> float:
        """Of the last seconds; 0 while nothing comes."""
        now = time.monotonic()
        recent = [at for at in self._recent if at >= now - WINDOW_SECONDS]
        span = min(WINDOW_SECONDS, self.seconds)
        return len(recent) / span if span > 0 else 0.0

    @property
    def eta_seconds(self) -> float | None:
        """None while nobody knows."""
        left = self.frames_total - self.frames_processed
        mean = self.frames_processed / self.seconds if self.seconds > 0 else 0.0
        rate = self.fps or mean
        return left / rate if rate and self.frames_total else None

    def numbers(self) -> dict[str, Any]:
        """What clients are sent."""
        eta = self.eta_seconds
        return {
            "frames_processed": self.frames_processed,
            "frames_total": self.frames_total,
            "fps": round(self.fps, 2),
            "eta_seconds": None if eta is None else round(eta, 1),
        }

    def snapshot(self) -> dict[str, Any]:
        """Everything, for whoever looks at the session."""
        numbers = self.numbers()
        self._history.append([round(self.seconds, 2), numbers["fps"], self.frames_processed])
        return {
            "session_id": self.session_id,
            "filename": self.filename,
            "status": self.status,
            **numbers,
            "frames_failed": self.frames_failed,
            "retries": self.retries,
            "filters": self.filters,
            "workers": dict(self.workers),
            "started_at": self.started_at.isoformat(),
            "updated_at": datetime.now(UTC).isoformat(),
            "elapsed_seconds": round(self.seconds, 2),
            "history": [list(point) for point in self._history],
            **self.facts,
        }
