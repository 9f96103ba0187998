"""One client: its handshake, its film, its progress, and the film that was made."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import socket
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from uuid import UUID

import structlog

from docproc.apps.video.errors import Code, VideoError, is_recoverable
from docproc.apps.video.film.writing import codec_named
from docproc.apps.video.filters.chain import Chain, requested
from docproc.apps.video.server import uploads
from docproc.apps.video.server.films import Films
from docproc.apps.video.server.protocol import (
    CHUNK_BYTES,
    VERSION,
    Handshake,
    encode,
    parse_handshake,
    read_message,
)
from docproc.apps.video.sessions import Session, Sessions
from docproc.apps.video.settings import VideoSettings
from docproc.engine.disk import FULL
from docproc.errors import DocProcError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

# A client that says nothing is no client.
HANDSHAKE_SECONDS = 10.0
# What a client still sends after an error is read for this long, so that the error reaches it.
LINGER_SECONDS = 2.0
MEGABYTE = 1024 * 1024
TAKEN_OVER = "another client goes on with this session"


@dataclass(frozen=True, slots=True)
class House:
    """What all clients share."""

    video: VideoSettings
    sessions: Sessions
    films: Films
    is_open: bool
    # Who is sending which film now.
    uploading: dict[UUID, asyncio.Task[Any]] = field(default_factory=dict)

    async def take_over(self, session: Session) -> None:
        """A client that resumes has lost its earlier connection, whether that is known here yet or not: two
        that write into one file would make it none of both."""
        before = self.uploading.get(session.session_id)
        mine = asyncio.current_task()
        assert mine is not None  # connections are tasks
        self.uploading[session.session_id] = mine
        if before is not None:
            before.cancel(TAKEN_OVER)
            await asyncio.gather(before, return_exceptions=True)

    def done_uploading(self, session: Session) -> None:
        if self.uploading.get(session.session_id) is asyncio.current_task():
            del self.uploading[session.session_id]


class Connection:
    """Whatever a client does, it harms nobody else: it is read and written with time limits, and its film
    goes on without it."""

    def __init__(self, house: House, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.house = house
        self.reader = reader
        self.writer = writer
        self.session: Session | None = None

    async def serve(self) -> None:
        """From the first byte to the last. Never raises."""
        try:
            _keep_alive(self.writer)
            await self._talk()
        except VideoError as error:
            await self._refuse(error.code, str(error))
        except (EOFError, ConnectionError, TimeoutError) as error:
            log.info("client_gone", session=self._id, problem=text_for_logs(error))
            self._after_leaving()
        except asyncio.CancelledError as end:
            with contextlib.suppress(ConnectionError, TimeoutError):
                if end.args == (TAKEN_OVER,):
                    await self._refuse(Code.TAKEN_OVER, TAKEN_OVER)
                else:
                    await self._refuse(Code.BUSY, "the server stops; go on later with this session")
            raise
        except DocProcError as error:
            await self._refuse(Code.INTERNAL, str(error))
        except Exception as error:  # the boundary: one client's trouble is told to it, and ends there
            if isinstance(error, OSError) and error.errno in FULL:
                await self._refuse(Code.DISK_FULL, "the disk is full. Send it again later")
            else:
                log.exception("client_failed", session=self._id)
                await self._refuse(Code.INTERNAL, "the server made a mistake; its log says which")
        finally:
            self.writer.close()

    @property
    def _id(self) -> str | None:
        return str(self.session.session_id) if self.session else None

    async def _talk(self) -> None:
        said = await self._handshake()
        chain = requested(said.processing, said.filters, self.house.video.video_max_filters)
        codec = codec_named(said.codec)
        self._check_size(said)
        self.house.films.check(said)
        self.session = session = await asyncio.to_thread(uploads.begin, self.house.sessions, said)
        await self.house.take_over(session)
        try:
            await self._receive_all(session, said)
        finally:
            self.house.done_uploading(session)
        await self._make(session, said, chain, codec)

    async def _receive_all(self, session: Session, said: Handshake) -> None:
        here = uploads.offset(session, said)
        await self._send(
            type="handshake_ack",
            accepted=True,
            version=VERSION,
            session_id=str(session.session_id),
            preview_url=f"{self.house.video.preview_url}/session/{session.session_id}",
            offset=here,
        )
        await self._receive(session, said)

    async def _handshake(self) -> Handshake:
        try:
            async with asyncio.timeout(HANDSHAKE_SECONDS):
                said = parse_handshake(await read_message(self.reader))
        except TimeoutError as error:
            raise VideoError("no handshake came", code=Code.TIMED_OUT) from error
        token = self.house.video.video_token
        if token is not None:
            if not hmac.compare_digest(token.get_secret_value().encode(), (said.token or "").encode()):
                raise VideoError(
                    "the token is wrong", code=Code.NOT_ALLOWED, remedy="Say DOCPROC_VIDEO_TOKEN"
                )
        elif not (self.house.is_open or _is_here(self.writer)):
            raise VideoError(
                "the server is open to its own machine only",
                code=Code.NOT_ALLOWED,
                remedy="Set DOCPROC_VIDEO_TOKEN, or DOCPROC_ALLOW_OPEN=true if the network itself is closed",
            )
        return said

    def _check_size(self, said: Handshake) -> None:
        most = self.house.video.video_max_mb * MEGABYTE
        if said.video_info.size_bytes > most:
            raise VideoError(
                f"{said.video_info.size_bytes / MEGABYTE:.0f} MB, at most {most / MEGABYTE:.0f} MB are taken",
                code=Code.FILM_TOO_LARGE,
            )

    async def _receive(self, session: Session, said: Handshake) -> None:
        if session.film.exists():
            return
        try:
            await uploads.receive(self.reader, session, said, self.house.video.video_idle_seconds)
        except VideoError as error:
            if error.code != Code.TIMED_OUT:  # nothing that could be resumed
                await asyncio.to_thread(session.remove)
            raise

    def _after_leaving(self) -> None:
        """Half a film stays as long as it can be resumed."""
        session = self.session
        if session and not session.film.exists() and self.house.video.video_resume_minutes == 0:
            session.remove()

    async def _make(self, session: Session, said: Handshake, chain: Chain, codec: str) -> None:
        await self.house.films.submit(session, said, chain, codec)
        async for step in self.house.films.follow(session):
            if step.error is not None:
                code, message = step.error
                return await self._refuse(code, message)
            if step.result is not None:
                return await self._give(session, step.result)
            # A client that does not read gets fewer of them; nothing piles up for it here.
            if self.writer.transport.get_write_buffer_size() == 0:
                await self._send(type="progress", session_id=self._id, **(step.numbers or {}))

    async def _give(self, session: Session, result: dict[str, Any]) -> None:
        try:
            file = await asyncio.to_thread(session.output.open, "rb")
        except FileNotFoundError as error:
            raise VideoError("the film is not kept any more", code=Code.UNKNOWN_SESSION) from error
        with contextlib.closing(file):
            size = session.output.stat().st_size
            told = {**result, "size_bytes": size, "output_path": str(session.output)}
            await self._send(type="result", ok=True, **told)
            await self._send_file(file)

    async def _send_file(self, file: BinaryIO) -> None:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            self.writer.write(chunk)
            await self._drain()
        self.writer.write_eof()
        await self._drain()

    async def _send(self, **message: Any) -> None:
        self.writer.write(encode(message))
        await self._drain()

    async def _drain(self) -> None:
        async with asyncio.timeout(self.house.video.video_idle_seconds):
            await self.writer.drain()

    async def _refuse(self, code: str, message: str) -> None:
        """Say what is wrong, and read on for a moment: a connection that is closed while the other side still
        sends is reset, and the error would be lost with it."""
        log.info("client_refused", session=self._id, code=code, problem=message)
        with contextlib.suppress(ConnectionError, TimeoutError, OSError):
            await self._send(
                type="error",
                code=code,
                message=message,
                recoverable=is_recoverable(code),
                session_id=self._id,
            )
            self.writer.write_eof()
            async with asyncio.timeout(LINGER_SECONDS):
                while await self.reader.read(CHUNK_BYTES):
                    pass


def _is_here(writer: asyncio.StreamWriter) -> bool:
    """Whether the client is on this machine."""
    address = ipaddress.ip_address(writer.get_extra_info("peername")[0].partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)  # an IPv4 client of a dual-stack socket
    return bool((mapped or address).is_loopback)


def _keep_alive(writer: asyncio.StreamWriter) -> None:
    """Notice within a minute or two when a client's machine is gone."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 4)):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
