"""Doors for tests: one in this process, on an engine whose requests the test finishes itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar
from uuid import UUID

from docproc.app import App
from docproc.doors import running
from docproc.doors.door import Door
from docproc.engine.store import requests
from docproc.engine.store.columns import as_uuid
from tests.harness import Harness, opened, settings_for

D = TypeVar("D", bound=Door)

PDF = b"%PDF-1.4\n1 0 obj <<>> endobj\ntrailer <<>>\n%%EOF\n"
RESULT = {"documents": [], "partial": False}


@dataclass
class Standing(Generic[D]):
    """An open door, and the engine behind it."""

    engine: Harness
    door: D

    async def requests(self) -> list[Any]:
        return list(
            await self.engine.query(
                "SELECT id, tenant_id, channel, external_id, metadata, uploads, callback_url, workflow_name "
                "FROM requests ORDER BY created_at, id"
            )
        )

    async def ids(self) -> list[UUID]:
        return [as_uuid(row.id) for row in await self.requests()]

    async def until_requests(self, number: int, seconds: float = 30) -> list[Any]:
        async def are_there() -> bool:
            return len(await self.requests()) >= number

        await self.engine.until(are_there, f"{number} requests came in", seconds)
        found = await self.requests()
        assert len(found) == number
        return found

    async def finish(self, request_id: UUID, error: dict[str, Any] | None = None) -> None:
        """As the pipeline would."""
        async with self.engine.app.store.writing() as session:
            if error is None:
                await requests.finish(session, request_id, RESULT)
            else:
                await requests.fail(session, request_id, error)

    async def blob(self, row: Any) -> bytes:
        """The content of a request's first file, as it was stored."""
        request = await self.engine.request(as_uuid(row.id))
        key = (request.uploads or [])[0]["key"]
        return b"".join([chunk async for chunk in self.engine.app.blobs.read(key)])


@asynccontextmanager
async def standing(folder: Path, name: str, **values: Any) -> AsyncIterator[Standing[Any]]:
    """A door that is open, until the block ends."""
    async with opened(settings_for(folder, **values)) as engine, another(engine, name) as door:
        yield Standing(engine, door)


async def until_left(engine: Harness) -> None:
    """Until a door that ended has left its turn to others."""

    async def is_free() -> bool:
        return not await engine.query("SELECT name FROM duties WHERE name LIKE 'door %'")

    await engine.until(is_free, "the door has left")


@asynccontextmanager
async def another(engine: Harness, name: str) -> AsyncIterator[Any]:
    """A door on an engine that is there already: after a crash of the first, say."""
    application = App(engine.settings, worker_id=f"door-{id(object())}")
    try:
        door = running.make(name, application)
        async with running.opened(door):
            yield door
    finally:
        await application.close()
