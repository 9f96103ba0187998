"""What happened since the look before: each event is counted once, however often the watcher looks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import utc_now
from docproc.engine.store import rows

if TYPE_CHECKING:
    from docproc.app import App

LAST_EVENT = "SELECT coalesce(max(id), 0) AS id FROM events"


@dataclass(frozen=True, slots=True)
class Mark:
    """How far the events went at one moment."""

    event_id: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Span:
    """From one look (not included) to another."""

    begins: Mark
    ends: Mark

    @property
    def values(self) -> dict[str, object]:
        """As the statements that count call them."""
        return {
            "first": self.begins.event_id,
            "last": self.ends.event_id,
            "begins": self.begins.at,
            "ends": self.ends.at,
        }


class News:
    """Where the watcher of this process stands. What happened is counted one look later: PostgreSQL gives ids
    before the commit, and until then everything with a lower id has come in.

    A watcher that takes over begins with its first look: what happened around the change is not counted
    twice, and up to two looks of it are not counted at all.
    """

    def __init__(self, app: App) -> None:
        self._marks: list[Mark] = []

    async def span(self, session: AsyncSession) -> Span | None:
        """What is to be counted now; None while the watcher has only begun to look."""
        [row] = await rows.execute(session, LAST_EVENT)
        self._marks = [*self._marks[-2:], Mark(row.id, utc_now())]
        if len(self._marks) < 3:
            return None
        return Span(self._marks[0], self._marks[1])
