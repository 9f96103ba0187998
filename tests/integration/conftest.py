"""Fixtures: DocProc in processes of its own, embedded or on PostgreSQL and RabbitMQ."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

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
