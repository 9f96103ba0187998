"""Keeps in Redis what the join of a Redis-backed peer saw, in a database of its own.

How durable Redis is, is the server's own setting (appendonly): a client cannot ask for it.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from bench.peers.servers import HOST
from bench.peers.session import Joined

DATABASE = 13
URL = f"redis://{HOST}:6379/{DATABASE}"

# It connects on first use, so that each child of a forking pool gets connections of its own. It has no socket
# timeout, as await_join blocks for as long as its caller allows.
client: "redis.Redis[bytes]" = redis.Redis.from_url(URL, socket_timeout=None)


@contextmanager
def emptied() -> Iterator[None]:
    """Empty the benchmark's own Redis database before and after."""
    client.flushdb()
    try:
        yield
    finally:
        client.flushdb()


def report_join(run: str, pages: list[int]) -> None:
    """Called by the join task: say what it saw, and that it ran once more."""
    with client.pipeline() as pipe:
        pipe.incr(f"joins:{run}")
        pipe.rpush(f"joined:{run}", json.dumps([len(pages), len(set(pages))]))
        pipe.execute()


def await_join(run: str, timeout_seconds: float) -> Joined:
    """Block until the run's join has reported."""
    popped = client.blpop([f"joined:{run}"], timeout=timeout_seconds)
    if popped is None:
        raise TimeoutError(f"no join within {timeout_seconds} s")
    return Joined(*json.loads(popped[1]))


def joins(run: str) -> int:
    return int(client.get(f"joins:{run}") or 0)
