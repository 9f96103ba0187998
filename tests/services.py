"""The servers tests talk to: found, or skipped on a laptop, or an error where CI=true promises them."""

from __future__ import annotations

import asyncio
import functools
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from bench.servers import _free_ports as free_ports

POSTGRES_URL = os.environ.get("TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
RABBITMQ_HOST = os.environ.get("TEST_RABBITMQ_HOST", "guest:guest@127.0.0.1:5672")
# Debian puts servers where only root looks.
_SERVERS = os.environ.get("PATH", os.defpath) + ":/usr/sbin"

# Every column of every table and index, and the revision.
SCHEMA = """
    SELECT string_agg(c.relname || '.' || a.attname || ':' || a.atttypid, ',' ORDER BY c.relname, a.attnum)
        || (SELECT string_agg(version_num, ',') FROM alembic_version)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0
"""
SEND_AWAY = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
# Tables point at each other, and all of them will be empty.
IGNORE_KEYS = "SET session_replication_role = replica"
# Not TRUNCATE, which makes new files.
DELETE_ROWS = """
    DO $$ BEGIN
        EXECUTE (
            SELECT 'WITH ' || string_agg(format('%1$I AS (DELETE FROM %1$I)', tablename), ', ') || ' SELECT'
            FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'alembic_version%');
    END $$
"""
RESTART_NUMBERS = "SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'"


def require(problem: str | None) -> None:
    """Skip with a clear line when a service is missing; fail when CI promised it."""
    if problem and os.environ.get("CI") == "true":
        pytest.fail(f"CI=true, but {problem}")
    if problem:
        pytest.skip(problem)


async def _execute(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url, timeout=5)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


def postgres_problem() -> str | None:
    try:
        asyncio.run(_execute(POSTGRES_URL, "SELECT 1"))
    except (OSError, asyncpg.PostgresError, TimeoutError) as error:
        return f"no PostgreSQL at {POSTGRES_URL} ({error})"
    return None


@contextmanager
def postgres_database(template: str = "template1") -> Iterator[str]:
    """A database of its own, dropped afterwards; yields its URL."""
    name = f"docproc_test_{secrets.token_hex(6)}"
    asyncio.run(_execute(POSTGRES_URL, f'CREATE DATABASE "{name}" TEMPLATE "{template}"'))
    try:
        yield POSTGRES_URL.rsplit("/", 1)[0] + f"/{name}"
    finally:
        asyncio.run(_execute(POSTGRES_URL, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))


class ReusedDatabase:
    """A migrated database for test after test: deleting a few rows is much faster than making another.

    A test that leaves another schema behind is the last to use it.
    """

    def __init__(self, template: str) -> None:
        self._template = template
        self._held = ExitStack()
        self._url: str | None = None

    @property
    def url(self) -> str:
        if self._url is None:
            self._url = self._held.enter_context(postgres_database(self._template))
            self._schema = asyncio.run(_value(self._url, SCHEMA))
        return self._url

    def empty(self) -> None:
        """Clients are sent away, rows deleted, numbers start anew."""
        asyncio.run(_execute(self.url, SEND_AWAY))
        if asyncio.run(_value(self.url, SCHEMA)) == self._schema:
            asyncio.run(_execute(self.url, IGNORE_KEYS, DELETE_ROWS, RESTART_NUMBERS))
        else:
            self.close()

    def close(self) -> None:
        self._held.close()
        self._url = None


async def _value(url: str, query: str) -> object:
    connection = await asyncpg.connect(url, timeout=5)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


@functools.cache
def pgbouncer_problem() -> str | None:
    if shutil.which("pgbouncer", path=_SERVERS) is None:
        return "no pgbouncer (install Debian's package of that name)"
    return postgres_problem()


@contextmanager
def pgbouncer(
    folder: Path, *, sessions: int = 8, patience_seconds: int = 30, server_url: str = POSTGRES_URL
) -> Iterator[int]:
    """A pooler of its own before the test server, in transaction mode; yields its port.

    A client waits for a session with patience, whether all are in use or the server is away.
    """
    server = urlsplit(server_url)
    (port,) = free_ports(1)
    login = f"user={server.username}" + (f" password={server.password}" if server.password else "")
    config = folder / "pgbouncer.ini"
    config.write_text(
        f"""
[databases]
* = host={server.hostname} port={server.port or 5432} {login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 200
server_login_retry = 1
query_wait_timeout = {patience_seconds}
""",
        encoding="utf-8",
    )
    command = [shutil.which("pgbouncer", path=_SERVERS) or "pgbouncer", str(config)]
    if os.getuid() == 0:  # it refuses to be root
        command[1:1] = ["-u", "nobody"]
    with (folder / "pgbouncer.log").open("wb") as told:
        process = subprocess.Popen(command, stdout=told, stderr=told)
    try:
        _until_it_listens(process, port, folder / "pgbouncer.log")
        yield port
    finally:
        process.terminate()
        process.wait(10)


def _until_it_listens(process: subprocess.Popen[bytes], port: int, told: Path) -> None:
    end = time.monotonic() + 10
    while process.poll() is None and time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    raise AssertionError(f"pgbouncer does not listen: {told.read_text(errors='replace')[-2000:]}")


def at_port(url: str, port: int) -> str:
    """The same database, reached through another door."""
    parts = urlsplit(url)
    return parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}").geturl()


@functools.cache
def rabbitmq_problem() -> str | None:
    if shutil.which("rabbitmqctl") is None:
        return "no rabbitmqctl to make a vhost with (install Debian's rabbitmq-server)"
    found = subprocess.run(["rabbitmqctl", "status"], capture_output=True, text=True, timeout=60, check=False)
    return None if found.returncode == 0 else "RabbitMQ is not running (rabbitmqctl status failed)"


@contextmanager
def rabbitmq_vhost() -> Iterator[str]:
    """A vhost of its own, so that queue names stay exact; yields its URL."""
    name = f"docproc_test_{secrets.token_hex(6)}"
    _rabbitmqctl("add_vhost", name)
    _rabbitmqctl("set_permissions", "-p", name, "guest", ".*", ".*", ".*")
    try:
        yield f"amqp://{RABBITMQ_HOST}/{name}"
    finally:
        _rabbitmqctl("delete_vhost", name)


def _rabbitmqctl(*arguments: str) -> None:
    subprocess.run(["rabbitmqctl", *arguments], check=True, capture_output=True, timeout=60)
