"""Planning: the fewest workers and people with which a load keeps its deadline."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from docproc.capacity.load import Load
from docproc.capacity.queueing import Response, erlang_c, response
from docproc.capacity.simulation import Simulated, simulate

# Above it a queue is mostly waiting, and a small error of the estimate breaks every deadline.
MOST_BUSY = 0.8
# People need pauses.
MOST_BUSY_PEOPLE = 0.85
# More workers than this for one component is another architecture, not another number.
MOST_WORKERS = 10_000


@dataclass(frozen=True, slots=True)
class Staff:
    """People who answer questions."""

    tasks_per_hour: float
    # At the same time.
    present: int
    shifts: int
    wait_seconds: float


@dataclass(frozen=True, slots=True)
class CapacityPlan:
    """How many workers each component needs, and what is to be expected of them."""

    load: Load
    workers: Mapping[str, int]
    formula: Response
    simulated: Simulated
    staff: Staff | None

    @property
    def is_enough(self) -> bool:
        """Whether 95 of 100 requests make their deadline, by formula and by simulation."""
        limit = self.load.deadline_seconds
        return self.formula.p95 <= limit and self.simulated.percentile(0.95) <= limit


def plan(load: Load, *, staff: Staff | None = None, requests: int = 2000) -> CapacityPlan:
    """The fewest workers that are not too busy and keep the deadline, if any number of them does.

    Where work that no further worker can share takes longer than the deadline, the plan says so
    (`is_enough`): then only faster machines or shorter documents help.
    """
    workers = {pool: _least(load, pool) for pool in load.pools}
    while response(load, workers).p95 > load.deadline_seconds:
        better = _one_more(load, workers)
        if better is None:
            break
        workers = better
    simulated = simulate(load, workers, requests=requests)
    # What a formula averages away: bursts in which requests block each other.
    for _ in range(len(workers) * 2):
        if simulated.percentile(0.95) <= load.deadline_seconds:
            break
        better = _one_more(load, workers)
        if better is None:
            break
        workers = better
        simulated = simulate(load, workers, requests=requests)
    return CapacityPlan(load, workers, response(load, workers), simulated, staff)


def staff(
    requests_per_second: float,
    *,
    asked: float,
    handling_seconds: float,
    patience_seconds: float,
    hours: float = 8.0,
    shift_hours: float = 8.0,
) -> Staff:
    """People for so many questions a request; none waits longer than `patience_seconds` on average."""
    rate = requests_per_second * asked
    offered = rate * handling_seconds
    present = max(1, math.ceil(offered / MOST_BUSY_PEOPLE))
    while (wait := _people_wait(present, offered, handling_seconds)) > patience_seconds:
        present += 1
    return Staff(rate * 3600, present, math.ceil(hours / shift_hours), wait)


def _people_wait(present: int, offered: float, handling_seconds: float) -> float:
    return erlang_c(present, offered) * handling_seconds / (present - offered)


def _least(load: Load, pool: str) -> int:
    return max(1, math.ceil(load.per_second * load.work(pool) / MOST_BUSY))


def _one_more(load: Load, workers: Mapping[str, int]) -> dict[str, int] | None:
    """With more workers where each of them helps most; None where they help nowhere."""
    now = response(load, workers).p95
    best: dict[str, int] | None = None
    best_gain = now * 0.001
    for pool, number in workers.items():
        for more in _next_sizes(load, pool, number):
            tried = {**workers, pool: more}
            then = response(load, tried).p95
            gain = math.inf if math.isinf(now) and not math.isinf(then) else (now - then) / (more - number)
            if more <= MOST_WORKERS and gain > best_gain:
                best, best_gain = tried, gain
    return best


def _next_sizes(load: Load, pool: str, number: int) -> set[int]:
    """One more; and as many as save a request's units a round, because fewer of them may save nothing."""
    sizes = {number + 1}
    for flow in load.flows:
        for one in flow.visits:
            rounds = math.ceil(one.number / number)
            if one.pool == pool and rounds > 1:
                sizes.add(math.ceil(one.number / (rounds - 1)))
    return {size for size in sizes if size > number}
