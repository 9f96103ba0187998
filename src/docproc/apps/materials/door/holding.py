"""How long a delivery is held: until its material is stored, has failed, or waits where a crash cannot lose
it."""

from __future__ import annotations

import asyncio
import contextlib
from enum import StrEnum
from uuid import UUID

from sqlalchemy import exists, select

from docproc.apps.materials.door.endings import Endings
from docproc.engine.store.session import Store, until_passed
from docproc.engine.store.tables import Message, MessageState, Request, RequestStatus

# What another process handles is not told of here, so it is looked for now and then.
_LOOK_SECONDS = 0.5


class Standing(StrEnum):
    """What became of a request, as far as its delivery is concerned."""

    STORED = "stored"  # both stores are written
    FAILED = "failed"  # for good
    WAITING = "waiting"  # for a retry or a person: its row carries it on
    UNDER_WAY = "under_way"


async def until_safe(
    store: Store, request_id: UUID, stopping: asyncio.Event, endings: Endings, *, is_new: bool
) -> Standing:
    """Until the delivery may be settled; `under_way` only where the process is to stop before."""
    with endings.watched(request_id) as news:
        if is_new:
            await _wait(news)
        while not news.is_stored:
            news.clear()  # before looking: what comes while looking is news again
            standing = await until_passed(lambda: look(store, request_id))
            if standing is not Standing.UNDER_WAY or stopping.is_set():
                return standing
            await _wait(news)
    return Standing.STORED


async def _wait(news: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(news.wait(), _LOOK_SECONDS)


async def look(store: Store, request_id: UUID) -> Standing:
    """How it stands now."""
    waits = exists().where(Message.request_id == request_id, Message.state == MessageState.DELAYED)
    works = exists().where(Message.request_id == request_id)
    query = select(Request.status, Request.completed_at, Request.error, waits, works)
    async with store.reading() as session:
        row = (await session.execute(query.where(Request.id == request_id))).one_or_none()
    if row is None:  # erased meanwhile: nobody wants it any more
        return Standing.STORED
    status, completed_at, _, is_delayed, has_messages = row
    if status == RequestStatus.FAILED:
        return Standing.FAILED
    if completed_at is not None:
        return Standing.STORED
    if is_delayed:
        return Standing.WAITING
    # Without a message nothing goes on by itself: a person is asked.
    return Standing.UNDER_WAY if has_messages else Standing.WAITING
