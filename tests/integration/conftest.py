"""Fixtures: a store on each database, and DocProc in processes of its own, embedded or distributed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from docproc.engine.store.session import Store
from tests import schema
from tests.processes import FAULTS, Processes, delete_queue


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Processes]:
    with closing(Processes(tmp_path)) as processes:
        yield processes


@pytest.fixture
def distributed(tmp_path: Path, postgres_url: str, rabbitmq_url: str) -> Iterator[Processes]:
    with closing(Processes(tmp_path, postgres_url, rabbitmq_url)) as processes:
        yield processes
    for name in FAULTS:
        asyncio.run(delete_queue(rabbitmq_url, f"q.{name}"))


@pytest.fixture(params=["embedded", "distributed"])
def processes(request: pytest.FixtureRequest) -> Processes:
    """Both ways to run."""
    found: Processes = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path / 'docproc.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url.replace("postgresql://", "postgresql+asyncpg://")


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    store = Store(database_url)
    await schema.upgrade(store)
    yield store
    await store.close()
