"""Notices of tasks: the back office takes them; one that nobody takes ends by its age, as no dead letter."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from docproc.cli.request import _waits_for_people
from docproc.engine.store import tasks
from docproc.engine.store.task_tables import BackofficeTask
from docproc.people.notices import Notices
from docproc.settings import Settings
from tests.harness import Harness, opened

FLOW = """
    stages:
      - {name: cut, component: split}
      - {name: ask, component: ask, backoffice_queue: task.extraction}
      - {name: all, component: gather}
"""
NOTICES = f"SELECT count(*) FROM messages WHERE queue LIKE '{tasks.NOTICES}'"
TTL_SECONDS = 1.0


async def _count(engine: Harness, statement: str) -> int:
    ((number,),) = await engine.query(statement)
    return int(number)


async def _asked(engine: Harness) -> UUID:
    engine.workflow("doubt", FLOW)
    await engine.start("split", "ask", "gather")
    request_id = await engine.submit("doubt", n=3, doubtful=[1, 2])

    async def told() -> bool:
        return await _count(engine, NOTICES) == 2

    await engine.until(told, "two notices wait")
    return request_id


async def _gone(engine: Harness) -> None:
    async def none() -> bool:
        return await _count(engine, NOTICES) == 0

    await engine.until(none, "no notice is left")
    assert await _count(engine, "SELECT count(*) FROM dead_letters") == 0


@asynccontextmanager
async def _consuming(engine: Harness, woken: asyncio.Event) -> AsyncIterator[None]:
    consuming = asyncio.create_task(Notices(engine.app, woken.set).run())
    try:
        yield
    finally:
        consuming.cancel()
        await asyncio.gather(consuming, return_exceptions=True)


async def test_back_office_takes_notices_and_is_woken_by_them(engine: Harness) -> None:
    await _asked(engine)
    woken = asyncio.Event()
    async with _consuming(engine, woken):
        await _gone(engine)
        async with asyncio.timeout(10):
            await woken.wait()


@pytest.fixture
async def hasty(settings: Settings) -> AsyncIterator[Harness]:
    """An engine whose copies do not live long."""
    brief = settings.model_copy(update={"message_ttl_ms": int(TTL_SECONDS * 1000)})
    async with opened(brief) as harness:
        yield harness


async def test_notice_that_nobody_takes_expires_and_is_no_dead_letter(hasty: Harness) -> None:
    await _asked(hasty)
    await _gone(hasty)


async def test_notice_goes_with_the_question_it_tells_of(sqlite_engine: Harness) -> None:
    request_id = await _asked(sqlite_engine)
    async with sqlite_engine.app.store.writing() as session:
        await tasks.remove_notices(session, request_id, "item:1")
    ((left,),) = await sqlite_engine.query(
        f"SELECT unit_key FROM messages WHERE queue LIKE '{tasks.NOTICES}'"
    )
    assert left == "item:2"


async def test_command_that_follows_a_request_ends_when_only_people_are_left(sqlite_engine: Harness) -> None:
    """`docproc request run` would else wait for a person who is not there."""
    request_id = await _asked(sqlite_engine)
    assert not await _waits_for_people(sqlite_engine.app, request_id)  # nobody was asked yet
    async with sqlite_engine.app.store.writing() as session:
        session.add(BackofficeTask(request_id=request_id, task_type="extraction"))

    async def waits() -> bool:
        return await _waits_for_people(sqlite_engine.app, request_id)

    await sqlite_engine.until(waits, "the third unit has arrived, and only questions are left")
