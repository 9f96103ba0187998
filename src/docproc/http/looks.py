"""Looks at what is new: for one follower its events, for all of them where their requests stand."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, tuple_
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import events
from docproc.engine.store.events import Position
from docproc.engine.store.tables import Request, RequestStatus
from docproc.errors import UnknownRequestError

TICK_SECONDS = 0.2
TROUBLE_SECONDS = 1.0
# Shorter than the silence after which proxies cut a connection off.
HEARTBEAT_SECONDS = 15.0
# What a client that reads slowly can have waiting here, at most.
BATCH = 200


def is_over(status: str, completed_at: datetime | None) -> bool:
    """Nothing more is done for it; a breached request goes on until it is complete."""
    if status == RequestStatus.SLA_BREACHED:
        return completed_at is not None
    return status in (RequestStatus.COMPLETED, RequestStatus.FAILED)


@dataclass(frozen=True, slots=True)
class State:
    """As much of a request as tells that something happened to it."""

    is_over: bool
    answer_version: int
    # The highest of each, not of one row: whatever becomes visible behind a reader's end raises one of them.
    transaction_id: int | None
    event_id: int | None


GONE = State(is_over=True, answer_version=0, transaction_id=None, event_id=None)


@dataclass(frozen=True, slots=True)
class Look:
    """What a follower finds at once: some events, and whether there are others."""

    events: Sequence[Row[Any]]
    position: Position
    is_over: bool = False
    # There are visible events beyond: too many for one look, or not yet in their final order.
    has_more: bool = False
    has_failed: bool = False

    @property
    def is_end(self) -> bool:
        return self.is_over and not self.has_more

    @property
    def patience(self) -> float:
        """How long to wait for news before the next look."""
        if self.has_failed:
            return TROUBLE_SECONDS
        if len(self.events) == BATCH:
            return 0.0
        return TICK_SECONDS if self.has_more else HEARTBEAT_SECONDS


async def states(session: AsyncSession, request_ids: Collection[UUID]) -> dict[UUID, State]:
    """One query for all: where each request stands, and the highest marks of its events."""
    query = select(
        Request.id, Request.status, Request.completed_at, Request.answer_version,
        _highest(events.TABLE.c.transaction_id), _highest(events.TABLE.c.id),
    ).where(Request.id.in_(request_ids))  # fmt: skip
    found = list(await session.execute(query))
    known = {row[0]: State(is_over(row[1], row[2]), row[3], row[4], row[5]) for row in found}
    return {request_id: known.get(request_id, GONE) for request_id in request_ids}


def _highest(column: Any) -> Any:
    return select(func.max(column)).where(events.TABLE.c.request_id == Request.id).scalar_subquery()


async def look(session: AsyncSession, request_id: UUID, after: Position) -> Look:
    """What there is for a reader that stopped at a position. Raises UnknownRequestError."""
    # First whether it is over: what ended it wrote its events in the same transaction, so they are seen then.
    query = select(Request.status, Request.completed_at).where(Request.id == request_id)
    request = (await session.execute(query)).one_or_none()
    if request is None:
        raise UnknownRequestError(f"there is no request {request_id}", remedy="Check the id")
    found = await events.read(session, request_id, after, BATCH)
    position = Position(found[-1].transaction_id, found[-1].id) if found else after
    has_more = len(found) == BATCH or await _is_anything_beyond(session, request_id, position)
    return Look(found, position, is_over(*request), has_more)


async def _is_anything_beyond(session: AsyncSession, request_id: UUID, position: Position) -> bool:
    """Also what `events.read` holds back until no transaction can write in front of it."""
    table = events.TABLE.c
    place = tuple_(table.transaction_id, table.id)
    query = select(table.id).where(
        table.request_id == request_id, place > tuple_(position.transaction_id, position.id)
    )
    return await session.scalar(query.limit(1)) is not None
