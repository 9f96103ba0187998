"""What strangers may send: so much, so deep, so slowly, by which name; on every route that OpenAPI lists."""

from __future__ import annotations

import asyncio
import json
import re
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from bench.servers import _free_ports
from docproc.app import App
from docproc.console.servers import gateway, station
from docproc.engine.running.connections import Connection
from docproc.engine.running.serving import configured, serve_until
from docproc.http import bodies
from docproc.http.server import bind, facing_the_network
from tests.harness import Harness, opened, settings_for

MOST_MB = 1
CREATED = {"api": gateway, "station": station}
DEEP = b"[" * 100_000 + b"]" * 100_000
DEEP_ONES = (
    DEEP,
    b'{"operator": ' + b'{"a":' * 60 + b"1" + b"}" * 61,
    DEEP[50_000:150_000].decode().encode("utf-16"),
)
JSON, PARTS = "application/json", "multipart/form-data"
BOUNDARY = "parts"


@pytest.fixture
async def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Harness]:
    monkeypatch.setenv("DOCPROC_MATERIALS_MAX_MB", str(MOST_MB))
    async with opened(settings_for(tmp_path, max_upload_mb=MOST_MB)) as found:
        yield found


def client_of(app: FastAPI) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=30)


def taking(app: FastAPI) -> Iterator[tuple[str, str, set[str]]]:
    """Method, path and kinds of body of every operation that changes something."""
    for path, methods in app.openapi()["paths"].items():
        for method, operation in methods.items():
            if method not in ("get", "head", "options"):
                kinds = set(operation.get("requestBody", {}).get("content", {}))
                yield method, re.sub(r"\{[^}]+\}", str(uuid4()), path), kinds


