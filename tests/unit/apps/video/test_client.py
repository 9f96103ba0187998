"""The client of the video server, with servers that do what a test wants."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from docproc.apps.video import client
from docproc.apps.video.client import Address, ServerSaidError, Wish, send_film
from docproc.apps.video.server.protocol import encode, read_message
from docproc.errors import TransportError, UsageError

CONTENT = bytes(range(256)) * 4000
SESSION = "6d1f6bb4-2f1c-4c8a-9f64-0c4d53f9a9a5"
MADE = b"the film that was made"

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "PAUSE_SECONDS", 0.01)


@asynccontextmanager
async def server_that(*talks: Talk) -> AsyncIterator[Address]:
    """Each connection is treated by the next one; the last treats all that follow."""
    left = list(talks)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = left.pop(0) if len(left) > 1 else left[0]
        try:
            await talk(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        yield Address("127.0.0.1", server.sockets[0].getsockname()[1])


async def send(address: Address, folder: Path, patience: float = 5.0) -> tuple[dict[str, Any], list[str]]:
    """The result, and what the client told meanwhile."""
    (folder / "film.mp4").write_bytes(CONTENT)
    told: list[str] = []

    def tell(what: str, _done: int, _total: int | None, _said: dict[str, Any]) -> None:
        told.append(what)

    def acknowledged(said: dict[str, Any]) -> None:
        told.append(said["session_id"])

    out = folder / "out.mp4"
    wish = Wish("edges")
    return await send_film(address, folder / "film.mp4", wish, out, tell, acknowledged, patience), told


def say(writer: asyncio.StreamWriter, kind: str, **more: Any) -> None:
    writer.write(encode({"type": kind, **more}))


class Halves:
    """A server that goes away in the middle of the film, and knows later what it has."""

    def __init__(self) -> None:
        self.got = b""
        self.handshakes: list[dict[str, Any]] = []

    async def take_half(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.handshakes.append(await read_message(reader))
        say(writer, "handshake_ack", session_id=SESSION, offset=0)
        self.got = await reader.readexactly(len(CONTENT) // 2)
        writer.transport.abort()

    async def stop(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.handshakes.append(await read_message(reader))
        say(writer, "error", code="busy", message="the server stops", recoverable=True)

    async def take_the_rest(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.handshakes.append(await read_message(reader))
        say(writer, "handshake_ack", session_id=SESSION, offset=len(self.got))
        self.got += await reader.readexactly(len(CONTENT) - len(self.got))
        say(writer, "progress", frames_processed=1, frames_total=2)
        say(writer, "result", ok=True, session_id=SESSION, size_bytes=len(MADE), metrics={})
        writer.write(MADE)
        await writer.drain()


async def test_upload_goes_on_where_it_was_when_the_server_is_back(tmp_path: Path) -> None:
    halves = Halves()
    async with server_that(halves.take_half, halves.stop, halves.take_the_rest) as address:
        result, told = await send(address, tmp_path)
    assert halves.got == CONTENT and (tmp_path / "out.mp4").read_bytes() == MADE
    assert result["session_id"] == SESSION and told.count(SESSION) == 1 and told.count("waiting") == 2
    first, *later = halves.handshakes
    assert "session_id" not in first and [one["session_id"] for one in later] == [SESSION, SESSION]
    assert first["video_info"]["sha256"] == hashlib.sha256(CONTENT).hexdigest()


async def test_server_that_stays_away_is_given_up_and_the_session_named(tmp_path: Path) -> None:
    halves = Halves()
    async with server_that(halves.take_half, halves.stop) as address:
        with pytest.raises(ServerSaidError, match="the server stops"):
            await send(address, tmp_path, patience=0.2)
    async with server_that(halves.take_half) as address:
        with pytest.raises(TransportError, match=f"went away.*--session {SESSION}"):
            await send(address, tmp_path, patience=0)


@pytest.mark.parametrize("code", ["taken_over", "corrupt_video", "unknown_session"])
async def test_what_waiting_does_not_mend_is_told_at_once(code: str, tmp_path: Path) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_message(reader)
        say(writer, "handshake_ack", session_id=SESSION, offset=len(CONTENT))
        say(writer, "error", code=code, message="no")
        await writer.drain()

    async with server_that(refuse) as address:
        with pytest.raises(ServerSaidError, match=code):
            await send(address, tmp_path)


async def test_server_that_never_was_there_is_not_waited_for(tmp_path: Path) -> None:
    async def vanish(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async with server_that(vanish) as address:
        with pytest.raises(TransportError, match="Send the film again"):
            await send(address, tmp_path)


async def test_full_disk_of_the_client_is_told_with_the_way_to_the_film(tmp_path: Path) -> None:
    halves = Halves()
    (tmp_path / ".out.mp4.part").mkdir()  # stands for a disk where nothing can be written
    async with server_that(halves.take_the_rest) as address:
        with pytest.raises(UsageError, match=f"cannot be written.*--session {SESSION}"):
            await send(address, tmp_path)
