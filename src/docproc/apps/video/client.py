"""The client of the video server: sends a film, shows how far it is, receives what was made of it."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from docproc.apps.video.errors import Code, VideoError
from docproc.apps.video.server.protocol import CHUNK_BYTES, VERSION, encode, read_message
from docproc.errors import TransportError, UsageError

CONNECT_SECONDS = 10.0
# The server says something a few times a second.
SILENCE_SECONDS = 120.0
# How long a server that went away may stay away, and how often it is looked for.
PATIENCE_SECONDS = 60.0
PAUSE_SECONDS = 1.0

# What (upload, frames, download, waiting), how much of it, and the message where there is one.
Tell = Callable[[str, int, int | None, dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Address:
    host: str = "::1"
    port: int = 9090
    family: socket.AddressFamily = socket.AF_UNSPEC


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be done, as the handshake says it."""

    processing: str
    filters: list[Any] = field(default_factory=list)
    codec: str = "h264"
    token: str | None = None
    session_id: UUID | None = None
    callback_url: str | None = None


@dataclass(frozen=True, slots=True)
class Film:
    """What is sent, and where what is made of it goes."""

    path: Path
    out: Path
    size: int
    sha256: str


async def send_film(
    address: Address,
    film: Path,
    wish: Wish,
    out: Path,
    tell: Tell,
    acknowledged: Callable[[dict[str, Any]], None],
    patience_seconds: float = PATIENCE_SECONDS,
) -> dict[str, Any]:
    """The server's result, once the film lies at `out`. A server that goes away is given so much time to come
    back; then the upload goes on where it was, or the film that was made is fetched.

    Raises VideoError with the server's code, TransportError when it cannot be reached or stays away.
    """
    sha256, size = await asyncio.to_thread(_digest, film)
    sent, lost_at = Film(film, out, size, sha256), 0.0
    while True:
        conversation = _Conversation(sent, wish, tell)
        try:
            return await conversation.run(address, acknowledged)
        except (TransportError, ServerSaidError) as error:
            if conversation.session is not None:
                wish, lost_at = replace(wish, session_id=conversation.session), time.monotonic()
            is_patient = lost_at and time.monotonic() - lost_at < patience_seconds
            if not is_patient or (isinstance(error, ServerSaidError) and error.code != Code.BUSY):
                raise
        acknowledged = _heard_before
        tell("waiting", 0, None, {})
        await asyncio.sleep(PAUSE_SECONDS)


def _heard_before(_: dict[str, Any]) -> None:
    """The session is known."""


class _Conversation:
    """One connection, from the handshake to the film that comes back."""

    def __init__(self, film: Film, wish: Wish, tell: Tell) -> None:
        self.film = film
        self.wish = wish
        self.tell = tell
        # Once the server has said it.
        self.session: UUID | None = None

    async def run(self, address: Address, acknowledged: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        reader, writer = await _connect(address)
        try:
            return await self._talk(reader, writer, acknowledged)
        except (EOFError, ConnectionError, TimeoutError) as error:
            remedy = f"When it is back, go on with --session {self.session}"
            raise TransportError(
                "the server went away", remedy=remedy if self.session else "Send the film again"
            ) from error
        except OSError as error:  # of this machine's disk: the server keeps the film
            raise UsageError(
                f"{self.film.out} cannot be written: {error.strerror}",
                remedy=f"Make room, then fetch it with --session {self.session}",
            ) from error
        finally:
            writer.close()

    async def _talk(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        acknowledged: Callable[[dict[str, Any]], None],
    ) -> dict[str, Any]:
        writer.write(encode(_handshake(self.film, self.wish)))
        acknowledgement = await _answer(reader, "handshake_ack")
        self.session = UUID(acknowledgement["session_id"])
        acknowledged(acknowledgement)
        offset = int(acknowledgement.get("offset", 0))
        uploading = asyncio.create_task(_upload(writer, self.film, offset, self.tell))
        try:
            result = await _follow(reader, self.tell)
            await uploading
            await _download(reader, self.film.out, int(result["size_bytes"]), self.tell)
        finally:
            uploading.cancel()
            await asyncio.gather(uploading, return_exceptions=True)
        return result


async def _connect(address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            return await asyncio.open_connection(
                address.host, address.port, family=address.family, limit=CHUNK_BYTES
            )
    except (OSError, TimeoutError) as error:
        raise TransportError(
            f"no video server answers at {address.host} port {address.port}: {error or 'it took too long'}",
            remedy="Start one with docproc video serve, or set --host and --port",
        ) from error


def _handshake(film: Film, wish: Wish) -> dict[str, Any]:
    said: dict[str, Any] = {
        "type": "handshake",
        "version": VERSION,
        "mode": "process",
        "codec": wish.codec,
        "processing": wish.processing,
        "filters": wish.filters,
        "video_info": {"filename": film.path.name, "size_bytes": film.size, "sha256": film.sha256},
    }
    optional = {"token": wish.token, "callback_url": wish.callback_url}
    optional["session_id"] = str(wish.session_id) if wish.session_id else None
    return said | {key: value for key, value in optional.items() if value is not None}


async def _upload(writer: asyncio.StreamWriter, film: Film, offset: int, tell: Tell) -> None:
    with await asyncio.to_thread(film.path.open, "rb") as file:
        file.seek(offset)
        sent = offset
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
            sent += len(chunk)
            tell("upload", sent, film.size, {})


async def _follow(reader: asyncio.StreamReader, tell: Tell) -> dict[str, Any]:
    while True:
        message = await _answer(reader, "progress", "result")
        if message["type"] == "result":
            return message
        tell("frames", int(message.get("frames_processed") or 0), message.get("frames_total"), message)


async def _download(reader: asyncio.StreamReader, out: Path, size: int, tell: Tell) -> None:
    """Under another name until it is whole."""
    part = out.with_name(f".{out.name}.part")
    got = 0
    try:
        with await asyncio.to_thread(part.open, "wb") as file:
            while got < size:
                async with asyncio.timeout(SILENCE_SECONDS):
                    chunk = await reader.read(min(CHUNK_BYTES, size - got))
                if not chunk:
                    raise EOFError("the film breaks off")
                await asyncio.to_thread(file.write, chunk)
                got += len(chunk)
                tell("download", got, size, {})
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)


async def _answer(reader: asyncio.StreamReader, *kinds: str) -> dict[str, Any]:
    try:
        async with asyncio.timeout(SILENCE_SECONDS):
            message = await read_message(reader)
    except TimeoutError as error:
        raise TransportError(f"the server said nothing for {SILENCE_SECONDS:g} s") from error
    if message["type"] == "error":
        raise ServerSaidError(message)
    if message["type"] not in kinds:
        raise VideoError(f"the server said {message['type']!r} out of turn", code=Code.BAD_MESSAGE)
    return message


class ServerSaidError(VideoError):
    """The server refused; `message` is what it said."""

    def __init__(self, message: dict[str, Any]) -> None:
        code = str(message.get("code", Code.INTERNAL))
        super().__init__(f"{code}: {message.get('message', 'the server refused')}", code=Code.INTERNAL)
        self.code = code
        self.is_recoverable = bool(message.get("recoverable"))
        self.session_id = message.get("session_id")


def _digest(film: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with film.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size
