"""A TCP proxy on loopback whose connections can be cut, half-closed, throttled or held: a bad network."""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Self

CHUNK = 65_536


class Proxy:
    """Between our processes and one server."""

    def __init__(self, target_port: int, name: str = "") -> None:
        self.target_port = target_port
        self.name = name or f"port {target_port}"
        # Seconds that every piece of data is held back.
        self.delay_seconds = 0.0
        # What each connection carries in each direction; None: as much as it can.
        self.bytes_per_second: int | None = None
        self._passing = asyncio.Event()
        self._passing.set()
        self._server: asyncio.Server | None = None
        self._pairs: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._carrying: set[asyncio.Task[None] | None] = set()

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
        self.go_on()
        self.cut()
        await asyncio.gather(*filter(None, self._carrying), return_exceptions=True)

    def cut(self) -> int:
        """Every connection is gone at once, as when a cable is pulled and both ends are reset."""
        number = len(self._pairs)
        for pair in list(self._pairs):
            for end in pair:
                end.transport.abort()
        return number

    def half_close(self, *, towards_server: bool = False) -> int:
        """One side hears that the other will say no more, while its own words still go through."""
        number = 0
        for client, server in list(self._pairs):
            end = server if towards_server else client
            with contextlib.suppress(OSError, RuntimeError):
                if end.can_write_eof() and not end.is_closing():
                    end.write_eof()
                    number += 1
        return number

    def hold(self) -> None:
        """Nothing passes in either direction, and nobody is told; new connections are taken and held, too."""
        self._passing.clear()

    def go_on(self) -> None:
        self._passing.set()

    async def _accept(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._carrying.add(task)
        try:
            await self._connect(reader, client)
        finally:
            self._carrying.discard(task)

    async def _connect(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        await self._passing.wait()
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
            while data := await source.read(self._most()):
                await self._passing.wait()
                if wait := self._held_back(len(data)):
                    await asyncio.sleep(wait)
                target.write(data)
                await target.drain()
        # One direction is over: the other one would wait for ever.
        target.transport.abort()

    def _most(self) -> int:
        """A throttled connection carries little at a time, so that a change of its speed is felt soon."""
        return CHUNK if self.bytes_per_second is None else max(self.bytes_per_second // 10, 1)

    def _held_back(self, size: int) -> float:
        throttled = size / self.bytes_per_second if self.bytes_per_second else 0.0
        return self.delay_seconds + throttled
