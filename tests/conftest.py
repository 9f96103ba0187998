"""Fixtures: the four combinations of database and transport, each with state of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import aiormq
import pytest
import structlog

from bench.redis_server import RedisServer
from bench.s3_server import S3Server
from docproc.engine.store.session import Store
from docproc.engine.transport import DEAD_LETTER_QUEUE
from docproc.installed import find_tools
from docproc.registry import QUEUE_BINDINGS
from docproc.settings import Settings
from tests import deployments, schema, services
from tests.components import PATHS
from tests.deployments import Deployment
from tests.harness import Harness, opened, settings_for
from tests.services import ReusedDatabase, at_port

# What the contracts run on. `TEST_COMBINATIONS=pgbouncer+sql,postgresql+quorum` has them run whole on those
# of which CI only runs a part (tests/contracts/test_pgbouncer.py, test_quorum.py).
USUAL = "sqlite+sql,postgresql+sql,postgresql+rabbitmq,postgresql+redis"
COMBINATIONS = tuple(os.environ.get("TEST_COMBINATIONS", USUAL).split(","))
QUEUES = (*QUEUE_BINDINGS, *(f"q.{name}" for name in PATHS), "q.collect", DEAD_LETTER_QUEUE)


structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """An environment from before docproc-samples lacks its command, and tests of commands fail there."""
    if not any(tool.name == "samples" for tool in find_tools()):
        terminalreporter.write_line("docproc-samples is not installed here: run `make install`", red=True)


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """No file's bytes in a test's name: archives contain the time, and processes that collect at different
    moments would then disagree about which tests there are."""
    return argname if isinstance(val, bytes) and len(val) > 32 else None


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("DOCPROC_"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def migrated_template() -> Iterator[str]:
    """A migrated database that tests copy: faster than migrating each."""
    services.require(services.postgres_problem())

    async def upgrade(url: str) -> None:
        store = Store(url.replace("postgresql://", "postgresql+asyncpg://"))
        await schema.upgrade(store)
        await store.close()

    with services.postgres_database() as url:
        asyncio.run(upgrade(url))
        yield url.rsplit("/", 1)[1]


@pytest.fixture(scope="session")
def vhost() -> Iterator[str]:
    services.require(services.rabbitmq_problem())
    with services.rabbitmq_vhost() as url:
        yield url


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    services.require(S3Server.available())
    with S3Server() as server:
        yield server


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The settings of a place of its own; the credentials are in the environment."""
    for name, value in s3_server.environment().items():
        monkeypatch.setenv(name, value)
    place = f"s3://{s3_server.bucket}/tests/{secrets.token_hex(6)}"
    return {"storage_url": place, "storage_endpoint": s3_server.url}


@pytest.fixture(scope="session")
def reused_database(migrated_template: str) -> Iterator[ReusedDatabase]:
    with closing(ReusedDatabase(migrated_template)) as database:
        yield database


@pytest.fixture
def postgres_url(reused_database: ReusedDatabase) -> Iterator[str]:
    """A migrated database without rows."""
    yield reused_database.url
    reused_database.empty()


@pytest.fixture(scope="session")
def pgbouncer_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    services.require(services.pgbouncer_problem())
    with services.pgbouncer(tmp_path_factory.mktemp("pgbouncer")) as port:
        yield port


@pytest.fixture(scope="session")
def quorum_vhost() -> Iterator[str]:
    """Not the other one: queues of one name are of one kind."""
    services.require(services.rabbitmq_problem())
    with services.rabbitmq_vhost() as url:
        yield url


@pytest.fixture
def quorum_url(quorum_vhost: str) -> Iterator[str]:
    """Its queues empty, as with `declared_url`: making a quorum queue takes long."""
    yield quorum_vhost
    asyncio.run(_purge_queues(quorum_vhost))


@pytest.fixture
def rabbitmq_url(vhost: str) -> Iterator[str]:
    """The session's vhost, without queues."""
    asyncio.run(_delete_queues(vhost))
    yield vhost
    asyncio.run(_delete_queues(vhost))


@pytest.fixture
def declared_url(vhost: str) -> Iterator[str]:
    """The session's vhost, its queues empty: what this process declares alike again and again is kept.

    Not for tests that kill processes: their messages would come back after the queues were emptied.
    """
    yield vhost
    asyncio.run(_purge_queues(vhost))


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """One of our own: tests flush it, and keys that applications name have no place for a prefix."""
    services.require(RedisServer.available())
    with RedisServer() as server:
        yield server


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The session's server, empty."""
    redis_server.empty()
    return redis_server.url


async def _delete_queues(url: str) -> None:
    connection = await aiormq.connect(url)
    channel = await connection.channel()
    for queue in QUEUES:
        await channel.queue_delete(queue)
    await connection.close()


async def _purge_queues(url: str) -> None:
    connection = await aiormq.connect(url)
    for queue in QUEUES:
        channel = await connection.channel()  # the broker closes it when there is no such queue
        with contextlib.suppress(aiormq.exceptions.ChannelNotFoundEntity):
            await channel.queue_purge(queue)
    await connection.close()


@pytest.fixture(params=COMBINATIONS)
def combination(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def settings(combination: str, tmp_path: Path, request: pytest.FixtureRequest) -> Settings:
    database, delivery = combination.split("+")
    values: dict[str, Any] = {}
    if database != "sqlite":
        values["database_url"] = request.getfixturevalue("postgres_url")
    if database == "pgbouncer":
        values["database_url"] = at_port(values["database_url"], request.getfixturevalue("pgbouncer_port"))
    if delivery == "rabbitmq":
        values["rabbitmq_url"] = request.getfixturevalue("declared_url")
    if delivery == "redis":
        values["redis_url"] = request.getfixturevalue("redis_url")
    if delivery == "quorum":
        values.update(rabbitmq_url=request.getfixturevalue("quorum_url"), quorum_queues=True)
    return settings_for(tmp_path, **values)


@pytest.fixture
async def engine(settings: Settings) -> AsyncIterator[Harness]:
    async with opened(settings) as harness:
        yield harness


@pytest.fixture
async def sqlite_engine(tmp_path: Path) -> AsyncIterator[Harness]:
    async with opened(settings_for(tmp_path)) as harness:
        yield harness


@pytest.fixture(scope="session", params=["embedded", "distributed"])
def deployment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """The two ways to run, each started once: `docproc up`, and one process per component."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "embedded":
        with deployments.embedded(folder) as running:
            yield running
        return
    services.require(services.rabbitmq_problem())
    template = request.getfixturevalue("migrated_template")
    with (
        services.postgres_database(template) as database_url,
        services.rabbitmq_vhost() as rabbitmq_url,
        deployments.distributed(folder, database_url, rabbitmq_url) as running,
    ):
        yield running


@pytest.fixture(scope="session")
def papers_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files that tests draw."""
    return tmp_path_factory.mktemp("papers")
