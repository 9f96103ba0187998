"""Followers: told once of what is new, counted, and let go of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from docproc.app import App
from docproc.http.following import Follower, Hub, until_gone
from docproc.http.looks import State
from docproc.http.problems import Problem
from tests.harness import settings_for

STATE = State(is_over=False, answer_version=1, transaction_id=0, event_id=7)
LONG = 60.0


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    application = App(settings_for(tmp_path, max_streams=2))
    await application.prepare_database()
    hub = Hub(application)
    yield hub
    await hub.close()
    await application.close()


async def test_follower_is_woken_by_what_is_new_and_by_nothing_else() -> None:
    follower = Follower(uuid4())
    follower.tell(STATE)
    await asyncio.wait_for(follower.news(LONG), LONG / 2)
    follower.tell(STATE)
    woken = asyncio.create_task(follower.news(LONG))
    await asyncio.sleep(0)
    assert not woken.done()
    follower.leave()
    await asyncio.wait_for(woken, LONG / 2)
    assert follower.has_left


async def test_follower_leaves_when_its_client_does() -> None:
    follower, gone = Follower(uuid4()), asyncio.Event()

    async def hung_up() -> None:
        await gone.wait()

    async with follower.until(hung_up):
        assert not follower.has_left
        gone.set()
        await follower.news(LONG)
        assert follower.has_left


async def test_client_is_gone_when_it_disconnects() -> None:
    messages = iter(["http.request", "http.request", "http.disconnect"])

    async def receive() -> dict[str, str]:
        return {"type": next(messages)}

    await until_gone(receive)
    assert next(messages, None) is None


async def test_hub_counts_its_followers(hub: Hub) -> None:
    with hub.following(uuid4()), hub.following(uuid4()):
        assert hub.count == 2
        with pytest.raises(Problem) as refusal, hub.following(uuid4()):
            pass
        assert (refusal.value.status_code, refusal.value.code) == (503, "too_many_streams")
    assert hub.count == 0


async def test_hub_tells_all_followers_of_a_request_that_is_not_there(hub: Hub) -> None:
    with hub.following(uuid4()) as one, hub.following(uuid4()) as other:
        await asyncio.wait_for(asyncio.gather(one.news(LONG), other.news(LONG)), LONG / 2)
        assert one.state is not None and one.state.is_over
        assert one.state == other.state


async def test_hub_that_stops_lets_everybody_go_and_nobody_in(hub: Hub) -> None:
    with hub.following(uuid4()) as follower:
        hub.stop()
        assert follower.has_left
    with pytest.raises(Problem, match="stopping"), hub.following(uuid4()):
        pass


async def test_hub_asks_nothing_when_nobody_follows(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docproc.http.looks.TICK_SECONDS", 0.01)
    with hub.following(uuid4()) as follower:
        await follower.news(LONG)
    assert hub._ticking is not None
    await asyncio.wait_for(hub._ticking, LONG / 2)
