"""Finds the servers that peers need, and makes and removes the scratch vhost and databases they use there."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

HOST = "127.0.0.1"
POSTGRESQL_USER = "postgres"
VHOST = "docproc_bench_peers"
RABBITMQ_URL = f"amqp://guest:guest@{HOST}:5672/{VHOST}"


@dataclass(frozen=True)
class Server:
    """A server's port, and the command-line tool with which its scratch space is made."""

    port: int
    tool: str | None


SERVERS = {
    "redis": Server(6379, None),
    "rabbitmq": Server(5672, "rabbitmqctl"),
    "postgresql": Server(5432, "psql"),
}


def missing(names: tuple[str, ...]) -> str | None:
    """Return why one of the named servers cannot be used, or None when all can."""
    for name in names:
        server = SERVERS[name]
        if not _reachable(server.port):
            return f"server not reachable: {name} on {HOST}:{server.port}"
        if server.tool is not None and shutil.which(server.tool) is None:
            return f"command not found: {server.tool}"
    return None


def _reachable(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=2.0).close()
    except OSError:
        return False
    return True


@contextmanager
def rabbitmq_vhost() -> Iterator[None]:
    """Make the scratch vhost, which takes all its queues with it when it is deleted."""
    # What a killed run left behind would otherwise be consumed by this one's workers.
    _rabbitmqctl("delete_vhost", VHOST, check=False)
    _rabbitmqctl("add_vhost", VHOST)
    try:
        _rabbitmqctl("set_permissions", "-p", VHOST, "guest", ".*", ".*", ".*")
        yield
    finally:
        _rabbitmqctl("delete_vhost", VHOST)


def _rabbitmqctl(*arguments: str, check: bool = True) -> None:
    subprocess.run(["rabbitmqctl", "-q", *arguments], check=check, capture_output=True)


@contextmanager
def postgresql_database(name: str, schema: str) -> Iterator[str]:
    """Make a scratch database holding the given schema, and yield its URL."""
    drop = f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"
    query("postgres", drop)
    query("postgres", f"CREATE DATABASE {name}")
    try:
        query(name, schema)
        yield postgresql_url(name)
    finally:
        query("postgres", drop)


def postgresql_url(database: str) -> str:
    return f"postgresql://{POSTGRESQL_USER}@{HOST}:{SERVERS['postgresql'].port}/{database}"


def query(database: str, sql: str) -> str:
    """Run SQL through psql and return its unaligned output."""
    command = ["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", postgresql_url(database), "-c", sql]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
