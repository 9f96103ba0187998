"""Statuses: requests move forward as their messages are sent and handled."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import requests
from docproc.engine.store.standing import Standing

# Requests whose status this process remembers.
REMEMBERED = 10_000


class Statuses:
    """Remembers how far requests are, so that the thousandth page does not ask again."""

    def __init__(self) -> None:
        self._ranks: OrderedDict[UUID, int] = OrderedDict()

    async def advance(self, session: AsyncSession, standings: Mapping[Standing, set[UUID]]) -> None:
        for standing in sorted(standings, key=lambda one: one.rank):
            behind = [rid for rid in standings[standing] if self._ranks.get(rid, -1) < standing.rank]
            if behind:
                await requests.advance(session, behind, standing)
                session.info.setdefault("after_commit", []).append(
                    lambda ids=tuple(behind), rank=standing.rank: self._note(ids, rank)
                )

    def _note(self, request_ids: Sequence[UUID], rank: int) -> None:
        """After the commit: a rollback would have made it a lie."""
        for request_id in request_ids:
            self._ranks[request_id] = max(rank, self._ranks.pop(request_id, -1))
        while len(self._ranks) > REMEMBERED:
            self._ranks.popitem(last=False)
