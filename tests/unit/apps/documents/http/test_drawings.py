"""Everybody who asks for pictures gets a turn, whatever others ask for."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from docproc.app import App
from docproc.apps.documents.http import drawings
from docproc.apps.documents.http.drawings import (
    PLACES,
    WAITING_OF_CLIENT,
    Asked,
    Drawing,
    Drawings,
    next_turn,
)
from docproc.http.problems import Problem
from docproc.settings import Settings

HOSTILE, HONEST, THIRD = "address 10.0.0.1", "address 10.0.0.2", "address 10.0.0.3"


def asked(client: str, *, request_id: UUID | None = None, page: int = 0, width: int = 1000) -> Asked:
    return Asked(client, request_id or uuid4(), page, f"{page}-{width}.png", width)


def wanted(client: str, request_id: UUID | None = None) -> Drawing:
    return Drawing(asked(client, request_id=request_id), {client})


def slow(gate: Path) -> bytes:
    while not gate.exists():
        time.sleep(0.01)
    return b"slow"


def quick() -> bytes:
    return b"quick"


@pytest.fixture
async def application(tmp_path: Path) -> AsyncIterator[App]:
    app = App(Settings.load(home=tmp_path / "home"))
    yield app
    await app.close()


def test_client_who_had_a_turn_longest_ago_is_next() -> None:
    crowd = [wanted(HOSTILE) for _ in range(50)]
    late = wanted(HONEST)
    assert next_turn([*crowd, late], [], {HOSTILE: 7}) is late
    assert next_turn([*crowd, late], [], {HOSTILE: 7, HONEST: 8}) is crowd[0]


def test_no_client_has_all_places_and_no_request_two() -> None:
    crowd = [wanted(HOSTILE) for _ in range(3)]
    assert next_turn(crowd[2:], crowd[:2], {}) is None
    assert next_turn([wanted(HONEST)], crowd[:2], {}) is not None
    one = uuid4()
    assert next_turn([wanted(HONEST, one)], [wanted(HONEST, one)], {}) is None
    assert next_turn([wanted(HONEST)], [wanted(THIRD) for _ in range(PLACES)], {}) is None


def test_picture_that_two_want_comes_in_the_turn_of_the_better_off() -> None:
    shared = wanted(HOSTILE)
    shared.clients.add(HONEST)
    first = wanted(HOSTILE)
    assert next_turn([first, shared], [], {HOSTILE: 3}) is shared
    assert next_turn([first, shared], [wanted(HOSTILE), wanted(HOSTILE)], {}) is shared


async def test_honest_picture_is_drawn_while_a_hostile_crowd_waits(application: App, tmp_path: Path) -> None:
    drawn, gate = application.shared(Drawings), tmp_path / "gate"
    crowd = [asyncio.create_task(drawn.draw(asked(HOSTILE), partial(slow, gate))) for _ in range(20)]
    await asyncio.sleep(0)  # all of them have asked
    async with asyncio.timeout(20):
        for page in range(3):
            assert await drawn.draw(asked(HONEST, page=page), quick) == b"quick"
    assert not any(task.done() for task in crowd)
    gate.touch()
    assert set(await asyncio.gather(*crowd)) == {b"slow"}


async def test_one_picture_is_drawn_once_for_all_who_want_it(application: App, tmp_path: Path) -> None:
    drawn, one = application.shared(Drawings), uuid4()
    found = await asyncio.gather(
        *(drawn.draw(asked(client, request_id=one), _pid) for client in (HOSTILE, HONEST, THIRD))
    )
    assert len(set(found)) == 1


def _pid() -> bytes:
    return f"{os.getpid()} {time.monotonic_ns()}".encode()


async def test_page_that_took_too_long_is_not_begun_again(
    application: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, page = application.shared(Drawings), uuid4()
    never = partial(slow, tmp_path / "never")
    await drawn.draw(asked(HONEST), quick)  # a child is there
    with monkeypatch.context() as patch:
        patch.setattr(drawings, "DRAWING_SECONDS", 0.1)
        with pytest.raises(Problem, match="takes too long"):
            await drawn.draw(asked(HOSTILE, request_id=page), never)
    for width in (1000, 2000):
        with pytest.raises(Problem, match="takes too long"):
            await drawn.draw(asked(HONEST, request_id=page, width=width), never)
    assert await drawn.draw(asked(HONEST, request_id=page, width=150), quick) == b"quick"
    assert await drawn.draw(asked(HONEST, request_id=page, page=1), quick) == b"quick"


async def test_crowd_of_one_client_is_refused_and_others_are_not(application: App, tmp_path: Path) -> None:
    drawn, gate = application.shared(Drawings), tmp_path / "gate"
    many = WAITING_OF_CLIENT + 2  # two are drawn
    crowd = [asyncio.create_task(drawn.draw(asked(HOSTILE), partial(slow, gate))) for _ in range(many)]
    await asyncio.sleep(0.01)
    with pytest.raises(Problem) as refused:
        await drawn.draw(asked(HOSTILE), quick)
    assert (refused.value.status_code, refused.value.headers) == (503, {"Retry-After": "5"})
    assert await drawn.draw(asked(HONEST), quick) == b"quick"
    for task in crowd:
        task.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)


async def test_turn_that_does_not_come_in_time_is_told(
    application: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, gate = application.shared(Drawings), tmp_path / "gate"
    crowd = [asyncio.create_task(drawn.draw(asked(HOSTILE), partial(slow, gate))) for _ in range(2)]
    await asyncio.sleep(0)
    monkeypatch.setattr(drawings, "WAITING_SECONDS", 0.05)
    with pytest.raises(Problem, match="more pictures are asked for"):
        await drawn.draw(asked(HOSTILE), quick)
    gate.touch()
    assert set(await asyncio.gather(*crowd)) == {b"slow"}
    assert await drawn.draw(asked(HOSTILE), quick) == b"quick"
