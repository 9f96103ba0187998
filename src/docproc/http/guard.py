"""The outermost layer: headers that every answer has, and the last word on errors nobody expected."""

from __future__ import annotations

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from docproc.http import problems

log = structlog.get_logger(__name__)

# Nothing from elsewhere, nothing inline: what a document or a file name says can never become a script.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    # Elsewhere nothing is told. To ourselves it is: without it browsers hide the origin of our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_READING = ("GET", "HEAD", "OPTIONS")


class Guard:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            return await self._websocket(scope, receive, send)
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        began = False

        async def send_guarded(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", _caching(scope["path"]))
            await send(message)

        if _is_foreign(scope):
            return await _refusal()(scope, receive, send_guarded)
        try:
            await self.app(scope, receive, send_guarded)
        except Exception:  # the boundary: the process serves on
            log.exception("http_request_failed", path=scope["path"])
            if not began:
                await problems.internal()(scope, receive, send_guarded)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _is_foreign_socket(scope):
            return await _refusal()(scope, receive, send)
        try:
            await self.app(scope, receive, send)
        except Exception:  # the boundary: the process serves on
            log.exception("http_request_failed", path=scope["path"])


def _refusal() -> Response:
    message, remedy = "a web page from elsewhere sent this", "Send it from a program, or this page"
    return problems.answer(403, "cross_site", message, remedy)


def _is_foreign_socket(scope: Scope) -> bool:
    """Browsers let any page open a WebSocket and read it, and name the page's origin; it must be ours."""
    headers = Headers(scope=scope)
    return headers.get("sec-fetch-site") != "same-origin" and _is_from_elsewhere(headers)


def _is_foreign(scope: Scope) -> bool:
    """Whether another page changes something; one of another port of this machine is another page, too.

    Browsers say where what they send comes from; programs say nothing and are welcome.
    """
    if scope["method"] in _READING:
        return False
    headers = Headers(scope=scope)
    site = headers.get("sec-fetch-site")
    if site == "same-origin":  # behind a proxy the origin may be another than we know
        return False
    return site in ("same-site", "cross-site") or _is_from_elsewhere(headers)


def _is_from_elsewhere(headers: Headers) -> bool:
    origin = headers.get("origin")
    if origin is None:  # a program
        return False
    # A proxy may have changed the host; no web page can set these headers.
    ours = (headers.get("host", ""), headers.get("x-forwarded-host", ""))
    return origin.partition("://")[2].lower() not in {host.lower() for host in ours if host}


def _caching(path: str) -> str:
    """Our own scripts and styles are asked for by their ETag; answers about requests are kept nowhere."""
    return "no-cache" if path.startswith("/static/") else "no-store"
