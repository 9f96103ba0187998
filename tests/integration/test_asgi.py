"""The servers under somebody else's ASGI server: `uvicorn docproc.asgi:app` (specification §15.2)."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from starlette.types import ASGIApp, Message

from docproc.asgi import AsgiServer
from docproc.console.servers import gateway
from docproc.http.exposure import check_api
from tests.processes import until

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(folder: Path, name: str, **settings: str) -> Iterator[httpx.Client]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("DOCPROC_")}
    environment = {**kept, "DOCPROC_HOME": str(folder), "DOCPROC_WARM_UP": "false", **settings}
    port = free_port()
    log = folder / f"{name}.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", f"docproc.asgi:{name}", "--port", str(port)],
            env=environment, cwd=ROOT, stdout=file, stderr=file,
        )  # fmt: skip
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=10) as client:
            until(lambda: process.poll() is not None or _answers(client), "it answers", 60)
            assert process.poll() is None, log.read_text()
            yield client
    finally:
        process.terminate()
        assert process.wait(20) in (0, -15), log.read_text()


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/health").status_code == 200
    except httpx.TransportError:
        return False


def test_api_and_review_station_answer(tmp_path: Path) -> None:
    with served(tmp_path, "app") as client:
        assert client.get("/health").json() == {"status": "ok"}
        assert client.get("/ready").json() == {"status": "ready"}
        sent = client.post("/process", files={"file": ("x.pdf", b"%PDF-1.4\n%%EOF\n")})
        assert sent.status_code == 200 and sent.json()["status"] == "received"
        assert client.get("/health", headers={"Host": "evil.example"}).status_code == 421
    with served(tmp_path, "backoffice") as client:
        assert client.get("/?operator=ana").status_code == 200


@pytest.mark.parametrize(
    ("address", "status"), [("127.0.0.1", 200), ("::1", 200), ("192.0.2.7", 403)], ids=str
)
async def test_server_that_asks_nobody_answers_on_loopback_only(
    address: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ASGI application learns with each call on which address it was reached."""
    monkeypatch.setenv("DOCPROC_HOME", str(tmp_path))
    monkeypatch.setenv("DOCPROC_WARM_UP", "false")
    server = AsgiServer("api_gateway", gateway, check_api)
    async with LifespanOf(server):
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "GET",
            "path": "/health",
            "raw_path": b"/health",
            "query_string": b"",
        }
        scope |= {"headers": [(b"host", b"localhost")], "server": (address, 8000), "client": ("192.0.2.9", 5)}
        await server(scope | {"scheme": "http", "http_version": "1.1"}, _no_body, send)
    assert sent[0]["status"] == status
    assert status == 200 or b"open_server" in sent[1]["body"]


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


class LifespanOf:
    """Started and stopped as a server does it."""

    task: asyncio.Future[None]

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.told: asyncio.Queue[Message] = asyncio.Queue()
        self.said: asyncio.Queue[Message] = asyncio.Queue()

    async def __aenter__(self) -> None:
        living = self.app({"type": "lifespan"}, self.told.get, self.said.put)
        self.task = asyncio.ensure_future(living)
        await self.told.put({"type": "lifespan.startup"})
        assert (await asyncio.wait_for(self.said.get(), 60))["type"] == "lifespan.startup.complete"

    async def __aexit__(self, *_: object) -> None:
        await self.told.put({"type": "lifespan.shutdown"})
        assert (await asyncio.wait_for(self.said.get(), 60))["type"] == "lifespan.shutdown.complete"
        await self.task


def test_wrong_setting_ends_the_start_with_the_remedy(tmp_path: Path) -> None:
    environment = {**os.environ, "DOCPROC_HOME": str(tmp_path), "DOCPROC_DATABASE_URL": "mysql://x"}
    done = subprocess.run(
        [sys.executable, "-m", "uvicorn", "docproc.asgi:app", "--port", str(free_port())],
        env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "DOCPROC_DATABASE_URL 'mysql' is no supported database" in done.stderr
    assert "Use postgresql://" in done.stderr
