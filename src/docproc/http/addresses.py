"""Where the servers with pages are, as the browser that asks reaches them."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

from docproc.settings import Settings

API = "api"
BACKOFFICE = "backoffice"


@dataclass(frozen=True, slots=True)
class Addresses:
    """`here` is the server whose pages are shown; links on it need no address."""

    settings: Settings
    here: str

    def is_here(self, server: str) -> bool:
        return server == self.here

    def of(self, server: str, request: Request) -> str | None:
        """The other server without a slash at the end; None where nobody could know."""
        public = self.settings.backoffice_url
        if public and server == BACKOFFICE:
            return public.rstrip("/")
        if public:  # a proxy stands before this one: what it has before the API is not known
            return None
        port = self.settings.api_port if server == API else self.settings.backoffice_port
        host = request.url.hostname or self.settings.host
        # The name the browser used leads to this machine; a loopback address might lead to the browser's.
        return f"http://{f'[{host}]' if ':' in host else host}:{port}" if port else None
