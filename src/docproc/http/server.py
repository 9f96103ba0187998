"""The server: uvicorn inside the current loop, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Any

import structlog
import uvicorn
from fastapi import FastAPI

from docproc.app import App
from docproc.engine.running.serving import configured, serve_until
from docproc.errors import ConfigurationError
from docproc.http.app import create_app
from docproc.http.exposure import check_api
from docproc.http.hosts import KnownHosts
from docproc.settings import Settings

log = structlog.get_logger(__name__)

_BACKLOG = 2048
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
    seconds = max(1, int(application.settings.shutdown_seconds))
    config = facing_the_network(api, application.settings, host, timeout_graceful_shutdown=seconds)
    with contextlib.closing(bind(host, port)) as listening:
        shown = listening.getsockname()
        log.info("api_listening", host=shown[0], port=shown[1])
        # The hub stops first: the server waits for all that is open.
        await serve_until(stopping, config, listening, name="api", before_stop=api.state.hub.stop)
    log.info("api_stopped")


def facing_the_network(app: FastAPI, settings: Settings, host: str, **options: Any) -> uvicorn.Config:
    """For every server that browsers reach: only those who ask for it by a name it has are answered."""
    named = KnownHosts.on(app, settings, host)
    return configured(
        named,
        proxies=settings.trusted_proxies or (),
        connections=settings.max_connections,
        lifespan="on",
        **options,
    )


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
