"""Dramatiq with RabbitMQ as broker: pipelines counted in Redis, where the last page to finish sends the join.

Dramatiq's own group of pipelines with a completion callback was measured in turns with this: its six runs
gave 1182 to 2088 tasks/s, the counter's 2044 to 3572. Both lose the join if a worker dies between count and
send.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import dramatiq
from dramatiq.brokers.rabbitmq import RabbitmqBroker

from bench.peers import redis_store, servers
from bench.peers.session import Session
from bench.peers.workers import WORKER_PROCESSES, mark_warm

SERVERS = ("rabbitmq", "redis")
# The settings were tried on the group. Threads a process at prefetch 100: 2 gave 2094 tasks/s, 4 gave 1878
# and 8 gave 1187, against 2421 for 1: no-op work in threads only contends for the interpreter.
THREADS = 1
# At one thread 1 gave 1730 tasks/s, 16 gave 1962 and 1000 gave 2147.
PREFETCH = 100

# Messages are persistent and acknowledged after the work. With publisher confirms, because the comparison is
# between durable systems: without them (Dramatiq's default) a message can be lost before it is stored,
# and this graph ran about twice as fast.
broker = RabbitmqBroker(url=servers.RABBITMQ_URL, confirm_delivery=True)
dramatiq.set_broker(broker)


@dramatiq.actor
def first(run: str, page: int) -> int:
    mark_warm()
    return page


@dramatiq.actor
def second(run: str, page: int) -> None:
    mark_warm()
    with redis_store.client.pipeline() as pipe:
        # A set, so that a page delivered twice is counted once.
        pipe.sadd(f"pages:{run}", page)
        pipe.scard(f"pages:{run}")
        pipe.get(f"expected:{run}")
        added, done, expected = pipe.execute()
    if added and done == int(expected):
        join.send(run)


@dramatiq.actor
def join(run: str) -> None:
    redis_store.report_join(run, [int(page) for page in redis_store.client.smembers(f"pages:{run}")])


@contextmanager
def session() -> Iterator[Session]:
    with servers.rabbitmq_vhost(), redis_store.emptied():
        # The broker remembers the queues it declared, but those went with an earlier session's vhost.
        broker.queues_pending.update(broker.queues)
        yield Session(
            commands=[_workers()],
            environment={"dramatiq_queue_prefetch": str(PREFETCH)},
            submit=_submit,
            await_join=redis_store.await_join,
            joins=redis_store.joins,
        )
        del broker.connection


def _workers() -> list[str]:
    counts = ["--processes", str(WORKER_PROCESSES), "--threads", str(THREADS)]
    return [sys.executable, "-m", "dramatiq", __name__, *counts]


def _submit(run: str, pages: int) -> None:
    redis_store.client.set(f"expected:{run}", pages)
    for page in range(pages):
        dramatiq.pipeline([first.message(run, page), second.message(run)]).run()
