"""The monitor's list: requests with a checkpoint or a deadline to be dealt with, and when the next one is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store.tables import Request


async def next_check(session: AsyncSession) -> datetime | None:
    """The earliest moment anything is to be done; one look at an index, however many requests are open."""
    earliest: datetime | None = await session.scalar(
        select(func.min(Request.next_check_at)).where(Request.next_check_at.is_not(None))
    )
    return earliest


async def due(session: AsyncSession, now: datetime, limit: int) -> list[Request]:
    """Requests whose moment has come, those with the nearest deadline first; nothing is locked."""
    query = (
        select(Request)
        .where(Request.next_check_at.is_not(None), Request.next_check_at <= now)
        .order_by(Request.deadline_utc)
        .limit(limit)
    )
    return list(await session.scalars(query))


async def lock_due(session: AsyncSession, ids: Sequence[UUID], now: datetime) -> list[Request]:
    """The same rows to act upon, but for those that another monitor has, or had, in hand.

    Skipping what is locked and looking at the moment again is what makes each action happen once.
    """
    query = (
        select(Request)
        .where(Request.id.in_(ids), Request.next_check_at.is_not(None), Request.next_check_at <= now)
        .order_by(Request.id)
        .with_for_update(skip_locked=True)
    )
    return list(await session.scalars(query.execution_options(populate_existing=True)))


async def escalate_near(session: AsyncSession, share: float, now: datetime) -> int:
    """Have the monitor escalate now what has less than this share of its time left, and was not escalated
    before; returns how many requests that are."""
    query = select(Request).where(
        Request.completed_at.is_(None),
        Request.escalated_at.is_(None),
        Request.next_check_at.is_not(None),
        Request.deadline_utc > now,
    )
    near = [
        one
        for one in await session.scalars(query.with_for_update(skip_locked=True))
        if one.deadline_utc
        and one.sla_seconds
        and (one.deadline_utc - now).total_seconds() < share * one.sla_seconds
    ]
    for one in near:
        one.escalate_at = one.next_check_at = now
    return len(near)
