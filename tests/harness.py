"""Harness: an engine in this process, on any combination of database and transport."""

from __future__ import annotations

import asyncio
import contextlib
import textwrap
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import select

from docproc.app import App
from docproc.engine.running.intake import Submission
from docproc.engine.running.worker import Worker
from docproc.engine.store import events, rows
from docproc.engine.store.tables import Request, RequestStatus
from docproc.settings import Settings
from tests.components import PATHS

TERMINAL = {RequestStatus.COMPLETED, RequestStatus.FAILED}


class Harness:
    """Submits requests, runs workers and looks at the outcome."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.app = App(settings, worker_id="client")
        self._running: list[tuple[App, Worker, asyncio.Task[None], asyncio.Event]] = []

    def workflow(self, name: str, text: str) -> None:
        (self.settings.workflows_dir / f"{name}.yaml").write_text(
            f"name: {name}\n" + textwrap.dedent(text), encoding="utf-8"
        )

    async def open(self) -> None:
        await self.app.prepare_database()
        await self.app.transport.open()

    async def close(self) -> None:
        for running in list(self._running):
            await self.stop(running)
        await self.app.relay.flush()
        await self.app.transport.close()
        await self.app.close()

    async def start(
        self, *names: str, worker_id: str | None = None, app: App | None = None
    ) -> tuple[App, Worker, asyncio.Task[None], asyncio.Event]:
        app = app or App(self.settings, worker_id=worker_id)
        worker = app.worker(names or sorted(PATHS))
        stopping = asyncio.Event()
        task = asyncio.create_task(worker.run(stopping))
        running = (app, worker, task, stopping)
        self._running.append(running)
        await self.until(lambda: worker.is_ready or task.done(), "the worker is ready", 60)
        if task.done():
            task.result()
        return running

    async def stop(self, running: tuple[App, Worker, asyncio.Task[None], asyncio.Event]) -> None:
        self._running.remove(running)
        app, _, task, stopping = running
        stopping.set()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await app.close()

    async def submit(self, workflow: str, priority: int = 5, **payload: Any) -> UUID:
        return await self.app.intake.submit(Submission(workflow, payload, priority=priority))

    async def request(self, request_id: UUID) -> Request:
        async with self.app.store.reading() as session:
            found = await session.scalar(select(Request).where(Request.id == request_id))
        assert found is not None
        return found

    async def finished(self, request_id: UUID, seconds: float = 20) -> Request:
        async def ended() -> bool:
            return (await self.request(request_id)).status in TERMINAL

        await self.until(ended, f"request {request_id} ends", seconds)
        return await self.request(request_id)

    async def run(self, workflow: str, **payload: Any) -> Request:
        return await self.finished(await self.submit(workflow, **payload))

    async def events(self, request_id: UUID, kind: str | None = None) -> Sequence[Any]:
        """All that is committed now; `events.read` may hold the newest back while others write."""
        query = (
            select(events.TABLE).where(events.TABLE.c.request_id == request_id).order_by(events.TABLE.c.id)
        )
        async with self.app.store.reading() as session:
            found = list(await session.execute(query))
        return [event for event in found if kind is None or event.kind == kind]

    async def query(self, statement: str, **values: Any) -> Sequence[Any]:
        async with self.app.store.writing() as session:
            return await rows.execute(session, statement, **values)

    async def until(self, condition: Callable[[], Any], what: str, seconds: float = 20) -> None:
        """Poll a condition with a deadline: the outside view has no other way to wait."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    value = condition()
                    if await value if asyncio.iscoroutine(value) else value:
                        return
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"not within {seconds} s: {what}") from None


@contextlib.asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Harness]:
    harness = Harness(settings)
    await harness.open()
    try:
        yield harness
    finally:
        await harness.close()


def settings_for(folder: Path, **values: Any) -> Settings:
    workflows = folder / "workflows"
    workflows.mkdir(exist_ok=True)
    base: dict[str, Any] = {
        "home": folder,
        "workflows_dir": workflows,
        "components": PATHS,
        "log_level": "warning",
        "_env_file": None,
        "shutdown_seconds": 5,
        # One server for all tests, and it takes a hundred connections.
        "database_connections": 3,
        # A slow machine must not decide what a test sees.
        "default_sla_seconds": 600,
    }
    return Settings.load(**{**base, **values})


def filled(value: Any | None) -> Any:
    """What a column holds that may be empty, but here must not be."""
    assert value is not None
    return value
