"""Endings: whoever holds a delivery is told when its request may have ended, and need not look often."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar
from uuid import UUID

from docproc.engine.running.work import Handle, Middleware, Outcome, Work


class News(asyncio.Event):
    """Set whenever something that may end the waiting was committed here."""

    # What was committed is the last stage: both stores are written, and nobody need look.
    is_stored = False


class Endings:
    """The requests that somebody in this process waits for."""

    def __init__(self) -> None:
        self._waiting: dict[UUID, set[News]] = {}

    @contextmanager
    def watched(self, request_id: UUID) -> Iterator[News]:
        news = News()
        self._waiting.setdefault(request_id, set()).add(news)
        try:
            yield news
        finally:
            waiting = self._waiting[request_id]
            waiting.discard(news)
            if not waiting:
                del self._waiting[request_id]

    def tell(self, request_id: UUID, *, is_stored: bool = False) -> None:
        for news in self._waiting.get(request_id, ()):
            news.is_stored = news.is_stored or is_stored
            news.set()

    def tell_all(self) -> None:
        for request_id in self._waiting:
            self.tell(request_id)


def telling(endings: Endings, last_component: str) -> type[Middleware]:
    """Middleware that tells of messages after which nothing more may follow: those of the last stage, and
    those that failed. It stands outermost, so what it tells of is committed."""

    class Telling(Middleware):
        place: ClassVar[int] = 50

        async def __call__(self, works: Sequence[Work], handle: Handle) -> None:
            await handle(works)
            for work in works:
                is_done = work.outcome is Outcome.DONE
                if work.component == last_component or not is_done:
                    endings.tell(work.message.request_id, is_stored=is_done)

    return Telling
