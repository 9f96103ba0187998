"""An orchestrator for tests: API and worker in this process, its clients and services outside of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from bench.servers import _free_ports
from docproc.app import App
from docproc.console.servers import gateway
from docproc.http.server import serve
from docproc.orchestrator.service import Service
from docproc.settings import Settings
from tests.harness import Harness

COMPONENTS = ("service_call", "task_result")
# What is silent for so long has failed the test.
SILENCE_SECONDS = 20.0


class Orchestrator:
    """A running one, seen from outside: HTTP and WebSocket."""

    def __init__(self, harness: Harness, port: int) -> None:
        self.harness = harness
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        # The API stops, as by SIGTERM.
        self.stop: Callable[[], None] = lambda: None
        self.http = httpx.AsyncClient(base_url=self.url, trust_env=False, timeout=SILENCE_SECONDS)

    async def submit(self, **said: Any) -> dict[str, Any]:
        answer = await self.http.post("/api/v1/tasks", json=said)
        assert answer.status_code == 202, answer.text
        accepted: dict[str, Any] = answer.json()
        return accepted

    async def task(self, task_id: str) -> dict[str, Any]:
        answer = await self.http.get(f"/api/v1/tasks/{task_id}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def ended(self, task_id: str, seconds: float = SILENCE_SECONDS) -> dict[str, Any]:
        async def is_over() -> bool:
            return (await self.task(task_id))["status"] in ("completed", "failed")

        await self.harness.until(is_over, f"task {task_id} ends", seconds)
        return await self.task(task_id)

    def socket(self, **options: Any) -> connect:
        return connect(f"ws://127.0.0.1:{self.port}/ws", proxy=None, **options)

    @contextlib.asynccontextmanager
    async def following(
        self, session_id: str, after: str | None = None
    ) -> AsyncIterator[tuple[ClientConnection, list[dict[str, Any]]]]:
        """A client that follows a session, with what it was told until it was in step."""
        async with self.socket() as client:
            said = {"type": "session.sync", "session_id": session_id}
            await client.send(json.dumps(said if after is None else {**said, "after": after}))
            told = await heard(client, lambda one: one["type"] == "session.synced")
            yield client, [one for one in told if "id" in one]


async def heard(client: ClientConnection, is_last: Any) -> list[dict[str, Any]]:
    """Everything a client is told, to the one that it waits for."""
    told: list[dict[str, Any]] = []
    async with asyncio.timeout(SILENCE_SECONDS):
        while not told or not is_last(told[-1]):
            told.append(json.loads(await client.recv()))
    return told


@contextlib.asynccontextmanager
async def orchestrator(
    harness: Harness, settings: Settings | None = None, *, workers: int = 1
) -> AsyncIterator[Orchestrator]:
    """`workers`: processes that call services, but for their memory."""
    port = _free_ports(1)[0]
    application = App(settings or harness.settings)
    stopping = asyncio.Event()
    serving = asyncio.create_task(serve(application, stopping, host="127.0.0.1", port=port, create=gateway))
    running = [await harness.start(*COMPONENTS) for _ in range(workers)]
    found = Orchestrator(harness, port)
    found.stop = stopping.set

    async def answers() -> bool:
        assert not serving.done(), serving
        with contextlib.suppress(httpx.TransportError):
            return (await found.http.get("/health")).status_code == 200
        return False

    try:
        await harness.until(answers, "the server answers")
        yield found
    finally:
        stopping.set()
        await serving
        for one in running:
            if one in harness._running:
                await harness.stop(one)
        await found.http.aclose()
        await application.close()


@contextlib.asynccontextmanager
async def serving(running: Orchestrator, *services: Service) -> AsyncIterator[None]:
    """Services over the wire of the settings, as they would run in processes of their own."""
    stopping = asyncio.Event()
    tasks = [asyncio.create_task(one.serve(running.harness.settings, stopping)) for one in services]
    try:
        yield
    finally:
        stopping.set()
        await asyncio.gather(*tasks)
