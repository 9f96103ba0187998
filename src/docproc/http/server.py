"""The server: uvicorn inside the current loop, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable

import structlog
import uvicorn
from fastapi import FastAPI

from docproc.app import App
from docproc.engine.running.serving import serve_until
from docproc.errors import ConfigurationError
from docproc.http.app import create_app
from docproc.http.exposure import check_api

log = structlog.get_logger(__name__)

_BACKLOG = 2048
# Of what a client says over a WebSocket: it is only listened to for its end.
_MAX_MESSAGE = 64 * 1024
# A client that takes nothing for this long is gone, and what waits for it is let go of.
PEER_SECONDS = 30


async def serve(
    application: App,
    stopping: asyncio.Event,
    *,
    host: str,
    port: int,
    create: Callable[[App], FastAPI] = create_app,
) -> None:
    """Until `stopping` is set; then what is under way finishes, for at most `shutdown_seconds`.

    `create` makes what is served: the API alone, or with pages. Opens and closes the application's
    transport; its database must be prepared, and stays open. Raises ConfigurationError when the port is
    taken, or open to strangers.
    """
    check_api(application.settings, host)
    api = create(application)
    config = uvicorn.Config(
        api,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws_max_size=_MAX_MESSAGE,
        ws_per_message_deflate=False,  # what is sent is small, a compressor for each client is not
        timeout_graceful_shutdown=max(1, int(application.settings.shutdown_seconds)),
    )
    with contextlib.closing(bind(host, port)) as listening:
        shown = listening.getsockname()
        log.info("api_listening", host=shown[0], port=shown[1])
        # The hub stops first: the server waits for all that is open.
        await serve_until(stopping, config, listening, name="api", before_stop=api.state.hub.stop)
    log.info("api_stopped")


def bind(host: str, port: int) -> socket.socket:
    """Before anything else starts: a port that is taken is the operator's to solve."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _unusable(host, port, error) from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # accepted sockets inherit it
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, PEER_SECONDS * 1000)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise _unusable(host, port, error) from error
    listening.setblocking(False)
    return listening


def _unusable(host: str, port: int, error: OSError) -> ConfigurationError:
    return ConfigurationError(
        f"the API cannot listen on {host}:{port}: {error.strerror or error}",
        remedy="Set DOCPROC_API_PORT to a free port, or DOCPROC_HOST to an address of this machine",
    )
