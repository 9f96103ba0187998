"""The listener: one socket for IPv4 and IPv6, and a task for each client."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket

import structlog

from docproc.apps.video.errors import Code
from docproc.apps.video.server.connection import Connection, House
from docproc.apps.video.server.protocol import CHUNK_BYTES, encode
from docproc.errors import ConfigurationError

log = structlog.get_logger(__name__)

BACKLOG = 128


class Listener:
    """Accepts clients until it is closed; then tells those who are there."""

    def __init__(self, house: House, bind: str, port: int) -> None:
        self.house = house
        self.socket = open_socket(bind, port)
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._accept, sock=self.socket, limit=CHUNK_BYTES, backlog=BACKLOG
        )

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._clients) >= self.house.video.video_clients:
            said = {"code": Code.BUSY, "message": "too many clients at once", "recoverable": True}
            writer.write(encode({"type": "error", **said}))
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None  # asyncio calls this in one
        self._clients.add(task)
        try:
            await Connection(self.house, reader, writer).serve()
        except asyncio.CancelledError:
            pass  # by `close`; the streams' own callback must not see it
        finally:
            self._clients.discard(task)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)


def open_socket(bind: str, port: int) -> socket.socket:
    """Raises ConfigurationError. `::` takes both families; a machine without IPv6 listens on IPv4 alone."""
    address = ipaddress.ip_address(bind.strip("[]"))
    try:
        if address.version == 4:
            return socket.create_server((str(address), port), backlog=BACKLOG)
        try:
            return _dual_stack(str(address), port)
        except OSError as error:
            if error.errno != errno.EAFNOSUPPORT or not address.is_unspecified:
                raise
            log.warning("no_ipv6", listening="0.0.0.0")
            return socket.create_server(("0.0.0.0", port), backlog=BACKLOG)
    except OSError as error:
        raise ConfigurationError(
            f"the video server cannot listen on {bind}:{port}: {error.strerror}",
            remedy="Set --bind and --port, or DOCPROC_VIDEO_BIND and DOCPROC_VIDEO_PORT",
        ) from error


def _dual_stack(host: str, port: int) -> socket.socket:
    server = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    try:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((host, port))
        server.listen(BACKLOG)
    except OSError:
        server.close()
        raise
    return server
