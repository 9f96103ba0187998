"""Which jobs can make their deadline: a pure decision about those that wait for the same workers."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
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
    tenant_id: str = "default"
    # Of its tenant.
    weight: float = 1.0


def out_of_shares(jobs: Sequence[Job], now: datetime, slots: int) -> set[UUID]:
    """As `out_of_reach`, each tenant with what the workers can do for it: one that sends more than its share
    puts its own work out of reach, and nobody else's."""
    by_tenant: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        by_tenant[job.tenant_id].append(job)
    weights = {tenant: own[0].weight for tenant, own in by_tenant.items()}
    demands = {tenant: _demand(own, now) for tenant, own in by_tenant.items()}
    capacities = shares(demands, weights, slots)
    return {one for tenant, own in by_tenant.items() for one in out_of_reach(own, now, capacities[tenant])}


def shares(demands: Mapping[str, float], weights: Mapping[str, float], slots: float) -> dict[str, float]:
    """How many slots each tenant can count on: its share by weight, and what others do not need of theirs."""
    total = sum(weights.values())
    fair = {tenant: slots * weight / total for tenant, weight in weights.items()}
    needed = {tenant: min(demands[tenant], fair[tenant]) for tenant in fair}
    return {tenant: max(fair[tenant], slots - sum(needed.values()) + needed[tenant]) for tenant in fair}


def _demand(jobs: Sequence[Job], now: datetime) -> float:
    """How many slots it would take to do them by the last of their deadlines."""
    seconds = (max(job.deadline_utc for job in jobs) - now).total_seconds()
    return sum(job.seconds for job in jobs) / max(seconds, 1.0)


def out_of_reach(jobs: Sequence[Job], now: datetime, slots: float) -> set[UUID]:
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
