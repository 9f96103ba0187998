"""The Celery side shared by both Celery peers: the application, its tasks, its workers and the graph."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from celery import Celery, chain, chord

from bench.peers import redis_store
from bench.peers.session import Session
from bench.peers.workers import WORKER_PROCESSES, mark_warm


def make_app(broker_url: str) -> Celery:
    """Build the application on a broker; chords need a result backend that counts, which is Redis."""
    app = Celery("bench_peers", broker=broker_url, backend=redis_store.URL)
    app.conf.update(
        # Acknowledged after the work: acknowledging early loses what a dying worker had in hand. Messages
        # are persistent by default; without confirms one could still be lost before the broker stored it.
        task_acks_late=True,
        broker_transport_options={"confirm_publish": True} if broker_url.startswith("amqp") else {},
        # The optimizing guide's advice for many short tasks. Tried 1, 4, 64, 256 and 0 (no limit): 1 gave
        # 177 tasks/s on RabbitMQ; 4 stalled in some runs (174); from 64 on they lay within the noise.
        worker_prefetch_multiplier=64,
        worker_enable_remote_control=False,
        worker_disable_rate_limits=True,
        # The join needs no order, and a list costs Redis less than a sorted set.
        result_backend_transport_options={"result_chord_ordered": False},
    )
    _define_tasks(app)
    return app


def _define_tasks(app: Celery) -> None:
    @app.task(name="first", ignore_result=True)
    def first(page: int) -> int:
        mark_warm()
        return page

    @app.task(name="second")
    def second(page: int) -> int:
        mark_warm()
        return page

    @app.task(name="join", ignore_result=True)
    def join(pages: list[int], run: str) -> None:
        redis_store.report_join(run, pages)


@contextmanager
def make_session(app: Celery, module: str) -> Iterator[Session]:
    """Offer the graph on the application that the named module holds as `app`."""
    with redis_store.emptied():
        yield Session(
            commands=[_worker(module, number) for number in range(WORKER_PROCESSES)],
            submit=lambda run, pages: _submit(app, run, pages),
            await_join=redis_store.await_join,
            joins=redis_store.joins,
        )
        # The backend holds every page's result for good, each of which unsubscribes when it goes; left to the
        # interpreter's shutdown, that fails noisily.
        app.backend._pending_results.concrete.clear()


def _worker(module: str, number: int) -> list[str]:
    # Solo workers run tasks without a hop to a pool. One prefork worker with two children and two thread
    # pools of four gave 771 and 789 tasks/s on Redis where this gave 998; on RabbitMQ all lay in the noise.
    options = ["--pool=solo", "--without-gossip", "--without-mingle", "--without-heartbeat"]
    name = ["--hostname", f"peer{number}@%h", "--loglevel", "ERROR"]
    return [sys.executable, "-m", "celery", "-A", f"{module}:app", "worker", *options, *name]


def _submit(app: Celery, run: str, pages: int) -> None:
    first, second, join = (app.tasks[name] for name in ("first", "second", "join"))
    chord([chain(first.s(page), second.s()) for page in range(pages)])(join.s(run))
