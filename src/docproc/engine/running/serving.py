"""The server of every process that answers over HTTP: uvicorn inside the current loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import uvicorn

from docproc.engine.running.connections import MOST, Connection, most_connections

# An answered connection on which nothing comes.
KEEP_ALIVE_SECONDS = 5
# Of what a client says over a WebSocket: it is only listened to for its end.
_MAX_MESSAGE = 64 * 1024


def configured(
    app: Any,
    *,
    proxies: Sequence[str] = (),
    connection: type[Connection] = Connection,
    connections: int = MOST,
    **options: Any,
) -> uvicorn.Config:
    """What all servers have in common.

    `proxies` are believed what they say of their clients (`X-Forwarded-For`, `X-Forwarded-Proto`); without
    any nobody is, on this machine neither. `connections`, WebSockets among them, are held at once at most.
    `options` are uvicorn's.
    """
    most = most_connections(connections)
    common: dict[str, Any] = {
        "http": connection,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": bool(proxies),
        "forwarded_allow_ips": list(proxies),
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "limit_concurrency": most,
        "backlog": most,  # so many are taken in at once, before one of them is looked at
        "ws_max_size": _MAX_MESSAGE,
        "ws_per_message_deflate": False,  # what is sent is small, a compressor for each client is not
    }
    return uvicorn.Config(app, **{**common, **options})


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
