"""A receiver of callbacks: a real HTTP server that keeps what it got and answers as the test says."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> dict[str, Any]:
        found: dict[str, Any] = orjson.loads(self.body)
        return found

    @property
    def version(self) -> int:
        return int(self.said["answer_version"])


# A status, and more headers where a test needs them.
Answer = int | tuple[int, dict[str, str]]
Answers = Callable[[Received], Awaitable[Answer]]


async def _well(_received: Received) -> Answer:
    return 204


class Receiver:
    """`answer` decides on each request; it may wait, for as long as the test wants."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answer: Answers = _well
        self.port = 0
        self.most_at_once = 0
        self._at_once = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/answers"

    def answers(self, *statuses: Answer) -> None:
        """These, one after the other; then always the last."""
        left = list(statuses)

        async def scripted(_received: Received) -> Answer:
            return left.pop(0) if len(left) > 1 else left[0]

        self.answer = scripted

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._converse(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the sender left
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received = await _read(reader)
        self.received.append(received)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            answer = await self.answer(received)
        finally:
            self._at_once -= 1
        status, more = answer if isinstance(answer, tuple) else (answer, {})
        headers = {"Content-Length": "0", **more}
        lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        await writer.drain()


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(first.split()[1], headers, body)


@contextlib.asynccontextmanager
async def receiving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    receiver = Receiver()
    handlers: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handlers.add(asyncio.create_task(receiver._serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        for handler in handlers:
            handler.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)
        await server.wait_closed()
