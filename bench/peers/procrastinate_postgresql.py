"""Procrastinate on PostgreSQL: each page's job defers its next, and the last page's defers the join."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from procrastinate import App, PsycopgConnector

from bench.peers import postgresql_store, servers
from bench.peers.session import Joined, Session
from bench.peers.workers import WORKER_PROCESSES, mark_warm

SERVERS = ("postgresql",)
DATABASE = "docproc_bench_peers_procrastinate"
URL = servers.postgresql_url(DATABASE)
# 1, 2, 4, 10 and 20 jobs at once a worker gave 327, 300, 474, 509 and 423 tasks/s on a pool of 5; larger
# pools and deleting successful jobs gave no more. Jobs are fetched one a query, whatever the concurrency.
CONCURRENCY = 10
POOL_SIZE = 5

connector = PsycopgConnector(conninfo=URL, min_size=POOL_SIZE, max_size=POOL_SIZE)
app = App(connector=connector)


@app.task(name="first")
async def first(run: str, page: int) -> None:
    mark_warm()
    await second.defer_async(run=run, page=page)


@app.task(name="second")
async def second(run: str, page: int) -> None:
    mark_warm()
    sql = "SELECT bench_page_done(%(run)s, %(page)s) AS last"
    if (await connector.execute_query_one_async(sql, run=run, page=page))["last"]:
        await join.defer_async(run=run)


@app.task(name="join")
async def join(run: str) -> None:
    await connector.execute_query_async("SELECT bench_joined(%(run)s)", run=run)


@contextmanager
def session() -> Iterator[Session]:
    with servers.postgresql_database(DATABASE, postgresql_store.SCHEMA), app.open():
        app.schema_manager.apply_schema()
        with psycopg.connect(URL, autocommit=True) as connection:
            connection.execute(f"LISTEN {postgresql_store.JOIN_CHANNEL}")
            yield Session(
                commands=[_worker()] * WORKER_PROCESSES,
                submit=lambda run, pages: _submit(connection, run, pages),
                await_join=lambda run, timeout_seconds: _await_join(connection, run, timeout_seconds),
                joins=lambda run: postgresql_store.joins(DATABASE, run),
            )


def _worker() -> list[str]:
    app_path = f"--app={__name__}.app"
    return [sys.executable, "-m", "procrastinate", app_path, "worker", f"--concurrency={CONCURRENCY}"]


def _submit(connection: psycopg.Connection, run: str, pages: int) -> None:
    connection.execute("INSERT INTO bench_run VALUES (%s, %s)", (run, pages))
    first.batch_defer(*({"run": run, "page": page} for page in range(pages)))


def _await_join(connection: psycopg.Connection, run: str, timeout_seconds: float) -> Joined:
    for notice in connection.notifies(timeout=timeout_seconds):
        if notice.payload == run:
            break
    row = connection.execute(
        "SELECT results, distinct_pages FROM bench_join WHERE run = %s", (run,)
    ).fetchone()
    if row is None:
        raise TimeoutError(f"no join within {timeout_seconds} s")
    return Joined(*row)
