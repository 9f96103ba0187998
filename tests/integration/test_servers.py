"""The private servers keep acknowledged data over restarts and crashes, and leave the machine as it was."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import aiormq
import asyncpg  # type: ignore[import-untyped, unused-ignore]
import pytest

from bench import servers
from bench.servers import PostgresServer, RabbitServer, ServerError

# The machine's PostgreSQL, RabbitMQ, RabbitMQ's distribution and epmd.
MACHINE_PORTS = (5432, 5672, 25672, 4369)
Server = PostgresServer | RabbitServer


@pytest.fixture(autouse=True)
def _machine_untouched() -> Iterator[None]:
    """Compare the machine's listening sockets, which a restart would replace, before and after each test."""
    before = _listeners()
    yield
    assert _listeners() == before


@pytest.fixture
def postgres() -> Iterator[PostgresServer]:
    """Start a quick cluster."""
    _require(PostgresServer.available())
    with PostgresServer(fsync=False) as server:
        yield server


@pytest.fixture
def rabbit() -> Iterator[RabbitServer]:
    """Start a node."""
    _require(RabbitServer.available())
    with RabbitServer() as server:
        yield server


def test_postgres_keeps_committed_rows_over_restart_and_kill(postgres: PostgresServer) -> None:
    """Rows committed before a restart and before a crash are there afterwards, under the same url."""
    url = postgres.url
    _sql(url, "CREATE TABLE kept (name text)")
    for name, crash in (("restart", postgres.restart), ("kill", postgres.kill)):
        _sql(url, f"INSERT INTO kept VALUES ('{name}')")
        crash()
        if postgres.pid is None:
            postgres.start()
    assert _sql(url, "SELECT string_agg(name, ',') FROM kept") == "restart,kill"
    assert postgres.url == url


def test_postgres_is_set_up_for_its_purpose(postgres: PostgresServer) -> None:
    """It takes 200 connections, on the loopback and inside its own folder only."""
    assert _sql(postgres.url, "SHOW max_connections") == "200"
    assert _sql(postgres.url, "SHOW listen_addresses") == "127.0.0.1"
    assert _sql(postgres.url, "SHOW unix_socket_directories") == str(postgres.home / "data")
    assert _sql(postgres.url, "SHOW fsync") == "off"


def test_postgres_is_durable_unless_told_otherwise() -> None:
    """By default every commit reaches the disk; a given folder is kept, and takes several servers."""
    _require(PostgresServer.available())
    folder = Path(f"/var/tmp/docproc-test-{os.getpid()}")
    try:
        with PostgresServer(folder) as one, PostgresServer(folder) as other:
            assert _sql(one.url, "SHOW fsync") == _sql(other.url, "SHOW fsync") == "on"
            assert one.home.parent == other.home.parent == folder
        assert one.log.exists()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_postgres_kill_ends_busy_backends_and_frees_shared_memory(postgres: PostgresServer) -> None:
    """A backend amid a long query does not outlive the crash, nor do the cluster's memory segments."""
    segments = servers._shared_memory([postgres.pid or 0])
    assert len(segments) >= 2
    worker = threading.Thread(target=_ignoring_loss, args=(postgres.url, "SELECT pg_sleep(60)"))
    worker.start()
    sleepers = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    assert servers._until(lambda: _sql(postgres.url, sleepers) == 1, 10)
    home = postgres.home
    assert len(_processes(home)) > 5
    postgres.kill()
    worker.join(10)
    assert not worker.is_alive()
    assert _processes(home) == []
    assert not any(Path(name).exists() for name in segments if name.startswith("/"))
    assert {name for name in segments if name.isdigit()}.isdisjoint(_system_v())


def test_postgres_stop_releases_everything(postgres: PostgresServer) -> None:
    """After stop the port is free, no process is left, and a second stop does nothing."""
    _assert_released_by_stop(postgres)


def test_postgres_starts_after_a_crash_nobody_reported(postgres: PostgresServer) -> None:
    """A postmaster killed from outside can be started again at once."""
    assert postgres.pid is not None
    os.kill(postgres.pid, 9)
    assert servers._until(lambda: postgres.pid is None, 10)
    postgres.start()
    assert _sql(postgres.url, "SELECT 1") == 1


def test_start_refuses_a_running_server(postgres: PostgresServer) -> None:
    """Two starts in a row are a mistake in the test."""
    with pytest.raises(ServerError, match="already runs"):
        postgres.start()


def test_a_taken_port_is_refused() -> None:
    """Another program on the port is neither mistaken for the server nor disturbed."""
    _require(PostgresServer.available())
    server = PostgresServer(fsync=False)
    with socket.create_server(("127.0.0.1", server.port)), pytest.raises(ServerError, match=str(server.port)):
        server.start()


