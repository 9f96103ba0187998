"""A tenant with many messages that wait for their turn waits a moment itself; nobody else does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from docproc.engine.running import crowding
from docproc.engine.running.crowding import Crowding
from docproc.engine.store import turns


class World:
    """What the database and the broker would say."""

    def __init__(self) -> None:
        self.waiting = {"noisy": crowding.MOST_WAITING, "quiet": 3}
        self.is_full = True
        self.looks = 0

    def is_crowded(self, queue: str) -> bool:
        return self.is_full

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        yield None

    async def count(self, _session: Any, _queue: str, tenant_id: str, _most: int) -> int:
        self.looks += 1
        return self.waiting[tenant_id]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    found = World()
    monkeypatch.setattr(turns, "waiting", found.count)
    return found


async def _wait(world: World, tenant_id: str, number: int = 1) -> float:
    crowd = Crowding(cast(Any, world), cast(Any, world))
    began = time.monotonic()
    await asyncio.gather(*(crowd.wait("q", tenant_id) for _ in range(number)))
    return time.monotonic() - began


async def test_flooding_tenant_waits_but_not_for_ever(world: World) -> None:
    assert await _wait(world, "noisy") >= crowding.LONGEST_SECONDS


async def test_other_tenants_do_not_wait(world: World) -> None:
    await _wait(world, "quiet")
    assert world.looks == 1


async def test_nobody_waits_and_nothing_is_asked_while_there_is_room(world: World) -> None:
    world.is_full = False
    await _wait(world, "noisy")
    assert world.looks == 0


async def test_all_who_wait_share_their_looks_and_go_on_when_the_crowd_is_gone(world: World) -> None:
    waiting = asyncio.create_task(_wait(world, "noisy", 50))
    await asyncio.sleep(crowding.LOOK_SECONDS * 2)
    assert 1 <= world.looks <= 10
    world.waiting["noisy"] = 0
    assert await waiting < crowding.LONGEST_SECONDS
