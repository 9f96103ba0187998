"""The servers tests talk to: found, or skipped on a laptop, or an error where CI=true promises them."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
import pytest

POSTGRES_URL = os.environ.get("TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
RABBITMQ_HOST = os.environ.get("TEST_RABBITMQ_HOST", "guest:guest@127.0.0.1:5672")


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
