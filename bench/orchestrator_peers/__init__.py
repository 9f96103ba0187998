"""Peers of the orchestrator: a task over HTTP, done by a worker process, its end told over a WebSocket.

The same small front (front.py: POST /tasks, WebSocket /ws) stands before each of them. None of them keeps a
task anywhere but in Redis, whose log is written once a second (`appendonly`), the most that Redis is usually
asked for.
"""

import os
import sys
from collections.abc import Callable
from typing import Any, Protocol

URL = "BENCH_REDIS_URL"

# Called with the id of a task that is done.
Told = Callable[[str], None]


class Peer(Protocol):
    """How the front hands a task over; `told` is called when it is done."""

    async def start(self, told: Told) -> None: ...

    async def submit(self, payload: Any) -> str: ...


def url() -> str:
    return os.environ.get(URL, "redis://127.0.0.1:6379/0")


def work(payload: Any) -> Any:
    """What every worker does, and the service of the orchestrator, too."""
    return {"echo": payload}


def workers() -> dict[str, list[str]]:
    """The command of a worker process, by the peer's name."""
    celery = ["-A", "bench.orchestrator_peers.celery_redis:app", "worker", "--pool=solo"]
    taskiq = "bench.orchestrator_peers.taskiq_redis:broker"
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "ERROR"]
    return {
        "raw": [sys.executable, "-m", "bench.orchestrator_peers.raw_stream"],
        "celery": [sys.executable, "-m", "celery", *celery, *quiet],
        "taskiq": [sys.executable, "-m", "taskiq", "worker", "--workers", "1", taskiq],
    }
