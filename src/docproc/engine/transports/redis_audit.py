"""Finds copies that Redis has lost while their rows say that it has them: removed by hand, expired, trimmed,
evicted, or not yet on its disk when it was killed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from uuid import UUID

import structlog

from docproc.engine.store import lost_copies
from docproc.engine.store.session import Store
from docproc.engine.transports import redis_scripts as scripts

log = structlog.get_logger(__name__)

# Between two looks; more where looking takes long, so that it costs a twentieth of the time at most.
LOOK_SECONDS = 1.0
LEAST_RATIO = 20
# A row is written before its copy: younger ones may just be on their way.
GRACE_SECONDS = 1.0
CHUNK = 1000

# Runs a script with arguments.
Run = Callable[..., Awaitable[Any]]


class Audit:
    """Compares rows with entries: first how many, and only where entries are missing, which."""

    def __init__(self, store: Store, run: Run) -> None:
        self.store = store
        self.run = run
        self._next = 0.0

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self._next

    async def look(self) -> list[UUID]:
        """Rows without a copy are ready again, for a relay to publish; returns which."""
        began = time.monotonic()
        async with self.store.claiming_once() as connection:
            # Before the entries: what is handled in between is missing in both, or counted too much.
            sent = await lost_copies.count_sent(connection, self.store, GRACE_SECONDS)
        lost: list[UUID] = []
        if sent:
            lost = await self._compare(sent)
        self._next = time.monotonic() + max(LOOK_SECONDS, LEAST_RATIO * (time.monotonic() - began))
        return lost

    async def _compare(self, sent: dict[str, int]) -> list[UUID]:
        entries: Counter[str] = Counter()
        streams: dict[str, list[str]] = {}
        for queue, stream, length in await self.run(scripts.COUNT):
            entries[queue.decode()] += length
            streams.setdefault(queue.decode(), []).append(stream.decode())
        lost: list[UUID] = []
        for queue, number in sent.items():
            if number > entries[queue]:
                lost += await self._release_missing(queue, streams.get(queue, ()))
        return lost

    async def _release_missing(self, queue: str, streams: Iterable[str]) -> list[UUID]:
        async with self.store.claiming_once() as connection:
            rows = await lost_copies.sent_ids(connection, self.store, queue, GRACE_SECONDS)
        # After the rows: whatever is published meanwhile is found.
        for stream in streams:
            rows -= await self._ids_in(stream)
        if not rows:
            return []
        async with self.store.claiming_once() as connection:
            found = await lost_copies.release(connection, self.store, list(rows), GRACE_SECONDS)
        if found:
            log.warning("copies_lost", queue=queue, messages=len(found))
        return found

    async def _ids_in(self, stream: str) -> set[UUID]:
        ids: set[UUID] = set()
        begin: bytes | str = "-"
        while True:
            last, *found = await self.run(scripts.IDS, stream, begin, CHUNK)
            ids.update(UUID(one.decode()) for one in found)
            if not last or len(found) < CHUNK:
                return ids
            begin = b"(" + last
