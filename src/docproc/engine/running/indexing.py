"""The indexer: describes requests whose answer is newer than what the inbox knows. One in the deployment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.engine.store import duties, search
from docproc.engine.store.search import Describe
from docproc.engine.store.session import Store
from docproc.errors import DocProcError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

DUTY = "search"
TERM_SECONDS = 5.0
LOOK_SECONDS = 0.5
# One transaction's; SQLite has one writer, which must not be held for long.
BATCH = 40
_PASSING = (SQLAlchemyError, OSError, DocProcError)


class Indexer:
    """Every API process has one; the duty `search` decides which of them works."""

    def __init__(self, store: Store, describers: Sequence[Describe], worker_id: str) -> None:
        self.store = store
        self.describers = describers
        self.worker_id = worker_id
        self._renew_at = float("-inf")

    async def run(self) -> None:
        """Until cancelled."""
        try:
            while True:
                done = 0
                try:
                    if await self._is_on_duty():
                        done = await self.index()
                except _PASSING as error:
                    log.warning("search_waits", error=text_for_logs(error))
                if done < BATCH:  # else there is more to do, such as all of an upgraded database
                    await asyncio.sleep(LOOK_SECONDS)
        finally:
            with suppress(*_PASSING):  # else the duty ends by its age
                async with self.store.claiming() as connection:
                    await duties.give_up(connection, DUTY, self.worker_id)

    async def index(self) -> int:
        """Describe some of those that wait; returns how many."""
        async with self.store.reading() as session:
            found = await search.stale(session, BATCH)
            if not found:
                return 0
            entries = await search.describe(session, found, self.describers)
        async with self.store.writing() as session:
            return await search.put(session, found, entries)

    async def _is_on_duty(self) -> bool:
        if time.monotonic() < self._renew_at:
            return True
        began = time.monotonic()
        async with self.store.claiming() as connection:
            held = await duties.hold(connection, self.store, DUTY, self.worker_id, TERM_SECONDS)
        self._renew_at = began + TERM_SECONDS / 2 if held else float("-inf")
        return held
