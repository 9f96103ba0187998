"""Queueing formulas: what a load does to a number of workers, without simulating it.

Each pool of workers is an M/G/c queue (Erlang's C with the Lee-Longton factor for the variation of service
times). The units of a request are worked on at the same time, so a request counts as one customer that takes
several workers at once. Response times are put together by their first two moments and read off a gamma
distribution (Wilson and Hilferty's cube root).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

from docproc.capacity.load import Flow, Load

_NORMAL = NormalDist()
# The 95th percentile is the one that service levels are agreed on.
P95 = 0.95


@dataclass(frozen=True, slots=True)
class Response:
    """How long requests take: infinite where the workers cannot keep up."""

    mean: float
    p95: float
    late_share: float
    # Pool -> the share of the time that its workers are busy.
    utilisation: Mapping[str, float]


def response(load: Load, workers: Mapping[str, int]) -> Response:
    """What a load means for pools with so many workers each."""
    busy = {pool: load.per_second * load.work(pool) / workers[pool] for pool in load.pools}
    if any(share >= 1 for share in busy.values()):
        return Response(math.inf, math.inf, 1.0, busy)
    waits = {pool: _wait(load, pool, workers[pool]) for pool in load.pools}
    mean = second = 0.0
    for flow in load.flows:
        m, v = _service(flow, workers)
        m += sum(wait for wait, _ in waits.values())
        v += sum(variance for _, variance in waits.values())
        mean += flow.share * m
        second += flow.share * (v + m * m)
    gamma = _Gamma(mean, max(second - mean * mean, 0.0))
    return Response(mean, gamma.quantile(P95), gamma.beyond(load.deadline_seconds), busy)


def erlang_c(servers: int, offered: float) -> float:
    """The share of customers that have to wait, in a queue with so many servers (offered < servers)."""
    blocked = 1.0
    for n in range(1, servers + 1):  # Erlang B by its recursion, which does not overflow
        blocked = offered * blocked / (n + offered * blocked)
    return blocked / (1 - offered / servers * (1 - blocked))


def _wait(load: Load, pool: str, workers: int) -> tuple[float, float]:
    """Mean and variance of the time before the workers of a pool turn to a request."""
    mean = square = width = 0.0
    for flow in load.flows:
        parallel = max((min(one.number, workers) for one in flow.visits if one.pool == pool), default=1)
        seconds = flow.work(pool) / parallel
        mean += flow.share * seconds
        square += flow.share * seconds * seconds * (1 + _scv(flow, pool))
        width += flow.share * parallel
    if mean == 0:
        return 0.0, 0.0
    servers = max(1, round(workers / width))
    offered = load.per_second * load.work(pool) / workers * servers
    waits = erlang_c(servers, offered)
    wait = waits * mean / (servers - offered) * (square / mean**2) / 2
    # An exponential tail for those who wait, nothing for the others.
    return wait, wait * wait * (2 / waits - 1) if waits > 0 else 0.0


def _scv(flow: Flow, pool: str) -> float:
    """Of a request's work in a pool: many messages of one stage even each other out."""
    work = flow.work(pool)
    variance = sum(one.number * one.time.scv * one.time.seconds**2 for one in flow.visits if one.pool == pool)
    return variance / work**2 if work else 0.0


def _service(flow: Flow, workers: Mapping[str, int]) -> tuple[float, float]:
    """Mean and variance of a request's own way through its stages, with nobody else there."""
    mean = variance = 0.0
    for one in flow.visits:
        rounds = math.ceil(one.number / workers[one.pool])
        mean += rounds * one.time.seconds
        variance += rounds * one.time.scv * one.time.seconds**2
    return mean + flow.overhead_seconds, variance


class _Gamma:
    def __init__(self, mean: float, variance: float) -> None:
        self.mean = mean
        self.shape = mean * mean / variance if variance > 0 else math.inf

    def quantile(self, share: float) -> float:
        if math.isinf(self.shape):
            return self.mean
        ninth = 1 / (9 * self.shape)
        return float(self.mean * max(0.0, 1 - ninth + _NORMAL.inv_cdf(share) * math.sqrt(ninth)) ** 3)

    def beyond(self, seconds: float) -> float:
        """The share above a time."""
        if math.isinf(self.shape):
            return float(self.mean > seconds)
        ninth = 1 / (9 * self.shape)
        return 1 - _NORMAL.cdf(((seconds / self.mean) ** (1 / 3) - (1 - ninth)) / math.sqrt(ninth))
