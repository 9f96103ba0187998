"""Simulation of a load with simpy: requests that fan out, wait for workers, and join again."""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from docproc.capacity.calibration import ServiceTime
from docproc.capacity.load import Flow, Load, Visit
from docproc.errors import ConfigurationError

# The first requests find everything empty, which the others do not.
_WARM_UP_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Simulated:
    """How long the requests of a simulation took, in seconds."""

    seconds: Sequence[float]
    deadline_seconds: float

    def percentile(self, share: float) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]

    @property
    def late_share(self) -> float:
        return sum(one > self.deadline_seconds for one in self.seconds) / len(self.seconds)


def simulate(load: Load, workers: Mapping[str, int], *, requests: int = 2000, seed: int = 1) -> Simulated:
    """So many requests, arriving at random (Poisson), through pools with so many workers each.

    Pools serve in the order of arrival, which is the order of deadlines where all requests have the same one.
    """
    simpy = _simpy()
    chance = random.Random(seed)
    env = simpy.Environment()
    pools = {pool: simpy.Resource(env, capacity=number) for pool, number in workers.items()}
    taken: list[float] = []

    def one_unit(visits: Sequence[Visit]) -> Generator[Any, Any, None]:
        for visit in visits:
            with pools[visit.pool].request() as turn:
                yield turn
                yield env.timeout(_drawn(chance, visit.time))

    def one_request(flow: Flow, is_counted: bool) -> Generator[Any, Any, None]:
        began = env.now
        yield env.timeout(flow.overhead_seconds)
        for visits in _segments(flow):
            units = [env.process(one_unit(visits)) for _ in range(visits[0].number)]
            yield env.all_of(units)
        if is_counted:
            taken.append(env.now - began)

    def arrivals() -> Generator[Any, Any, None]:
        shares = [flow.share for flow in load.flows]
        for number in range(requests):
            yield env.timeout(chance.expovariate(load.per_second))
            (flow,) = chance.choices(load.flows, shares)
            env.process(one_request(flow, number >= requests * _WARM_UP_SHARE))

    env.process(arrivals())
    env.run()
    return Simulated(taken, load.deadline_seconds)


def _segments(flow: Flow) -> Iterator[list[Visit]]:
    """Stages that one unit goes through by itself; at the end of a segment its siblings are waited for."""
    for _, visits in groupby(flow.visits, key=lambda one: (one.unit, one.number)):
        yield list(visits)


def _drawn(chance: random.Random, time: ServiceTime) -> float:
    """Service times are skewed: now and then a page takes much longer than others, none takes less than 0."""
    if time.seconds == 0 or time.scv == 0:
        return time.seconds
    variance = math.log(1 + time.scv)
    return chance.lognormvariate(math.log(time.seconds) - variance / 2, math.sqrt(variance))


def _simpy() -> Any:
    try:
        import simpy
    except ImportError as error:
        raise ConfigurationError(
            "simulating needs a package that is not installed: simpy",
            remedy="Install it with: pip install 'docproc[capacity]'",
        ) from error
    return simpy
