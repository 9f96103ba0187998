"""Envelopes that nobody waits for are taken back: a service that comes later never begins with them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from docproc.apps.orchestrator.services.port import ServicePort, Taken
from docproc.apps.orchestrator.services.ports import port_of
from docproc.apps.orchestrator.services.wires import sql
from tests.harness import Harness
from tests.orchestration import Orchestrator, orchestrator

BOTH = pytest.mark.parametrize("combination", ["sqlite+sql", "postgresql+redis"])
ONE = pytest.mark.parametrize("combination", ["sqlite+sql"])
QUEUE = "agent:execution"
AGENT = {"domain": "agent", "action": "execute"}


@pytest.fixture(autouse=True)
def _no_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPROC_ORCHESTRATOR_SAMPLES", "none")
    monkeypatch.setenv("DOCPROC_ALERTS", "off")


@asynccontextmanager
async def opened(engine: Harness, name: str) -> AsyncIterator[ServicePort]:
    async with port_of(engine.settings, name) as port:
        await port.open()
        try:
            yield port
        finally:
            await port.close()


async def _until_sent(running: Orchestrator, task_id: str) -> None:
    async def is_sent() -> bool:
        rows = await running.harness.query("SELECT request_id FROM orchestrator_calls")
        return task_id in {str(row.request_id) for row in rows}

    await running.harness.until(is_sent, "the call is open")


@BOTH
async def test_cancelled_and_late_calls_are_taken_back_from_their_queue(engine: Harness) -> None:
    async with orchestrator(engine) as running, opened(engine, "late") as port:
        # Two attempts: the second one's envelope is still there when the first one's is taken back.
        late = await running.submit(type=AGENT, priority=9, metadata={"timeout_ms": 300})
        cancelled = await running.submit(type=AGENT)
        await _until_sent(running, cancelled["task_id"])
        await running.http.post(f"/api/v1/tasks/{cancelled['task_id']}/cancel")
        task = await running.ended(late["task_id"])
        assert task["steps"][0]["attempt"] == 2 and "no answer in time" in str(task["error"])
        kept = await running.submit(type=AGENT)
        await _until_sent(running, kept["task_id"])

        async def depth() -> int:
            return int(await port._redis.xlen(QUEUE)) if hasattr(port, "_redis") else 1

        async def is_alone() -> bool:
            return await depth() == 1

        # Not only fenced or expired: it is gone from the queue.
        await engine.until(is_alone, "the others are taken back")
        taken = await port.take([QUEUE], 10, 5)
        assert [kept["task_id"] in one.body.decode() for one in taken] == [True]
        await port.give_back(taken)


@ONE
async def test_call_that_waits_for_long_is_given_to_a_busy_service(
    engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue of a service that is always full of urgent calls."""
    monkeypatch.setattr(sql, "AGED_SECONDS", 0.0)
    async with orchestrator(engine) as running, opened(engine, "busy") as port:
        waiting = await running.submit(type=AGENT, priority=9)
        await _until_sent(running, waiting["task_id"])
        urgent = [await running.submit(type=AGENT, priority=0) for _ in range(20)]
        await _until_sent(running, urgent[-1]["task_id"])
        taken: list[Taken] = []
        for _ in range(20):
            taken += await port.take([QUEUE], 1, 5)
        places = [place for place, one in enumerate(taken) if waiting["task_id"] in one.body.decode()]
        assert places == [16]
