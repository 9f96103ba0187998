"""A database that fails over, takes no writes or has no room refuses politely; what it accepted ends."""

from __future__ import annotations

import asyncio
import shutil
from collections import namedtuple
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from sqlalchemy.exc import DBAPIError, OperationalError

from bench.servers import PostgresServer
from docproc.engine.store import clock, duties, messages, migrate, rows, turns, workers
from docproc.engine.store import session as session_module
from docproc.engine.store.session import Store, is_full, is_passing
from docproc.errors import DatabaseDownError, SilentTransactionError
from docproc.http.app import create_app
from tests import services
from tests.harness import Harness, opened, settings_for

ONE = "stages: [{name: work, component: work}]"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    services.require(PostgresServer.available())
    with PostgresServer(fsync=False) as server:
        yield server


@asynccontextmanager
async def client_of(engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
        yield client


async def test_everything_accepted_ends_after_a_time_without_writes(
    server: PostgresServer, tmp_path: Path
) -> None:
    store = Store(server.url)
    settings = settings_for(tmp_path, database_url=server.url)
    async with opened(settings_for(tmp_path)) as embedded:
        await migrate.upgrade(store, embedded.app.applications.migrations)
    await store.close()
    async with opened(settings) as engine, client_of(engine) as client:
        engine.workflow("one", ONE)
        _, worker, _, _ = await engine.start("work", "workflow_router")
        assert (await client.get("/ready")).status_code == 200
        accepted = [await _post(client) for _ in range(5)]
        await _read_only(server.url, "on")
        refused = await client.post("/requests", json={"workflow": "one"})
        assert (refused.status_code, refused.headers.get("Retry-After")) == (503, "5")
        ready = await client.get("/ready")
        assert (ready.status_code, ready.headers.get("Retry-After")) == (503, "5")
        await engine.until(lambda: not worker.is_ready, "the worker says that nothing moves")
        await _read_only(server.url, "off", cut=False)  # sessions that are read-only stay so
        accepted.append(await _until_posted(client))
        for request_id in accepted:
            assert (await engine.finished(request_id)).status == "completed"
            assert len(await engine.events(request_id, "handled")) == 2
        await engine.until(lambda: worker.is_ready, "the worker is ready again")
        assert (await client.get("/ready")).status_code == 200


async def _post(client: httpx.AsyncClient) -> Any:
    answer = await client.post("/requests", json={"workflow": "one"})
    assert answer.status_code == 200, answer.text
    return answer.json()["request_id"]


async def _until_posted(client: httpx.AsyncClient) -> Any:
    """Each refusal gives up the sessions that were read-only."""
    async with asyncio.timeout(10):
        while (answer := await client.post("/requests", json={"workflow": "one"})).status_code == 503:
            await asyncio.sleep(0.05)
    assert answer.status_code == 200, answer.text
    return answer.json()["request_id"]


async def _read_only(url: str, value: str, *, cut: bool = True) -> None:
    """As a failover does: sessions are cut, and those that begin now are read-only for all their life."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    await connection.execute("SET default_transaction_read_only = off")
    await connection.execute(f"ALTER DATABASE postgres SET default_transaction_read_only = {value}")
    if cut:
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    await connection.close()


@pytest.mark.parametrize(
    "code", ["25006", "57P01", "57P02", "57P03", "57P04", "57P05", "57014", "08006", "08003"]
)
async def test_trouble_of_the_server_passes(server: PostgresServer, code: str) -> None:
    """Whatever the server says of itself is no word about the message."""
    store = Store(server.url)
    first = await _session_of(store)
    with pytest.raises(DBAPIError) as failed:
        async with store.writing() as session:
            await rows.execute(session, f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END $$")
    assert is_passing(failed.value)
    is_kept = await _session_of(store) == first
    assert is_kept == (code == "57014")  # else the session is of no use, and is not given out again
    await store.close()


async def _session_of(store: Store) -> int:
    async with store.reading() as session:
        (row,) = await rows.execute(session, "SELECT pg_backend_pid() AS pid")
        return int(row.pid)


# --- processes that stopped in the middle of a transaction ------------------------------------------------


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "_SILENT_SECONDS", 1)


@pytest.mark.usefixtures("impatient")
async def test_locks_of_a_process_that_stopped_are_freed(server: PostgresServer) -> None:
    """Stopped by SIGSTOP, frozen with its machine: its connection stays open, and it says nothing."""
    stopped, other = Store(server.url), Store(server.url)
    lock = "SELECT pg_advisory_xact_lock(7)"

    async def stops() -> None:
        async with stopped.writing() as session:
            await rows.execute(session, lock)
            async with other.writing() as heir:
                await rows.execute(heir, lock)  # waits until the server frees it
            await rows.execute(session, "SELECT 1")

    async with asyncio.timeout(10):
        with pytest.raises(DBAPIError) as failed:
            await stops()
    assert is_passing(failed.value)
    assert await _session_of(stopped)  # and the one that wakes can go on
    await stopped.close()
    await other.close()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("uses_it_again", [True, False])
async def test_component_that_computes_in_its_transaction_is_told_and_does_not_repeat_for_ever(
    server: PostgresServer, uses_it_again: bool
) -> None:
    store = Store(server.url)

    async def computes() -> None:
        async with store.handling(lambda connection: None) as session:
            await rows.execute(session, "SELECT 1")
            await asyncio.sleep(1.5)
            if uses_it_again:
                await rows.execute(session, "SELECT 1")

    with pytest.raises(SilentTransactionError, match="nothing happened for 1 s") as caught:
        await computes()
    assert not is_passing(caught.value)  # so it counts as an attempt
    await store.close()


async def test_claim_does_not_wait_long_for_a_lock_of_a_stopped_process(server: PostgresServer) -> None:
    """There are two connections for claims: if both wait for such a lock, nobody can claim anything."""
    store, stopped = Store(server.url), Store(server.url)
    async with store.claiming() as connection:
        await rows.execute(connection, "CREATE TABLE shared (n integer)")
        await rows.execute(connection, "INSERT INTO shared VALUES (1)")
    async with stopped.writing() as session:
        await rows.execute(session, "UPDATE shared SET n = 2")
        for claiming in (store.claiming, store.claiming_once):
            with pytest.raises(DBAPIError) as caught:
                async with asyncio.timeout(10), claiming() as connection:
                    await rows.execute(connection, "UPDATE shared SET n = 3")
            assert is_passing(caught.value)
    async with store.claiming_once() as connection:
        await rows.execute(connection, "UPDATE shared SET n = n + 1")
        # Committed by the server itself: another connection sees it while this one is still held.
        async with stopped.reading() as session:
            assert (await rows.execute(session, "SELECT n FROM shared"))[0].n == 3
    async with store.claiming() as connection:
        await rows.execute(connection, "DROP TABLE shared")
    await store.close()
    await stopped.close()


async def test_refused_connection_passes() -> None:
    store = Store("postgresql+asyncpg://nobody@127.0.0.1:1/none")
    with pytest.raises(DatabaseDownError) as failed:
        await _session_of(store)
    assert is_passing(failed.value)
    await store.close()


# --- disks ------------------------------------------------------------------------------------------------


async def test_full_database_is_507_and_passes(sqlite_engine: Harness) -> None:
    sqlite_engine.workflow("one", ONE)
    async with sqlite_engine.app.store._writer.connect() as writer:  # the only one, and it remembers
        await writer.exec_driver_sql("PRAGMA max_page_count = 1")  # as many as it has: none more
    async with client_of(sqlite_engine) as client:
        async with asyncio.timeout(20):
            while (answer := await client.post("/requests", json=_large())).status_code == 200:
                pass
    assert (answer.status_code, answer.json()["error"]["code"]) == (507, "storage_full")
    with pytest.raises(OperationalError) as failed:
        await _fill(sqlite_engine)
    assert is_full(failed.value) and is_passing(failed.value)


def _large() -> dict[str, Any]:
    return {"workflow": "one", "payload": {"text": "x" * 100_000}}


async def _fill(engine: Harness) -> None:
    while True:
        await engine.submit("one", text="x" * 100_000)


@pytest.mark.parametrize("full", ["docproc.db", "storage"])
async def test_gateway_is_not_ready_on_a_full_disk(
    sqlite_engine: Harness, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    """That of the database, or that of the files."""
    usage = namedtuple("usage", "total used free")
    (sqlite_engine.settings.home / "storage").mkdir(exist_ok=True)
    async with client_of(sqlite_engine) as client:
        assert (await client.get("/ready")).status_code == 200
        monkeypatch.setattr(
            shutil, "disk_usage", lambda path: usage(10, 10, 0 if path.name == full else 1 << 30)
        )
        assert (await client.get("/ready")).status_code == 503


@pytest.fixture(params=["sqlite+sql", "postgresql+sql"])
def combination(request: pytest.FixtureRequest) -> str:
    """Both databases; none of this is a broker's business."""
    return str(request.param)


# --- connections that are cut --------------------------------------------------------------------------


async def test_lease_whose_confirmation_was_lost_is_found_again(
    engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim is committed, the connection cut before the answer: a living worker held it for ever."""
    claiming, claim = Store.claiming, turns.claim
    doomed: list[Any] = []

    async def noted(connection: Any, dialect: str, queue: str, *rest: Any) -> Any:
        found = await claim(connection, dialect, queue, *rest)
        if found and queue == "q.work" and not doomed:
            doomed.append(connection)
        return found

    @asynccontextmanager
    async def cut(store: Store) -> AsyncIterator[Any]:
        async with claiming(store) as connection:
            yield connection
        if connection in doomed:
            raise DatabaseDownError("the connection was cut")

    monkeypatch.setattr(turns, "claim", noted)
    monkeypatch.setattr(Store, "claiming", cut)
    engine.workflow("one", ONE)
    await engine.start("work", "workflow_router")
    request = await engine.finished(await engine.submit("one"))
    assert doomed
    assert request.status == "completed"


# --- clocks -----------------------------------------------------------------------------------------------


async def test_clock_set_back_frees_what_the_dead_held(engine: Harness) -> None:
    """Their terms and beats lie two hours ahead."""
    store = engine.app.store
    async with store.claiming() as connection:
        await duties.hold(connection, store, "planning", "dead", 7200.0)
        assert await duties.hold(connection, store, "planning", "heir", 10.0)
        assert not await duties.hold(connection, store, "planning", "third", 10.0)
        await workers.beat(connection, store, "dead or not", components="work", is_ready=True)
        ahead = f"UPDATE workers SET beat_at = {store.clock_plus(':seconds')}"
        await rows.execute(connection, ahead, seconds=7200.0)
        # It may live, and beats again if it does; else its time is up after four seconds, as usual.
        assert await workers.take_over(connection, store) == ([], [])
        assert await workers.seconds_to_next_stale(connection, store) <= workers.STALE_SECONDS + 0.1


async def test_clock_set_back_makes_nothing_wait_longer(engine: Harness) -> None:
    """A retry put off for a moment came two hours later: its moment lay two hours ahead."""
    store = engine.app.store
    engine.workflow("one", "stages: [{name: poison, component: poison, retry: {delay_seconds: 600}}]")
    await engine.start("poison", "workflow_router")
    await engine.submit("one", index=0, poison=[0], delay=600)

    async def waits() -> bool:
        async with store.claiming() as connection:
            return await messages.seconds_to_next_due(connection, store) is not None

    await engine.until(waits, "the retry waits")
    async with store.claiming() as connection:
        await clock.follow(connection, store)
        # As if the clock had been two hours ahead till now.
        for table, column in (("duties", "until"), ("messages", "available_at")):
            ahead = f"UPDATE {table} SET {column} = {store.clock_plus(':seconds')}"
            await rows.execute(connection, ahead, seconds=7260.0 if table == "messages" else 7200.0)
        assert await clock.follow(connection, store) == pytest.approx(7200, abs=2)
        assert await clock.follow(connection, store) == 0, "moved twice"
        due = await messages.seconds_to_next_due(connection, store)
        assert due == pytest.approx(60, abs=2)
