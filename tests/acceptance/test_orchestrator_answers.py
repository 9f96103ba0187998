"""Answers over Redis: a plain result goes on at once, all else becomes a message; each counts once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from docproc.apps.orchestrator.calls import adopting
from docproc.apps.orchestrator.envelope import reading
from docproc.apps.orchestrator.envelope.models import Status
from docproc.apps.orchestrator.sdk.task import answer_to
from docproc.apps.orchestrator.services.port import ServicePort, Taken
from docproc.apps.orchestrator.services.ports import port_of
from docproc.engine.running.unqueued import Unqueued
from tests.harness import Harness
from tests.orchestration import Orchestrator, orchestrator

pytestmark = pytest.mark.parametrize("combination", ["postgresql+redis"])
QUEUE = "agent:execution"
TASK: dict[str, Any] = {"type": {"domain": "agent", "action": "execute"}, "metadata": {"timeout_ms": 120_000}}


@pytest.fixture(autouse=True)
def adopted(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What was written as messages."""
    found: list[bytes] = []
    adopt = adopting.adopt

    async def noted(session: Any, bodies: Sequence[bytes], *rest: Any, **more: Any) -> Any:
        found.extend(bodies)
        return await adopt(session, bodies, *rest, **more)

    monkeypatch.setattr(adopting, "adopt", noted)
    monkeypatch.setenv("DOCPROC_ORCHESTRATOR_SAMPLES", "none")
    monkeypatch.setenv("DOCPROC_ALERTS", "off")
    return found


@asynccontextmanager
async def serving(engine: Harness) -> AsyncIterator[tuple[Orchestrator, ServicePort]]:
    async with orchestrator(engine) as running, port_of(engine.settings, "by hand") as port:
        await port.open()
        try:
            yield running, port
        finally:
            await port.close()


async def _taken(port: ServicePort, number: int) -> list[Taken]:
    found: list[Taken] = []
    while len(found) < number:
        found += await port.take([QUEUE], 10, 5)
    return found


def _answer(taken: Taken, n: int = 1) -> bytes:
    envelope = reading.parsed(taken.body)
    return answer_to(envelope, Status.COMPLETED, {"n": n}, message_id=UUID(int=n)).encode()


async def _ledger(engine: Harness, task_id: str) -> dict[str, int]:
    rows = await engine.query(
        "SELECT kind, outcome, count(*) AS number FROM events "
        f"WHERE request_id = '{task_id}' GROUP BY kind, outcome"
    )
    return {f"{row.kind} {row.outcome}": row.number for row in rows}


# The step's message and its answer, then the result.
ONCE = {
    "status received": 1,
    "status processing": 1,
    "step started": 1,
    "step completed": 1,
    "handled done": 3,
    "status completed": 1,
    "answer completed": 1,
}


async def test_result_goes_on_without_a_message_and_counts_once(
    engine: Harness, adopted: list[bytes]
) -> None:
    async with serving(engine) as (running, port):
        task = await running.submit(**TASK)
        (taken,) = await _taken(port, 1)
        answer = _answer(taken)
        await port.say([answer] * 2)
        ended = await running.ended(task["task_id"])
        assert ended["result"]["results"]["execute"] == {"n": 1}
        assert adopted in ([], [answer]), "at most the repetition"
        # Late, and with another content: nothing of it counts.
        await port.answer([_answer(taken, 2)], [taken])
        other = await running.submit(**TASK)
        (after,) = await _taken(port, 1)
        await port.answer([_answer(after)], [after])
        await running.ended(other["task_id"])
        assert await _ledger(engine, task["task_id"]) == ONCE
        assert await engine.query("SELECT id FROM messages") == []


async def test_result_that_cannot_be_handled_at_once_becomes_a_message(
    engine: Harness, adopted: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: Any) -> Any:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(Unqueued, "_commit", fails)
    async with serving(engine) as (running, port):
        task = await running.submit(**TASK)
        (taken,) = await _taken(port, 1)
        answer = _answer(taken)
        await port.answer([answer], [taken])
        assert (await running.ended(task["task_id"]))["status"] == "completed"
        assert adopted == [answer]
        assert await _ledger(engine, task["task_id"]) == ONCE


async def test_locked_call_holds_up_no_others(engine: Harness) -> None:
    """As by a process that was stopped in the middle of ending it."""
    async with serving(engine) as (running, port):
        tasks = [await running.submit(**TASK) for _ in range(2)]
        envelopes = await _taken(port, 2)
        first = next(one for one in envelopes if tasks[0]["task_id"] in one.body.decode())
        url = engine.settings.effective_database_url.replace("+asyncpg", "")
        connection = await asyncpg.connect(url)
        try:
            async with connection.transaction():
                await connection.execute(
                    "SELECT 1 FROM orchestrator_calls WHERE id = $1 FOR UPDATE", _call(first)
                )
                await port.answer([_answer(one) for one in envelopes], envelopes)
                assert (await running.ended(tasks[1]["task_id"]))["status"] == "completed"
        finally:
            await connection.close()
        assert (await running.ended(tasks[0]["task_id"]))["status"] == "completed"
        assert [await _ledger(engine, task["task_id"]) for task in tasks] == [ONCE, ONCE]


def _call(taken: Taken) -> UUID:
    found = reading.parsed(taken.body).metadata.call_id
    assert found is not None
    return found
