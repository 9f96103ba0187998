"""What a film cost: the metrics that clients get with it, and counters for Prometheus."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import prometheus_client

from docproc.apps.video.film.info import FilmInfo
from docproc.apps.video.frames.buffer import Collected

FRAMES = prometheus_client.Counter(
    "docproc_video_frames", "Frames that went into films: filtered, or the original", ["outcome"]
)
FRAME_SECONDS = prometheus_client.Histogram(
    "docproc_video_frame_seconds",
    "How long a worker took to filter a frame",
    buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30),
)
FILMS = prometheus_client.Counter("docproc_video_films", "Films, by what became of them", ["outcome"])
RESENT = prometheus_client.Counter(
    "docproc_video_frames_resent", "Frames handed over again: lost by the broker"
)


@dataclass(slots=True)
class Tally:
    """Added up frame by frame; a film of any length keeps two numbers for each."""

    filter_ms: list[float] = field(default_factory=list)
    retries: int = 0
    resent: int = 0
    workers: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def add(self, frame: Collected) -> None:
        if frame.failure is not None:
            reason = {key: frame.failure.get(key) for key in ("frame", "reason", "message")}
            self.failures.append(reason)
            FRAMES.labels("original").inc()
            return
        milliseconds = float(frame.facts["processing_time_ms"])
        self.filter_ms.append(milliseconds)
        self.retries += int(frame.facts["attempts"]) - 1
        self.workers[str(frame.facts["worker_id"])] += 1
        FRAMES.labels("filtered").inc()
        FRAME_SECONDS.observe(milliseconds / 1000)

    def metrics(self, info: FilmInfo, made: Made) -> dict[str, Any]:
        total = len(self.filter_ms) + len(self.failures)
        return {
            "total_frames": total,
            "fps_input": round(info.fps, 3),
            "fps_output": round(info.fps if not made.seconds_of_film else total / made.seconds_of_film, 3),
            "fps_processing": round(total / made.seconds, 2) if made.seconds else None,
            "processing_time_seconds": round(made.seconds, 3),
            "retries": self.retries,
            "frames_resent": self.resent,
            "latency_ms": distribution([1000 * one for one in made.latencies]),
            "filter_ms": distribution(self.filter_ms),
            "frames_failed": len(self.failures),
            "fallback_frames": self.failures,
            "frames_undecodable": made.damaged,
            "worker_count": len(self.workers),
            "workers": dict(self.workers),
            "filters_applied": made.filters,
            "width": made.size[0],
            "height": made.size[1],
            "codec": made.codec,
            "audio": made.audio,
            "duration_seconds": round(made.seconds_of_film or info.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Made:
    """What is known of a film once it is made."""

    seconds: float
    seconds_of_film: float
    latencies: Sequence[float]
    damaged: int
    filters: list[str]
    size: tuple[int, int]
    codec: str
    audio: str


def distribution(values: Sequence[float]) -> dict[str, float] | None:
    """None of nothing."""
    if not values:
        return None
    ordered = sorted(values)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    found = {
        "p50": at(0.50),
        "p95": at(0.95),
        "p99": at(0.99),
        "avg": statistics.fmean(ordered),
        "min": ordered[0],
        "max": ordered[-1],
    }
    return {name: round(value, 3) for name, value in found.items()}
