"""What a request may carry: so many bytes, so deep, and not too slowly, on every route of every server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from docproc.http import depth
from docproc.http.problems import Problem

# Of a route that says nothing else. Read whole, so it bounds what one request costs in memory.
DEFAULT_BYTES = 256 * 1024
# Answers of people, and requests that are data.
LARGE_BYTES = 1024 * 1024
# A body may take so long, and longer by what has come: who sends less than a KiB a second holds a place.
PATIENCE_SECONDS, STREAMED_PATIENCE_SECONDS = 20.0, 60.0
SLOWEST_BYTES_PER_SECOND = 1024

_NAME = "_body_limit"
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Limit:
    """`is_streamed`: the endpoint reads the body as it comes, and looks at what is in it itself."""

    of: Callable[[FastAPI], int] = lambda _app: DEFAULT_BYTES
    is_streamed: bool = False


def takes(
    size: int | Callable[[FastAPI], int], *, is_streamed: bool = False
) -> Callable[[Endpoint], Endpoint]:
    """Mark an endpoint whose body may be larger: `size` in bytes, or how to find it out."""
    limit = Limit((lambda _app: size) if isinstance(size, int) else size, is_streamed)

    def mark(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _NAME, limit)
        return endpoint

    return mark


class BodyLimits:
    """Middleware inside the guard. 413: too large; 422: nested too deep; 408: too slow."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = _Body(scope, receive).receive if scope["type"] == "http" else receive
        await self.app(scope, body, send)


async def check_announced(request: HTTPConnection) -> None:
    """A dependency of every route, also of those that read no body: what is announced is not even begun.

    Raises Problem 413. A streaming endpoint says itself what is too large for it.
    """
    limit = _limit(request.scope.get("endpoint"))
    most = limit.of(request.app)
    if not limit.is_streamed and _announced(request.scope) > most:
        raise _too_large(most)


def _announced(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "")
    return int(length) if length.isascii() and length.isdecimal() else 0


def _limit(endpoint: Any) -> Limit:
    found: Limit = getattr(endpoint, _NAME, Limit())
    return found


def _too_large(most: int) -> Problem:
    return Problem(413, "too_large", f"the body is larger than {most // 1024} KiB", "Send less")


class _Body:
    """What an endpoint receives: the body whole and looked at, or as it comes; and later whether it is gone.

    Which endpoint it is, the router has noted in the scope by the time somebody reads.
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._scope = scope
        self._receive = receive
        self._is_complete = False
        self._size = 0
        self._waited = 0.0

    async def receive(self) -> Message:
        if self._is_complete:
            return await self._receive()
        limit = _limit(self._scope.get("endpoint"))
        most = limit.of(self._scope["app"])
        if _announced(self._scope) > most:  # nothing of it is asked for
            raise _too_large(most)
        if limit.is_streamed:
            return await self._next(most, STREAMED_PATIENCE_SECONDS)
        return await self._whole(most)

    async def _whole(self, most: int) -> Message:
        content = bytearray()
        while not self._is_complete:
            message = await self._next(most, PATIENCE_SECONDS)
            if message["type"] != "http.request":
                return message
            content += message.get("body", b"")
        kind = Headers(scope=self._scope).get("content-type", "").partition(";")[0].strip().lower()
        if kind not in depth.FORMS:
            depth.check(content, "the body")
        return {"type": "http.request", "body": bytes(content), "more_body": False}

    async def _next(self, most: int, patience: float) -> Message:
        message = await self._in_time(patience + self._size / SLOWEST_BYTES_PER_SECOND)
        self._is_complete = message["type"] != "http.request" or not message.get("more_body", False)
        self._size += len(message.get("body", b""))
        if self._size > most:
            self._is_complete = False  # whoever asks again is refused again
            raise _too_large(most)
        return message

    async def _in_time(self, allowed_seconds: float) -> Message:
        """Only the time spent waiting counts, not what the endpoint does between two pieces."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(allowed_seconds - self._waited):
                return await self._receive()
        except TimeoutError:
            raise Problem(408, "upload_stalled", "the body comes too slowly", "Send it again") from None
        finally:
            self._waited += loop.time() - began
