"""In which order tasks are served, seen from outside: by the envelopes that a service receives (B4)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.harness import Harness
from tests.orchestration import COMPONENTS, Orchestrator, orchestrator
from tests.scripted_services import Scripted, serving

BOTH = pytest.mark.parametrize("combination", ["sqlite+sql", "postgresql+redis"])
QUEUE = "agent:execution"
AGENT = {"domain": "agent", "action": "execute"}


@pytest.fixture(autouse=True)
def _configured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the settings are read."""
    monkeypatch.setenv("DOCPROC_ORCHESTRATOR_SAMPLES", "none")
    monkeypatch.setenv("DOCPROC_ALERTS", "off")


async def _submit(running: Orchestrator, priority: int, numbers: range) -> None:
    """One after the other: what is sent side by side has no order."""
    for number in numbers:
        await running.submit(type=AGENT, priority=priority, payload={"n": number})


async def _served(engine: Harness, services: Scripted, count: int) -> list[tuple[int, int]]:
    """Priority and number of each task, as they came to the service."""
    running = await engine.start(*COMPONENTS)
    await engine.until(lambda: services.count() >= count, "all tasks reach the service")
    await engine.stop(running)
    return [(envelope.priority, envelope.payload.get("n", 0)) for _, envelope in services.received]


@BOTH
async def test_urgent_tasks_are_served_first_and_equals_in_the_order_they_came(engine: Harness) -> None:
    async with serving(engine.settings, QUEUE) as services, orchestrator(engine, workers=0) as running:
        for priority in (8, 5, 0):  # the least urgent come first
            await _submit(running, priority, range(10))
        served = await _served(engine, services, 30)
    assert served == [(priority, number) for priority in (0, 5, 8) for number in range(10)]


@pytest.fixture
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPROC_AGING_SECONDS", "0.5")


@BOTH
async def test_task_that_waits_for_long_is_served_though_urgent_ones_never_end(
    short_patience: None, engine: Harness
) -> None:
    """One of sixteen turns is for what waits longest, however urgent the rest is."""
    async with serving(engine.settings, QUEUE) as services, orchestrator(engine, workers=0) as running:
        waiting = await running.submit(type=AGENT, priority=9)
        await asyncio.sleep(0.6)  # longer than the setting allows
        urgent = [await running.submit(type=AGENT, priority=0) for _ in range(80)]
        await _served(engine, services, 81)
        began = await _began(running, [waiting, *urgent])
    place = began.index(waiting["task_id"])
    assert place < 60, f"it began {place}th of 81"
    began.remove(waiting["task_id"])
    assert began == [one["task_id"] for one in urgent]


async def _began(running: Orchestrator, accepted: list[dict[str, Any]]) -> list[str]:
    """Tasks in the order in which their first call went out."""
    tasks = [await running.task(one["task_id"]) for one in accepted]
    return [one["task_id"] for one in sorted(tasks, key=lambda one: one["steps"][0]["started_at"])]
