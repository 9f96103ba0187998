"""Runs the fan-out benchmark's graph on other task queues, for DocProc's figure to stand beside.

Every peer runs N pages x (work -> work) -> one join, 2 * N + 1 tasks, on two worker processes.
"""

import importlib
import time
from dataclasses import dataclass
from types import ModuleType

from bench.peers import servers
from bench.peers.session import Session, new_run, warm_up
from bench.peers.workers import Workers

PEERS: dict[str, str] = {
    "celery_redis": "bench.peers.celery_redis",
    "celery_rabbitmq": "bench.peers.celery_rabbitmq",
    "dramatiq_rabbitmq": "bench.peers.dramatiq_rabbitmq",
    "pgqueuer_postgresql": "bench.peers.pgqueuer_postgresql",
    "procrastinate_postgresql": "bench.peers.procrastinate_postgresql",
}


@dataclass(frozen=True)
class Measurement:
    """One timed run: from the start of submitting until the join has run."""

    system: str
    tasks_per_s: float
    seconds: float
    pages: int


def available(name: str) -> str | None:
    """Return None when the peer can be measured here, else the reason why not."""
    try:
        peer = _load(name)
    except ImportError as error:
        return f"package not installed: {error.name or error}"
    return servers.missing(peer.SERVERS)


def measure(name: str, pages: int, timeout_seconds: float = 120.0) -> Measurement:
    """Start the peer's workers, warm them, time one run of the graph, and check what its join saw."""
    with _load(name).session() as session:
        with Workers(session.commands, session.environment) as workers:
            warm_up(session, workers, timeout_seconds)
            run = new_run()
            seconds = _timed(session, run, pages, timeout_seconds)
        # Counted only once the workers are gone: a second join could still have been on its way before.
        _check_joined_once(session, run)
    return Measurement(name, (2 * pages + 1) / seconds, seconds, pages)


def _load(name: str) -> ModuleType:
    return importlib.import_module(PEERS[name])


def _timed(session: Session, run: str, pages: int, timeout_seconds: float) -> float:
    started = time.perf_counter()
    session.submit(run, pages)
    joined = session.await_join(run, timeout_seconds)
    seconds = time.perf_counter() - started
    if (joined.results, joined.distinct_pages) != (pages, pages):
        raise RuntimeError(f"the join of {pages} pages saw {joined}")
    return seconds


def _check_joined_once(session: Session, run: str) -> None:
    joins = session.joins(run)
    if joins != 1:
        raise RuntimeError(f"the join ran {joins} times")
