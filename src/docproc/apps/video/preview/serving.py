"""Serving the preview: waitress, which gives each browser that follows a film a thread."""

from __future__ import annotations

import os
import signal
import socket
import sys

import structlog
import waitress

from docproc.apps.video.preview.app import MOST_STREAMS, create_app
from docproc.apps.video.settings import sessions_of
from docproc.errors import ConfigurationError
from docproc.http.exposure import is_loopback
from docproc.settings import Settings
from docproc.terminal.output import console

log = structlog.get_logger(__name__)

THREADS = MOST_STREAMS + 8
HERE = ("localhost", "127.0.0.1", "[::1]")


def serve(settings: Settings, host: str, port: int) -> None:
    """Until the process is told to stop. Raises ConfigurationError."""
    if not (settings.allow_open or is_loopback(host)):
        raise ConfigurationError(
            f"the preview would show films to everybody who reaches {host}",
            remedy="Set DOCPROC_VIDEO_PREVIEW_HOST=127.0.0.1, "
            "or DOCPROC_ALLOW_OPEN=true if the network itself is closed",
        )
    sessions = sessions_of(settings)
    sessions.prepare()
    app = create_app(sessions, _trusted(settings, host))
    listener = _listen(host, port)
    where = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}/"
    console.print(f"preview on {where}, data in {sessions.folder}", soft_wrap=True, highlight=False)
    log.info("preview_ready", address=where)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # waitress ends by it, in order
    try:
        # Events are sent as they happen, not when there is enough of them.
        waitress.serve(
            app, sockets=[listener], threads=THREADS, send_bytes=1, ident="",
            clear_untrusted_proxy_headers=True,
        )  # fmt: skip
    finally:
        app.extensions["preview"].originals.close()


def _trusted(settings: Settings, host: str) -> list[str] | None:
    """Names in addresses that are answered: another site's name must not lead a browser here."""
    if not is_loopback(host) and settings.allowed_hosts is None:
        return None
    return [*HERE, host, *(settings.allowed_hosts or ())]


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigurationError(
            f"the preview cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}",
            remedy="If a health server has that port, move it with DOCPROC_HEALTH_PORT; or set --port",
        ) from error
