"""Answers: every version is stored once, tells of itself in the timeline, and is queued for delivery."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import utc_now
from docproc.engine.store import deliveries, events, rows
from docproc.engine.store.tables import Answer, Request

TABLE: Any = Answer.__table__

# Not an answer yet: what would be said if the deadline were now.
DRAFT_VERSION = 0


class Reason(StrEnum):
    """What made an answer."""

    COMPLETE = "complete"
    FAILED = "failed"
    DEADLINE = "deadline"
    EARLY = "early"
    DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class Given:
    """An answer to a request whose row is locked in this session."""

    request: Request
    payload: Any
    is_partial: bool
    reason: Reason


@dataclass(frozen=True, slots=True)
class Version:
    """An answer to a request whose row says already that this version was given."""

    request_id: UUID
    tenant_id: str
    version: int
    status: str
    payload: Any
    is_partial: bool
    reason: Reason = Reason.COMPLETE


async def keep(session: AsyncSession, versions: Sequence[Version]) -> None:
    """Store versions and tell of them; for requests whose answers nobody has to be sent."""
    await rows.insert(session, TABLE, [_kept(one) for one in versions])
    await events.record(session, [_told(one) for one in versions])


async def give(session: AsyncSession, given: Sequence[Given]) -> None:
    """The next version of each request's answer, in the caller's transaction; delivery is another's work.

    The requests' rows must be locked and changed as far as the caller changes them: the delivery tells of
    their status.
    """
    for one in given:
        one.request.answer_version += 1
        if one.payload is not None:
            one.request.result_payload = one.payload
        one.request.updated_at = utc_now()
    await session.flush()
    await keep(session, [_version(one, one.request.answer_version) for one in given])
    await deliveries.queue(session, [(one.request, one.is_partial) for one in given])


def _version(given: Given, version: int) -> Version:
    request = given.request
    return Version(
        request.id,
        request.tenant_id,
        version,
        str(request.status),
        given.payload,
        given.is_partial,
        given.reason,
    )


def _kept(one: Version) -> dict[str, Any]:
    return {
        "request_id": one.request_id,
        "tenant_id": one.tenant_id,
        "version": one.version,
        "is_partial": one.is_partial,
        "reason": one.reason.value,
        "payload": one.payload,
    }


def _told(one: Version) -> events.Event:
    data = {"version": one.version, "partial": one.is_partial, "reason": one.reason.value}
    return events.Event(one.request_id, "answer", tenant_id=one.tenant_id, outcome=str(one.status), data=data)


async def keep_drafts(session: AsyncSession, drafts: Sequence[Given]) -> None:
    """What would be answered now, kept in case that nothing better can be made at the deadline."""
    ids = [one.request.id for one in drafts]
    if ids:
        await session.execute(
            delete(Answer).where(Answer.request_id.in_(ids), Answer.version == DRAFT_VERSION)
        )
    await rows.insert(session, TABLE, [_kept(_version(one, DRAFT_VERSION)) for one in drafts])


async def draft(session: AsyncSession, request_id: UUID) -> Any | None:
    query = select(Answer.payload).where(Answer.request_id == request_id, Answer.version == DRAFT_VERSION)
    return await session.scalar(query)


async def of_request(session: AsyncSession, request_id: UUID) -> list[Answer]:
    """All versions that were given, oldest first."""
    query = select(Answer).where(Answer.request_id == request_id, Answer.version > DRAFT_VERSION)
    return list(await session.scalars(query.order_by(Answer.version)))
