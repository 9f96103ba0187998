"""What a peer module offers to be measured: how to start its workers, submit the graph and await the join."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.peers.workers import Workers

WARM_UP_PAGES = 100
# How long to wait for a warm-up's join before looking whether the workers still live.
AWAIT_SLICE_SECONDS = 1.0


@dataclass(frozen=True)
class Joined:
    """What the join task itself saw of the pages before it."""

    results: int
    distinct_pages: int


@dataclass(frozen=True)
class Session:
    """A peer with its store prepared and its workers not yet started."""

    commands: list[list[str]]
    submit: Callable[[str, int], None]
    await_join: Callable[[str, float], Joined]
    joins: Callable[[str], int]
    environment: dict[str, str] = field(default_factory=dict)


def new_run() -> str:
    """Name one run of the graph, so that nothing left of an earlier run can be counted into it."""
    return uuid.uuid4().hex


def warm_up(session: Session, workers: Workers, timeout_seconds: float) -> None:
    """Run small graphs until both worker processes have executed tasks, and so are connected and imported."""
    deadline = time.monotonic() + timeout_seconds
    while not workers.warm():
        _warm_up_round(session, workers, deadline)
    # One more with both at work, as the last round may have been the second worker's first task.
    _warm_up_round(session, workers, deadline)


def _warm_up_round(session: Session, workers: Workers, deadline: float) -> None:
    run = new_run()
    session.submit(run, WARM_UP_PAGES)
    while True:
        workers.check_alive()
        try:
            session.await_join(run, AWAIT_SLICE_SECONDS)
            return
        except TimeoutError:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the workers did not warm up:\n{workers.logs()}") from None