def test_a_failed_start_gives_the_servers_last_words(postgres: PostgresServer) -> None:
    """A server that ends at once is reported with what it wrote, without waiting for the deadline."""
    postgres.stop()
    (postgres.home / "data" / "postgresql.conf").write_text("no_such_setting = 1\n")
    with pytest.raises(ServerError, match="no_such_setting"):
        postgres.start()


def test_a_program_that_forgets_to_stop_leaves_no_server() -> None:
    """The interpreter's exit stops the server and removes its folder."""
    _require(PostgresServer.available())
    program = "from bench.servers import *; s = PostgresServer(fsync=False); s.start(); print(s.home)"
    root = Path(servers.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )
    home = Path(done.stdout.strip())
    assert home.name.startswith("docproc-postgresql-") and not home.exists()
    assert _processes(home) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts PostgreSQL as another user")
def test_a_folder_postgres_cannot_enter_is_refused(tmp_path: Path) -> None:
    """Pytest's own folders are closed to other users: the error names folders that work."""
    _require(PostgresServer.available())
    tmp_path.chmod(0o700)
    with pytest.raises(ServerError, match="under /tmp or /var/tmp"):
        PostgresServer(tmp_path).start()
    assert list(tmp_path.iterdir()) == []


def test_rabbit_keeps_confirmed_messages_over_restart_and_kill(rabbit: RabbitServer) -> None:
    """Confirmed persistent messages survive, nothing of the node does; one test, as starts are slow."""
    asyncio.run(_publish(rabbit.url, "restart"))
    rabbit.restart()
    asyncio.run(_publish(rabbit.url, "kill"))
    home, began = rabbit.home, time.monotonic()
    assert len(_processes(home)) >= 3
    rabbit.kill()
    assert time.monotonic() - began < 5
    assert _processes(home) == []
    rabbit.start()
    assert asyncio.run(_drain(rabbit.url)) == ["restart", "kill"]
    _assert_released_by_stop(rabbit)


@pytest.mark.parametrize("kind", [PostgresServer, RabbitServer])
def test_missing_programs_are_named_with_the_remedy(
    kind: type[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the programs, available() gives the reason and start() raises it."""
    monkeypatch.setattr(servers, "_postgres_bin", lambda: None)
    monkeypatch.setattr(servers, "_rabbit_script", lambda: None)
    assert "install Debian's postgresql and rabbitmq-server" in (kind.available() or "")
    with pytest.raises(ServerError, match="install Debian's"):
        kind().start()


def _require(reason: str | None) -> None:
    """Skip where the programs are missing; in CI fail, lest a broken image passes for success."""
    if reason and os.environ.get("CI") == "true":
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


def _assert_released_by_stop(server: Server) -> None:
    """Stop twice; the ports can be bound and no process of the server is left."""
    home, ports = server.home, list(server._ports)
    assert _processes(home)
    server.stop()
    server.stop()
    assert server.pid is None
    assert _processes(home) == []
    assert all(servers._is_free(port) for port in ports)


def _listeners() -> dict[int, list[str]]:
    """Give the inodes of the machine's listening sockets: a restarted server has new ones."""
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    listening = [(int(row[1].rpartition(":")[2], 16), row[9]) for row in rows if row[3] == "0A"]
    return {port: sorted(inode for at, inode in listening if at == port) for port in MACHINE_PORTS}


def _processes(home: Path) -> list[int]:
    """List the processes that work in the folder, found otherwise than the module itself finds RabbitMQ's."""
    return [pid for pid in servers._pids() if servers._link(pid, "cwd").startswith(str(home))]


def _system_v() -> set[str]:
    """List the machine's System V memory segments."""
    return {line.split()[1] for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}


def _ignoring_loss(url: str, query: str) -> None:
    """Run a query whose server is about to die."""
    with contextlib.suppress(OSError, asyncpg.PostgresError):
        _sql(url, query)


def _sql(url: str, query: str) -> object:
    """Run one statement and give its first value."""

    async def run() -> object:
        connection = await asyncpg.connect(url.replace("+asyncpg", ""))
        try:
            return await connection.fetchval(query)
        finally:
            await connection.close(timeout=1)

    return asyncio.run(run())


async def _publish(url: str, text: str) -> None:
    """Publish a persistent message to a durable queue and wait for the broker's confirm."""
    connection = await aiormq.connect(url)
    channel = await connection.channel(publisher_confirms=True)
    await channel.queue_declare("kept", durable=True)
    persistent = aiormq.spec.Basic.Properties(delivery_mode=2)
    await channel.basic_publish(text.encode(), routing_key="kept", properties=persistent)
    await connection.close()


async def _drain(url: str) -> list[str]:
    """Take every message from the queue, in order."""
    connection = await aiormq.connect(url)
    channel = await connection.channel()
    declared = await channel.queue_declare("kept", durable=True)
    kept = [await channel.basic_get("kept", no_ack=True) for _ in range(declared.message_count or 0)]
    await connection.close()
    return [message.body.decode() for message in kept]
