"""Fixtures: the API on each combination of database and transport, without a network between."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from docproc.console.servers import gateway as create_app
from tests.harness import Harness


def client_of(harness: Harness) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app(harness.app))
    return httpx.AsyncClient(transport=transport, base_url="http://docproc")


@pytest.fixture
async def client(engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(engine) as client:
        yield client


@pytest.fixture
async def sqlite_client(sqlite_engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(sqlite_engine) as client:
        yield client
