"""Chaining, on every combination: fewer rows, the same effects, events and statuses."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import NEXT, Emission
from docproc.engine.message import PipelineMessage
from docproc.engine.running import chaining
from docproc.engine.store import messages
from docproc.engine.store.tables import Request
from tests import components
from tests.harness import Harness, filled

CHAIN = """
stages:
  - {name: split, component: split}
  - {name: first, component: heavy}
  - {name: second, component: work}
  - {name: third, component: poison, retry: {attempts: 2, delay_seconds: 0.01}}
  - {name: all, component: gather}
  - {name: end, component: work}
"""


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The stages of every message that is written as a row, by anybody in this process."""
    seen: Counter[str] = Counter()
    real = messages.send

    async def send(session: AsyncSession, outgoing: Sequence[messages.Outgoing], **rest: Any) -> None:
        seen.update(one.message.current_stage for one in outgoing)
        await real(session, outgoing, **rest)

    monkeypatch.setattr(messages, "send", send)
    monkeypatch.setattr(components.Gather, "only_counts", True)
    return seen


async def test_light_stages_are_handled_in_the_transaction_of_the_stage_before(
    engine: Harness, sent: Counter[str]
) -> None:
    engine.workflow("chain", CHAIN)
    await engine.start()
    request = await engine.run("chain", n=4)
    assert request.status == "completed"
    assert sent == {"split": 1, "first": 4}, "from the heavy stage on, nothing is written"
    handled = await engine.events(request.id, "handled")
    assert Counter(event.stage for event in handled) == {
        "split": 1, "first": 4, "second": 4, "third": 4, "all": 1, "end": 1,
    }  # fmt: skip
    assert len({event.message_id for event in handled}) == len(handled)
    for event in handled:
        assert event.started_at <= event.finished_at
    changes = [event.outcome for event in await engine.events(request.id, "status")]
    assert changes == ["received", "splitting", "processing", "consolidating", "completed"]


async def test_result_and_history_are_the_same_unchained(engine: Harness) -> None:
    engine.workflow("chain", CHAIN)
    engine.workflow("rows", CHAIN.replace("{name:", "{chain: off, name:"))
    await engine.start()
    found = []
    for name in ("chain", "rows"):
        request = await engine.run(name, n=3)
        told = await engine.events(request.id)
        history = Counter((e.kind, e.stage, e.unit_key, e.attempt, e.outcome) for e in told)
        found.append((request.result_payload, history))
    assert found[0] == found[1]


async def test_stage_that_says_chain_off_goes_through_its_queue(engine: Harness, sent: Counter[str]) -> None:
    engine.workflow("chain", CHAIN.replace("{name: third,", "{name: third, chain: off,"))
    await engine.start()
    assert (await engine.run("chain", n=4)).status == "completed"
    assert sent == {"split": 1, "first": 4, "third": 4}


async def test_chaining_is_off_where_the_settings_say_so(engine: Harness, sent: Counter[str]) -> None:
    engine.settings = engine.settings.model_copy(update={"chaining": False})
    engine.workflow("chain", CHAIN)
    await engine.start()
    assert (await engine.run("chain", n=2)).status == "completed"
    assert sent == {"split": 1, "first": 2, "second": 2, "third": 2, "all": 1, "end": 1}


async def test_stage_of_another_process_gets_its_message(engine: Harness, sent: Counter[str]) -> None:
    engine.workflow("chain", CHAIN)
    await engine.start("split", "heavy", "poison", "gather")
    await engine.start("work")
    assert (await engine.run("chain", n=2)).status == "completed"
    assert sent == {"split": 1, "first": 2, "second": 2, "third": 2, "end": 1}


async def test_failure_of_a_chained_stage_is_its_own(engine: Harness) -> None:
    engine.workflow("chain", CHAIN)
    await engine.start()
    request = await engine.run("chain", n=4, poison=[2])
    assert request.status == "failed"
    assert [unit["unit"] for unit in filled(request.error)["units"]] == ["item:2"]
    assert sorted(filled(request.result_payload)["units"]) == ["item:0", "item:1", "item:3"]
    handled = Counter(
        (e.stage, e.unit_key, e.attempt, e.outcome) for e in await engine.events(request.id, "handled")
    )
    assert max(handled.values()) == 1, "nothing is handled twice"
    for stage in ("first", "second"):
        assert handled[stage, "item:2", 1, "done"] == 1
    assert handled["third", "item:2", 1, "retry"] == 1
    assert handled["third", "item:2", 2, "dead_letter"] == 1


class Scribe(components.Work):
    """Leaves a mark on the request, then perhaps fails, or takes its time."""

    component_name = "work"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        request = await session.get(Request, message.request_id, with_for_update=True)
        assert request is not None
        marks = [*(request.metadata_ or {}).get("marks", []), message.current_stage]
        request.metadata_ = {"marks": marks}
        if message.current_stage == "b":
            if "fails" in message.payload and not Scribe.failed:
                Scribe.failed.append("b")
                raise RuntimeError("once")
            await asyncio.sleep(message.payload.get("sleeps", 0))
        return [(NEXT, message)]

    failed: list[str] = []  # noqa: RUF012 # emptied by each test


MARKS = """
stages:
  - {name: a, component: work}
  - {name: b, component: work, retry: {delay_seconds: 0.01}}
  - {name: c, component: work}
"""


@pytest.mark.parametrize("payload", [{}, {"fails": True}, {"sleeps": 0.3}], ids=["well", "fails", "slow"])
async def test_effects_of_chained_stages_happen_once(
    engine: Harness, monkeypatch: pytest.MonkeyPatch, payload: dict[str, Any]
) -> None:
    monkeypatch.setattr(chaining, "STAGE_SECONDS", 0.1)
    monkeypatch.setattr(components.Work, "process_message", Scribe.process_message)
    Scribe.failed.clear()
    engine.workflow("marks", MARKS)
    await engine.start("work")
    request = await engine.run("marks", **payload)
    assert request.status == "completed"
    assert request.metadata_ == {"marks": ["a", "b", "c"]}
    assert [e.attempt for e in await engine.events(request.id, "handled") if e.stage == "a"] == [1]


async def test_chained_stage_is_never_charged_to_the_time_limit_of_the_stage_before(
    engine: Harness, sent: Counter[str]
) -> None:
    engine.workflow("chain", CHAIN.replace("component: heavy", "component: heavy, timeout_seconds: 0.9"))
    await engine.start()
    assert (await engine.run("chain", n=2)).status == "completed"
    assert sent["second"] == 2, "there is too little time left for a second stage"


async def test_what_is_emitted_late_takes_its_place_in_the_queue(
    engine: Harness, sent: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chaining, "CHAIN_SECONDS", 0.0)
    engine.workflow("chain", CHAIN)
    await engine.start()
    assert (await engine.run("chain", n=2)).status == "completed"
    assert sent == {"split": 1, "first": 2, "second": 2, "third": 2, "all": 1, "end": 1}
