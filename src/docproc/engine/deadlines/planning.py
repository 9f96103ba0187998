"""Which jobs can make their deadline: a pure decision about those that wait for the same workers."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

# A job that was put back comes forward again only if it fits with room to spare: no swinging to and fro.
READMISSION = 1.25


@dataclass(frozen=True, slots=True)
class Job:
    """What a request still needs of some workers. `is_lowered`: it was out of reach when last looked at."""

    request_id: UUID
    deadline_utc: datetime
    seconds: float
    priority: int = 5
    is_lowered: bool = False


def out_of_reach(jobs: Sequence[Job], now: datetime, slots: int) -> set[UUID]:
    """The jobs to be put back so that most of the others are done in time.

    Nearest deadline first, and where one would be late the largest of the least important so far is dropped:
    the rule of Moore and Hodgson, which leaves the fewest jobs late. Plain nearest-deadline-first gives every
    worker to the job that is about to be late, and at overload that is all of them.
    """
    dropped: set[UUID] = set()
    kept: list[tuple[int, float, UUID]] = []
    total = 0.0
    for job in sorted(jobs, key=lambda job: (job.deadline_utc, job.request_id)):
        seconds = job.seconds * (READMISSION if job.is_lowered else 1.0)
        heapq.heappush(kept, (job.priority, -seconds, job.request_id))
        total += seconds
        left = (job.deadline_utc - now).total_seconds() * slots
        while total > left and kept:
            _, negative, largest = heapq.heappop(kept)
            dropped.add(largest)
            total += negative
    return dropped
