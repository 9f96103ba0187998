"""One frame's work, the same in a child process and in a Celery worker."""

from __future__ import annotations

import os
import signal
import socket
import time
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import cv2
import psutil
from pydantic import BaseModel, ConfigDict, Field

from docproc.apps.video.filters.chain import Chain
from docproc.apps.video.frames.files import FrameFiles, Originals
from docproc.apps.video.sessions import Sessions

MEGABYTE = 1024 * 1024


class Job(BaseModel):
    """What a worker is told: names and numbers, no pictures and nothing to be executed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    session_id: UUID
    index: int = Field(ge=0)
    # How many earlier frames the chain looks at, as far as the film has them.
    history: int = Field(default=0, ge=0, le=64)
    filters: list[dict[str, Any]]
    # When it is shown, for whoever looks at the frame later.
    seconds: float = 0.0
    small: bool = False


class TooOftenError(Exception):
    """Workers die of this frame: no more of them shall."""


def do(folder: Path, job: Job, most_tries: int, worker_id: str = "") -> bool:
    """Filter a frame and write it; False when there was nothing to do. May be called any number of times, by
    several processes at once. Raises what the filter raises, OSError, or TooOftenError."""
    session = Sessions(folder).of(job.session_id)
    files, originals = FrameFiles(session.frames), Originals(session.originals)
    if not session.frames.is_dir() or files.is_settled(job.index):
        return False  # done by another worker, or the film is over
    tries = files.note_try(job.index)
    if tries > most_tries:
        raise TooOftenError(f"its filtering was begun {tries - 1} times and never ended")
    process = psutil.Process()
    memory, started = process.memory_info().rss, time.perf_counter()
    chain = _chain(_key(job.filters))
    try:
        frames = [originals.read(index) for index in range(max(0, job.index - job.history), job.index + 1)]
    except FileNotFoundError:
        if files.is_settled(job.index) or not originals.path(job.index).parent.exists():
            return False
        raise
    image = chain.apply(frames)
    after = process.memory_info().rss
    facts = {
        "frame": job.index,
        "seconds": job.seconds,
        "processing_time_ms": round((time.perf_counter() - started) * 1000, 3),
        "memory_mb": round(after / MEGABYTE, 1),
        "memory_delta_mb": round((after - memory) / MEGABYTE, 2),
        "filter_applied": "+".join(chain.names),
        "worker_id": worker_id or f"{socket.gethostname()}-{os.getpid()}",
        "hostname": socket.gethostname(),
        "attempts": tries,
    }
    files.write(job.index, image, facts, small=job.small)
    return True


def give_up(folder: Path, job: Job, error: BaseException) -> None:
    """Say that the original takes the frame's place. Raises OSError where not even that can be written."""
    files = FrameFiles(Sessions(folder).of(job.session_id).frames)
    if files.folder.is_dir() and not files.is_settled(job.index):
        files.write_failure(job.index, failure_facts(job, error))


def failure_facts(job: Job, error: BaseException | str) -> dict[str, Any]:
    kind = type(error).__name__ if isinstance(error, BaseException) else "timed out"
    return {
        "frame": job.index,
        "seconds": job.seconds,
        "reason": kind,
        "message": str(error)[:500],
        "errno": getattr(error, "errno", None),
    }


def pin_threads() -> None:
    """One frame, one core: OpenCV's own threads would fight over the cores with the other workers."""
    cv2.setNumThreads(1)


def do_in_child(folder: str, job: dict[str, Any], most_tries: int, limit_seconds: float) -> bool:
    """As child processes are called. One that takes longer dies: native code ends in no other way."""
    pin_threads()
    signal.setitimer(signal.ITIMER_REAL, limit_seconds)  # SIGALRM, which nobody catches
    try:
        return do(Path(folder), Job.model_validate(job), most_tries)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _key(filters: list[dict[str, Any]]) -> tuple[tuple[tuple[str, Any], ...], ...]:
    return tuple(tuple(sorted(one.items())) for one in filters)


@cache
def _chain(key: tuple[tuple[tuple[str, Any], ...], ...]) -> Chain:
    """Made once for all frames of a film."""
    return Chain.of([dict(one) for one in key])
