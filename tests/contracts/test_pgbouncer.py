"""A pooler in transaction mode before PostgreSQL: what of the contracts could depend on sessions.

The whole suite runs on it with `TEST_COMBINATIONS=pgbouncer+sql pytest tests/contracts`; here are the parts
that use transactions, leases and wake-ups differently from each other, and what only a pooler can do wrong.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from bench.servers import PostgresServer
from docproc.engine.store.postgresql import is_pooled
from docproc.engine.store.session import Store, is_passing, until_passed
from docproc.engine.transports.postgres_wakeups import PostgresWakeups
from docproc.errors import DatabaseDownError
from tests import services
from tests.contracts import test_deadlines as deadlines
from tests.contracts import test_engine as engine_contract
from tests.contracts import test_transport as transport_contract
from tests.harness import opened, settings_for

waiting = deadlines.waiting
test_thresholds_act_once = deadlines.test_each_threshold_acts_once_however_many_monitors_look
test_broken_stream_goes_on = engine_contract.test_broken_stream_goes_on_where_it_was_committed
test_exclusive_work_is_done_once = engine_contract.test_exclusive_work_is_done_once_though_delivered_twice
test_two_workers_share = engine_contract.test_two_workers_share_many_requests_and_each_join_fires_once
test_delay_survives = transport_contract.test_delay_survives_the_worker_that_caused_it
test_idle_is_woken = transport_contract.test_idle_consumer_is_woken_by_another_process_without_polling


@pytest.fixture
def combination() -> str:
    return "pgbouncer+sql"


@pytest.fixture
def narrow_url(postgres_url: str, tmp_path: Path) -> Iterator[str]:
    """Through a pooler with one session: each transaction gets what the one before left."""
    services.require(services.pgbouncer_problem())
    with services.pgbouncer(tmp_path, sessions=1) as port:
        yield services.at_port(postgres_url, port)


def async_url(url: str) -> str:
    return url.replace("postgresql://", "postgresql+asyncpg://")


async def test_pooler_is_told_from_the_server(postgres_url: str, narrow_url: str) -> None:
    for url, expected in ((postgres_url, False), (narrow_url, True)):
        connection = await asyncpg.connect(url)
        assert await is_pooled(connection) is expected
        await connection.close()


async def test_transactions_leave_nothing_in_a_shared_session(narrow_url: str) -> None:
    """Neither a statement under a name, nor the setting that lets claims wait for no disk."""
    one, other = Store(async_url(narrow_url)), Store(async_url(narrow_url))
    show = text("SELECT pg_backend_pid(), current_setting('synchronous_commit')")
    sessions = set()
    for store in (one, other) * 2:
        async with store.claiming() as connection:
            session, commits = (await connection.execute(show)).one()
            assert commits == "off"
        async with store.writing() as writing:
            session_too, commits = (await writing.execute(show)).one()
            assert commits == "on"
            named = await writing.execute(
                text("SELECT count(*) FROM pg_prepared_statements WHERE name <> ''")
            )
            assert named.scalar_one() == 0
        sessions |= {session, session_too}
    assert len(sessions) == 1
    await one.close()
    await other.close()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[tuple[PostgresServer, str]]:
    """A server that may be stopped, and its address through a pooler."""
    services.require(services.pgbouncer_problem() or PostgresServer.available())
    with (
        PostgresServer(fsync=False) as server,
        services.pgbouncer(tmp_path, patience_seconds=1, server_url=server.url) as port,
    ):
        yield server, async_url(services.at_port(server.url, port))


async def test_server_that_goes_away_behind_the_pooler_is_passing_trouble(
    own_server: tuple[PostgresServer, str],
) -> None:
    """The pooler lets clients in meanwhile; whoever is let in must not take that for an error of its own."""
    server, url = own_server
    connected, known, new = Store(url), Store(url), Store(url)
    await _ask(connected)
    await _ask(known)
    await known.close()  # it knows of the pooler, and will connect anew
    server.stop()
    for store in (known, new, connected) * 2:
        with pytest.raises((DBAPIError, DatabaseDownError)) as raised:
            await asyncio.wait_for(_ask(store), 30)
        assert is_passing(raised.value), raised.value
    server.start()
    for store in (known, new, connected):
        async with asyncio.timeout(30):
            await until_passed(partial(_ask, store))
        await store.close()


async def _ask(store: Store) -> None:
    async with store.writing() as session:
        await session.execute(text("SELECT 1"))


async def test_sessions_that_a_failover_left_read_only_are_given_up(
    own_server: tuple[PostgresServer, str],
) -> None:
    server, url = own_server
    dsn = server.url.replace("+asyncpg", "")
    direct = await asyncpg.connect(dsn, server_settings={"default_transaction_read_only": "off"})
    await direct.execute("CREATE TABLE written (at timestamptz DEFAULT now())")
    await direct.execute("ALTER DATABASE postgres SET default_transaction_read_only = on")
    store = Store(url, connections=3)

    async def write() -> None:
        async with store.writing() as session:
            await session.execute(text("INSERT INTO written DEFAULT VALUES"))

    for refused in await asyncio.gather(*(write() for _ in range(3)), return_exceptions=True):
        assert isinstance(refused, DBAPIError) and is_passing(refused)
    assert await store.problem() == "the database takes no writes"
    await direct.execute("ALTER DATABASE postgres SET default_transaction_read_only = off")
    async with asyncio.timeout(10):
        await asyncio.gather(*(until_passed(write) for _ in range(3)))
    assert await store.problem() is None
    await store.close()
    await direct.close()


async def test_nobody_holds_a_session_while_waiting_for_another(narrow_url: str, tmp_path: Path) -> None:
    """Two processes that share one session promote a delayed message and tell each other of it."""
    async with opened(settings_for(tmp_path, database_url=narrow_url)) as engine:
        await transport_contract.test_delayed_message_is_delivered_when_due_and_not_before(engine)


async def test_who_reaches_the_server_itself_is_woken_from_behind_the_pooler(
    postgres_url: str, narrow_url: str
) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    direct = PostgresWakeups(Store(async_url(postgres_url)).url, list)
    pooled = PostgresWakeups(Store(async_url(narrow_url)).url, list)
    await direct.open(heard.put_nowait)
    await pooled.open(lambda _: None)
    await pooled.send(["q.work"])
    assert await asyncio.wait_for(heard.get(), 5) == "q.work"
    await pooled.close()
    await direct.close()
