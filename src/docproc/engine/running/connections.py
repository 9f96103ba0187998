"""Connections that are not waited for: a client that says nothing makes room for those that do."""

from __future__ import annotations

import asyncio
import resource

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# From the start of a connection, or the last answer on it, to the end of the next request's headers. uvicorn
# itself only ends connections on which nothing at all comes after an answer.
HEADER_SECONDS = 10.0
MOST = 1000
# Beyond the limit some are still let in, to be told 503.
_TOLD = 32


def most_connections(wanted: int = MOST) -> int:
    """So many as are wanted, and no more than leave half of the files this process may open to everything
    else; it may open more afterwards, if the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = max(4096, 2 * wanted)
    if soft != resource.RLIM_INFINITY and soft < files:
        soft = files if hard == resource.RLIM_INFINITY else max(soft, min(hard, files))
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, soft // 2)


class Connection(H11Protocol):
    """uvicorn's, with an end for headers and rests of bodies that never come, and a limit to their number.

    How slowly a body may come is decided where its limits are known (`docproc.http.bodies`).
    """

    header_seconds = HEADER_SECONDS
    _since: float
    _look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        super().connection_made(transport)
        self._since = self.loop.time()
        self._make_room()
        self._look_after(self.header_seconds)

    @property
    def is_idle(self) -> bool:
        """Whether it only waits for the client: no request is under way, no answer on its way out."""
        is_answered = self.cycle is None or self.cycle.response_complete
        return is_answered and not self.transport.get_write_buffer_size()

    def _make_room(self) -> None:
        """Who sends at once is served, however many others only hold a connection open."""
        limit = self.limit_concurrency
        if limit is None or len(self.connections) < limit:
            return
        idle = [one for one in self.connections if isinstance(one, Connection) and one.is_idle]
        others = sorted((one for one in idle if one is not self), key=lambda one: one._since)
        for oldest in others[: len(self.connections) - limit + 1]:
            oldest._drop()
        if len(self.connections) > limit + _TOLD:
            self._drop()

    def _drop(self) -> None:
        self.connections.discard(self)
        self.transport.abort()

    def _look_after(self, seconds: float) -> None:
        self._look = self.loop.call_later(seconds, self._look_now)

    def _look_now(self) -> None:
        left = self.header_seconds - (self.loop.time() - self._since)
        if left > 0:
            self._look_after(left)
        elif self.is_idle:
            self._drop()
        else:
            self._look_after(self.header_seconds)

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._stop_looking()  # another protocol takes over
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_looking()
        super().connection_lost(exc)

    def _stop_looking(self) -> None:
        if self._look is not None:
            self._look.cancel()
