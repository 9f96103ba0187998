"""PgQueuer on PostgreSQL: each page's job enqueues its next, and the last page's enqueues the join."""

import asyncio
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver, AsyncpgPoolDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

from bench.peers import postgresql_store, servers
from bench.peers.session import Joined, Session
from bench.peers.workers import WORKER_PROCESSES, mark_warm

SERVERS = ("postgresql",)
DATABASE = "docproc_bench_peers_pgqueuer"
URL = servers.postgresql_url(DATABASE)
# The tuning guide says to raise it for short jobs. On a pool of 10, the best runs of 10, 50, 100, 250 and 500
# gave 1559, 1726, 1542, 1377 and 1755 tasks/s: all within the noise.
BATCH_SIZE = 100
# 3, 5, 10 and 20 gave 2210, 2078, 1542 and 1334 tasks/s, perhaps as connections wait for each other at the
# run's counter. The guide's one connection for the manager, beside a pool of 5 for the handlers, gave 1479.
POOL_SIZE = 3


async def work() -> None:
    """Run one worker until SIGTERM."""
    async with asyncpg.create_pool(URL, min_size=POOL_SIZE, max_size=POOL_SIZE) as pool:
        queuer = PgQueuer(AsyncpgPoolDriver(pool))
        _define_entrypoints(queuer, pool)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, queuer.shutdown.set)
        await queuer.run(batch_size=BATCH_SIZE)


def _define_entrypoints(queuer: PgQueuer, pool: asyncpg.Pool) -> None:
    queries = Queries(AsyncpgPoolDriver(pool))

    @queuer.entrypoint("first")
    async def first(job: Job) -> None:
        mark_warm()
        await queries.enqueue("second", job.payload)

    @queuer.entrypoint("second")
    async def second(job: Job) -> None:
        mark_warm()
        run, page = json.loads(job.payload)
        if await pool.fetchval("SELECT bench_page_done($1, $2)", run, page):
            await queries.enqueue("join", run.encode())

    @queuer.entrypoint("join")
    async def join(job: Job) -> None:
        await pool.execute("SELECT bench_joined($1)", job.payload.decode())


class _Client:
    """The submitting side: a connection that enqueues, and hears when a join has run."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self._heard: asyncio.Queue[str] = asyncio.Queue()
        self._connection: asyncpg.Connection = runner.run(self._open())

    async def _open(self) -> asyncpg.Connection:
        connection = await asyncpg.connect(URL)
        # With the default durability, all tables logged: by the guide, less than that may lose jobs.
        await Queries(AsyncpgDriver(connection)).install()
        await connection.add_listener(
            postgresql_store.JOIN_CHANNEL,
            lambda _connection, _pid, _channel, run: self._heard.put_nowait(run),
        )
        return connection

    def close(self) -> None:
        self._runner.run(self._connection.close())

    def submit(self, run: str, pages: int) -> None:
        self._runner.run(self._submit(run, pages))

    async def _submit(self, run: str, pages: int) -> None:
        await self._connection.execute("INSERT INTO bench_run VALUES ($1, $2)", run, pages)
        payloads = [json.dumps([run, page]).encode() for page in range(pages)]
        await Queries(AsyncpgDriver(self._connection)).enqueue(["first"] * pages, payloads, [0] * pages)

    def await_join(self, run: str, timeout_seconds: float) -> Joined:
        return self._runner.run(asyncio.wait_for(self._await_join(run), timeout_seconds))

    async def _await_join(self, run: str) -> Joined:
        while await self._heard.get() != run:
            pass
        row = await self._connection.fetchrow(
            "SELECT results, distinct_pages FROM bench_join WHERE run = $1", run
        )
        return Joined(*row)


@contextmanager
def session() -> Iterator[Session]:
    with servers.postgresql_database(DATABASE, postgresql_store.SCHEMA), asyncio.Runner() as runner:
        client = _Client(runner)
        yield Session(
            commands=[_worker()] * WORKER_PROCESSES,
            submit=client.submit,
            await_join=client.await_join,
            joins=lambda run: postgresql_store.joins(DATABASE, run),
        )
        client.close()


def _worker() -> list[str]:
    # Not `pgq run`, whose log level option in pgqueuer 1.6.0 fails under typer 0.29; uvloop, as it would use.
    return [sys.executable, "-c", f"import uvloop, {__name__} as peer; uvloop.run(peer.work())"]
