"""The engine's promises again, with joins whose units are counted by their senders, chained and not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from docproc.settings import Settings
from tests.components import Gather
from tests.contracts import test_engine
from tests.contracts.test_engine import *  # noqa: F403 # every test of that module runs here, too
from tests.harness import Harness, settings_for

del test_each_handled_message_leaves_one_event  # noqa: F821 # below: no message of a unit reaches the join


@pytest.fixture(autouse=True)
def _counted_by_senders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gather, "only_counts", True)


@pytest.fixture(params=["sqlite+sql", "postgresql+rabbitmq", "postgresql+sql unchained"])
def combination(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def settings(combination: str, tmp_path: Path, request: pytest.FixtureRequest) -> Settings:
    values: dict[str, Any] = {"chaining": "unchained" not in combination}
    if combination.startswith("postgresql"):
        values["database_url"] = request.getfixturevalue("postgres_url")
    if combination.endswith("rabbitmq"):
        values["rabbitmq_url"] = request.getfixturevalue("declared_url")
    return settings_for(tmp_path, **values)


async def test_each_handled_message_leaves_one_event_and_a_join_one_in_all(engine: Harness) -> None:
    engine.workflow("fan", test_engine.FAN)
    await engine.start()
    request = await engine.run("fan", n=5)
    handled = await engine.events(request.id, "handled")
    assert sorted(event.stage for event in handled) == sorted(
        ["split"] + 5 * ["first"] + 5 * ["second"] + ["gather"]
    )
    assert {event.outcome for event in handled} == {"done"}
    assert len({event.message_id for event in handled}) == len(handled)