async def in_pieces(size: int) -> AsyncIterator[bytes]:
    """So that nothing says beforehand how much it will be."""
    for _ in range(size // 65536 + 1):
        yield b"x" * 65536


def part(name: str, content: bytes, filename: str = "") -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"'
    file = f'; filename="{filename}"' if filename else ""
    return f"{head}{file}\r\n\r\n".encode() + content + b"\r\n"


@pytest.mark.parametrize("server", CREATED)
async def test_no_route_takes_a_body_without_measure(harness: Harness, server: str) -> None:
    """3: announced or not, as JSON or as a form, on every route of either server."""
    app = CREATED[server](harness.app)
    routes = list(taking(app))
    assert len(routes) >= (4 if server == "api" else 9), routes
    async with client_of(app) as client:
        for method, path, kinds in routes:
            takes_files = path in ("/process", "/materials")
            # An envelope a little over its megabyte is refused by the orchestrator, with its own code.
            largest = bodies.LARGE_BYTES + 256 * 1024 * path.startswith("/api/v1/")
            most = MOST_MB * 1024**2 + 4 * 1024**2 if takes_files else largest
            for kind in kinds or {JSON}:
                told = {"Content-Type": f"{kind}; boundary={BOUNDARY}", "Accept": JSON}
                announced = {**told, "Content-Length": str(most + 1)}
                answer = await client.request(method, path, headers=announced, content=in_pieces(0))
                assert (answer.status_code, path) == (413, path), answer.text
                if kinds:
                    answer = await client.request(method, path, headers=told, content=in_pieces(most))
                    is_form = takes_files and kind != JSON  # what is no form at all is seen at its first byte
                    is_refused = answer.status_code == (400 if is_form else 413)
                    assert is_refused, f"{method} {path} {kind}: {answer.status_code} {answer.text}"


@pytest.mark.parametrize("server", CREATED)
async def test_no_route_takes_json_of_any_depth(harness: Harness, server: str) -> None:
    """3: JSON in the body, and JSON that is a field's text."""
    app = CREATED[server](harness.app)
    async with client_of(app) as client:
        for method, path, kinds in taking(app):
            for body in DEEP_ONES if JSON in kinds else ():
                told = {"Content-Type": JSON, "Accept": JSON}
                answer = await client.request(method, path, headers=told, content=body)
                assert (answer.status_code, path) == (422, path), answer.text[:200]
                assert "nested deeper" in answer.text
        if server == "api":
            form = part("metadata", DEEP) + part("file", b"%PDF-1.4", "a.pdf") + f"--{BOUNDARY}--".encode()
            told = {"Content-Type": f"{PARTS}; boundary={BOUNDARY}"}
            answer = await client.post("/process", headers=told, content=form)
            assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_metadata")


async def test_what_stands_around_the_parts_of_a_form_counts(harness: Harness) -> None:
    """3: an epilogue without end, and headers of a part without end."""
    end = f"--{BOUNDARY}--\r\n".encode()
    whole = part("file", b"%PDF-1.4", "a.pdf") + end

    async def epilogue() -> AsyncIterator[bytes]:
        yield whole
        async for piece in in_pieces(6 * 1024**2):
            yield piece

    async def header() -> AsyncIterator[bytes]:
        yield f"--{BOUNDARY}\r\nX-Long: ".encode()
        async for piece in in_pieces(1024**2):
            yield piece

    told = {"Content-Type": f"{PARTS}; boundary={BOUNDARY}"}
    async with client_of(gateway(harness.app)) as client:
        for content, code in ((epilogue(), "too_large"), (header(), "malformed_form")):
            answer = await client.post("/process", headers=told, content=content)
            assert answer.json()["error"]["code"] == code, answer.text
        assert (await client.post("/process", headers=told, content=whole)).status_code == 200
    assert (await harness.query("SELECT count(*) AS n FROM requests"))[0].n == 1


async def test_body_that_comes_too_slowly_is_not_waited_for(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """10: a byte now and then holds no place either."""
    monkeypatch.setattr(bodies, "PATIENCE_SECONDS", 0.2)
    asked = 0

    async def dripping() -> AsyncIterator[bytes]:
        nonlocal asked
        while True:
            asked += 1
            await asyncio.sleep(0.05)
            yield b" "

    async with client_of(station(harness.app)) as client:
        answer = await client.post("/next", headers={"Content-Type": JSON}, content=dripping())
    assert (answer.status_code, answer.json()["error"]["code"]) == (408, "upload_stalled")
    assert asked <= 5


# --- over the network -----------------------------------------------------------------------------------


BRIEF: dict[str, Any] = {"lifespan": "off", "timeout_graceful_shutdown": 1}


class Impatient(Connection):
    header_seconds = 0.4


@asynccontextmanager
async def listening(config: uvicorn.Config) -> AsyncIterator[int]:
    """Whatever configuration is given, on a free port."""
    port, stopping = _free_ports(1)[0], asyncio.Event()
    with bind("127.0.0.1", port) as socket:
        serving = asyncio.create_task(serve_until(stopping, config, socket, name="test"))
        try:
            yield port
        finally:
            stopping.set()
            await serving


async def plain(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the client's address."""
    if scope["type"] == "lifespan":
        return
    said = json.dumps({"client": scope["client"][0], "scheme": scope["scheme"]}).encode()
    length = (b"content-length", str(len(said)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": said})


async def asked(port: int, *lines: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("\r\n".join(("GET / HTTP/1.1", "Connection: close", *lines, "", "")).encode())
    try:
        return await asyncio.wait_for(reader.read(), 5)
    finally:
        writer.close()


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: lo",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT",
    ],
    ids=["nothing", "half of the headers", "half of a body", "half of the next request"],
)
async def test_connection_on_which_nothing_comes_is_ended(said: bytes) -> None:
    """10."""
    async with listening(configured(plain, connection=Impatient, **BRIEF)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        began = asyncio.get_running_loop().time()
        with suppress(ConnectionResetError):  # by a word or by a reset
            await asyncio.wait_for(reader.read(), 3)
        assert asyncio.get_running_loop().time() - began < 2
        writer.close()


async def test_many_silent_connections_leave_room_for_who_speaks() -> None:
    """10: more than the server takes, each with half of its headers; no answer waits for their end."""
    async with listening(configured(plain, limit_concurrency=50, **BRIEF)) as port:
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(120)]
        for _, writer in silent:
            writer.write(b"GET / HTTP/1.1\r\nHost:")
        for _ in range(20):
            assert (await asked(port, "Host: localhost")).startswith(b"HTTP/1.1 200")
        for _, writer in silent:
            writer.close()


def test_connections_leave_files_for_everything_else() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    config = configured(plain)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert config.limit_concurrency is not None and config.limit_concurrency <= soft // 2
    assert config.backlog <= soft // 2 and (soft, hard) >= before


def test_server_holds_as_many_connections_as_it_is_told_to(tmp_path: Path) -> None:
    """Clients of the orchestrator keep a WebSocket each, and most of the time nothing comes on it."""
    settings = settings_for(tmp_path, max_connections=40)
    assert facing_the_network(FastAPI(), settings, "127.0.0.1").limit_concurrency == 40


@pytest.mark.parametrize(
    ("settings", "client", "scheme"),
    [({}, "127.0.0.1", "http"), ({"trusted_proxies": "10.0.0.0/8, 127.0.0.1"}, "192.0.2.7", "https")],
    ids=["nobody is named", "the proxy is named"],
)
async def test_only_a_named_proxy_says_who_its_client_is(
    tmp_path: Path, settings: dict[str, str], client: str, scheme: str
) -> None:
    """14: the address by which sign-in is limited and which enters the audit."""
    known = settings_for(tmp_path, **settings)
    forwarded = ("Host: localhost", "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https")
    # As both servers are served; there is nothing to begin and to end in this one.
    config = facing_the_network(cast(FastAPI, plain), known, "127.0.0.1", timeout_graceful_shutdown=1)
    config.lifespan = "off"
    async with listening(config) as port:
        answer = await asked(port, *forwarded)
    assert json.loads(answer.partition(b"\r\n\r\n")[2]) == {"client": client, "scheme": scheme}


@pytest.mark.parametrize("server", CREATED)
async def test_server_answers_only_to_its_own_names(harness: Harness, server: str) -> None:
    """9: a page whose name leads to this machine (DNS rebinding) reads nothing."""
    application = App(harness.settings)
    app = CREATED[server](application)
    async with listening(facing_the_network(app, harness.settings, "127.0.0.1")) as port:
        for host, status in (
            (f"127.0.0.1:{port}", 200),
            ("localhost", 200),
            (f"[::1]:{port}", 200),
            (f"rebound.example:{port}", 421),
            ("192.0.2.1", 421),
            ("127.0.0.1.rebound.example", 421),
        ):
            answer = await asked(port, f"Host: {host}")
            assert answer.startswith(f"HTTP/1.1 {status} ".encode()), (host, answer[:200])
            assert b"content-security-policy" in answer.lower()
    await application.close()
