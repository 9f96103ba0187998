"""The names a server answers to: a page of any other name that leads here (DNS rebinding) reads nothing."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from docproc.http import problems
from docproc.http.exposure import is_loopback
from docproc.http.guard import HEADERS
from docproc.settings import Settings


@dataclass(frozen=True, slots=True)
class KnownHosts:
    """Around a server's application. `takes_addresses`: whatever address leads to it will do, if not a name.

    A browser takes a page for the name it was asked by. A foreign page can have its own name lead to this
    machine and read what is answered then; it cannot do so with an address.
    """

    app: ASGIApp
    names: Collection[str]
    takes_addresses: bool

    @classmethod
    def on(cls, app: ASGIApp, settings: Settings, host: str) -> KnownHosts:
        """For a server that listens on `host`."""
        public = urlsplit(settings.backoffice_url or "").hostname or ""
        names = {
            _plain(name) for name in (host, settings.host, public, *(settings.allowed_hosts or ())) if name
        }
        return cls(app, names, takes_addresses=not is_loopback(host))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self.is_known(Headers(scope=scope).get("host", "")):
            return await self.app(scope, receive, send)
        refusal = problems.answer(
            421,
            "unknown_host",
            "this server does not answer to that name",
            "Use an address of this machine, or name the host in DOCPROC_ALLOWED_HOSTS",
            headers=HEADERS,
        )
        await refusal(scope, receive, send)

    def is_known(self, host: str) -> bool:
        """Of a Host header, with its port."""
        name = _plain(_without_port(host))
        if name in self.names or is_loopback(name):
            return True
        return self.takes_addresses and _is_address(name)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isascii() and port.isdecimal() and not name.endswith(":") else host


def _plain(name: str) -> str:
    return name.strip().strip("[]").rstrip(".").lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
