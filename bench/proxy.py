"""A TCP proxy on loopback whose connections can be cut, half-closed or slowed: a bad network, made here."""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Self

CHUNK = 65_536


class Proxy:
    """Between our processes and one server."""

    def __init__(self, target_port: int) -> None:
        self.target_port = target_port
        # Seconds that every piece of data is held back.
        self.delay_seconds = 0.0
        self._server: asyncio.Server | None = None
        self._pairs: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()

    def cut(self) -> int:
        """Every connection is gone at once, as when a cable is pulled and both ends are reset."""
        number = len(self._pairs)
        for pair in list(self._pairs):
            for end in pair:
                end.transport.abort()
        return number

    def half_close(self) -> int:
        """The server's side says no more: clients may send, and hear nothing."""
        number = 0
        for client, _ in list(self._pairs):
            with contextlib.suppress(OSError, RuntimeError):
                if client.can_write_eof() and not client.is_closing():
                    client.write_eof()
                    number += 1
        return number

    async def _accept(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        try:
            answers, server = await asyncio.open_connection("127.0.0.1", self.target_port)
        except OSError:  # the server is away: so is the proxy
            client.transport.abort()
            return
        pair = (client, server)
        self._pairs.add(pair)
        try:
            await asyncio.gather(self._carry(reader, server), self._carry(answers, client))
        finally:
            self._pairs.discard(pair)
            for end in pair:
                end.transport.abort()

    async def _carry(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, RuntimeError, asyncio.IncompleteReadError):
            while data := await source.read(CHUNK):
                if self.delay_seconds:
                    await asyncio.sleep(self.delay_seconds)
                target.write(data)
                await target.drain()
        # One direction is over: the other one would wait for ever.
        target.transport.abort()
