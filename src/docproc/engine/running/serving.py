"""The server of every process that answers over HTTP: uvicorn inside the current loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator

import uvicorn


class Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are the business of whoever runs us


async def serve_until(
    stopping: asyncio.Event,
    config: uvicorn.Config,
    listening: socket.socket,
    *,
    name: str,
    before_stop: Callable[[], None] = lambda: None,
) -> None:
    """On a socket that listens; then what is under way finishes, as long as `config` allows.

    `before_stop` lets go of what the server would wait for.
    """
    server = Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]), name=name)
    stop = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait({serving, stop}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.cancel()
        before_stop()
        server.should_exit = True
        await serving
