"""Deadlines, on every combination: thresholds act once, the partial answer, the breach, the amendment."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import structlog

from docproc.app import App
from docproc.engine.deadlines import monitor as sla
from docproc.engine.deadlines.forecast import Forecaster, View
from docproc.engine.deadlines.monitor import SlaMonitor
from docproc.engine.deadlines.planner import Planner
from docproc.engine.deadlines.scaling import ESCALATED
from docproc.engine.running import bands
from docproc.engine.store import answers, requests
from docproc.engine.store.tables import Request
from docproc.errors import DatabaseDownError
from tests.components import Gather
from tests.harness import Harness, filled

FLOW = """
sla: {deadline_seconds: 100, warn_threshold_pct: 60, escalation_threshold_pct: 80}
stages:
  - {name: split, component: split}
  - {name: first, component: heavy}
  - {name: second, component: work}
  - {name: gather, component: gather}
"""


class Clock:
    """A monitor's time: seconds after a request was received."""

    def __init__(self, request: Request) -> None:
        self.start = request.created_at
        self.seconds = 0.0

    def __call__(self) -> datetime:
        return self.start + timedelta(seconds=self.seconds)


@pytest.fixture
async def waiting(engine: Harness) -> Request:
    """A request of three items that are split and not worked on."""
    engine.workflow("flow", FLOW)
    request_id = await engine.submit("flow", n=3)
    splitter = await engine.start("split")

    async def is_split() -> bool:
        return len(await engine.query("SELECT id FROM messages WHERE stage = 'first'")) == 3

    await engine.until(is_split, "three items wait")
    await engine.stop(splitter)
    return await engine.request(request_id)


async def _versions(engine: Harness, request_id: UUID) -> list[tuple[int, bool, str]]:
    async with engine.app.store.reading() as session:
        given = await answers.of_request(session, request_id)
    return [(one.version, one.is_partial, one.reason) for one in given]


async def _outcomes(engine: Harness, request_id: UUID, kind: str) -> list[str]:
    return [event.outcome for event in await engine.events(request_id, kind)]


async def test_each_threshold_acts_once_however_many_monitors_look(
    engine: Harness, waiting: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = structlog.testing.LogCapture()
    everything = structlog.make_filtering_bound_logger(0)
    monkeypatch.setattr(sla, "log", structlog.wrap_logger(None, [logs], wrapper_class=everything))
    clock = Clock(waiting)
    others = [App(engine.settings, worker_id=f"monitor-{n}") for n in range(2)]
    monitors = [SlaMonitor(app, clock) for app in (engine.app, *others)]
    for seconds in (59, 61, 79, 81, 99.9, 101, 150):
        clock.seconds = seconds
        await asyncio.gather(*(monitor.look() for monitor in monitors))
    for app in others:
        await app.close()
    assert await _outcomes(engine, waiting.id, "sla") == ["at_risk", "escalated"]
    assert await _outcomes(engine, waiting.id, "answer") == ["processing"]
    assert (await _outcomes(engine, waiting.id, "status"))[-1] == "sla_breached"
    assert await _versions(engine, waiting.id) == [(1, True, "deadline")]
    told = [(e["event"], e["log_level"]) for e in logs.entries if e["event"].startswith("sla_")]
    assert told == [("sla_at_risk", "warning"), ("sla_escalated", "warning"), ("sla_breached", "error")]


async def test_moments_are_those_of_the_workflow(engine: Harness, waiting: Request) -> None:
    clock = Clock(waiting)
    monitor = SlaMonitor(engine.app, clock)
    seen: list[Sequence[Any]] = []
    for seconds in (59.9, 60, 79.9, 80):
        clock.seconds = seconds
        await monitor.look()
        request = await engine.request(waiting.id)
        seen.append((request.warned_at is not None, request.escalated_at is not None))
    assert seen == [(False, False), (True, False), (True, False), (True, True)]


async def test_partial_answer_comes_before_the_deadline_and_leaves_the_status(
    engine: Harness, waiting: Request
) -> None:
    clock = Clock(waiting)
    monitor = SlaMonitor(engine.app, clock)
    clock.seconds = 99.9
    await monitor.look()
    request = await engine.request(waiting.id)
    assert (request.status, request.answer_version, request.breached_at) == ("processing", 1, None)
    assert filled(request.result_payload)["partial"] is True
    missing = {(item["unit"], item["reason"]) for item in filled(request.result_payload)["missing"]}
    assert missing == {(f"item:{n}", "queued") for n in range(3)}


async def test_complete_before_the_deadline_is_no_breach(engine: Harness, waiting: Request) -> None:
    clock = Clock(waiting)
    monitor = SlaMonitor(engine.app, clock)
    clock.seconds = 99.9
    await monitor.look()
    await engine.start()
    request = await engine.finished(waiting.id)
    clock.seconds = 200
    await monitor.look()
    request = await engine.request(waiting.id)
    assert (request.status, request.answer_version, request.breached_at) == ("completed", 2, None)
    assert await _versions(engine, waiting.id) == [(1, True, "deadline"), (2, False, "complete")]


async def test_what_comes_after_the_deadline_amends_and_the_breach_stays(
    engine: Harness, waiting: Request
) -> None:
    clock = Clock(waiting)
    monitor = SlaMonitor(engine.app, clock)
    clock.seconds = 100.5  # the monitor was away at the moment of answering: both at once
    await monitor.look()
    breached = await engine.request(waiting.id)
    assert (breached.status, breached.answer_version, breached.completed_at) == ("sla_breached", 1, None)
    await engine.start()

    async def is_complete() -> bool:
        return (await engine.request(waiting.id)).completed_at is not None

    await engine.until(is_complete, "the rest arrives")
    request = await engine.request(waiting.id)
    assert (request.status, request.breached_at) == ("sla_breached", breached.breached_at)
    assert filled(request.result_payload)["units"] == ["item:0", "item:1", "item:2"]
    assert await _versions(engine, waiting.id) == [(1, True, "deadline"), (2, False, "complete")]


async def test_finishing_late_is_a_breach_though_no_monitor_looked(engine: Harness, waiting: Request) -> None:
    await engine.query(
        "UPDATE requests SET deadline_utc = created_at WHERE id = :id RETURNING id", id=waiting.id
    )
    await engine.start()

    async def is_complete() -> bool:
        return (await engine.request(waiting.id)).completed_at is not None

    await engine.until(is_complete, "it is done")
    request = await engine.request(waiting.id)
    assert request.status == "sla_breached" and request.breached_at is not None
    assert await _versions(engine, waiting.id) == [(1, False, "complete")]


async def test_escalation_raises_what_waits_and_the_answer_is_drafted(
    engine: Harness, waiting: Request
) -> None:
    clock = Clock(waiting)
    clock.seconds = 81
    await SlaMonitor(engine.app, clock).look()
    found = await engine.query("SELECT DISTINCT band FROM messages")
    assert [row.band for row in found] == [bands.MOST_URGENT]
    async with engine.app.store.reading() as session:
        draft = await answers.draft(session, waiting.id)
    assert draft is not None and draft["partial"] is True
    # What the raised messages emit is as urgent.
    await engine.start("heavy")

    async def moved_on() -> bool:
        rows = await engine.query("SELECT band FROM messages WHERE stage = 'second'")
        return [row.band for row in rows] == [bands.MOST_URGENT] * 3

    await engine.until(moved_on, "three urgent messages at the second stage")


async def test_escalated_work_is_published_for_autoscalers(engine: Harness, waiting: Request) -> None:
    """§7.3: more workers where the platform can give them."""
    planner = Planner(engine.app.forecaster, engine.app.relay)
    await planner.plan()
    queues = await engine.query("SELECT queue, count(*) AS number FROM messages GROUP BY queue")
    assert all(_escalated(row.queue) == 0 for row in queues), "nothing is at risk yet"
    clock = Clock(waiting)
    clock.seconds = 81
    await SlaMonitor(engine.app, clock).look()
    await planner.scaling.publish(await _fresh_view(engine))
    assert {row.queue: _escalated(row.queue) for row in queues} == {row.queue: row.number for row in queues}
    planner.scaling.withdraw()  # somebody else plans now
    assert all(_escalated(row.queue) == 0 for row in queues)


def _escalated(queue: str) -> float:
    return float(ESCALATED.labels(queue)._value.get())


async def _fresh_view(engine: Harness) -> View:
    """Not the one that the forecaster still has from a moment ago."""
    return await Forecaster(engine.app.store, engine.app.versions).view()


async def test_what_is_out_of_reach_waits_behind_what_is_not(
    engine: Harness, waiting: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = await engine.submit("flow", n=1)
    monkeypatch.setattr(View, "out_of_reach", lambda _view, _now: {waiting.id})
    planner = Planner(engine.app.forecaster, engine.app.relay)
    await planner.plan()
    # Another one, with the same view of things as they were: nothing is told twice.
    await Planner(engine.app.forecaster, engine.app.relay).plan()
    assert (await engine.request(waiting.id)).band == bands.OUT_OF_REACH
    assert await _outcomes(engine, waiting.id, "band") == ["lowered"]
    await engine.start("split")

    async def both_wait() -> bool:
        return len(await engine.query("SELECT id FROM messages WHERE stage = 'first'")) == 4

    await engine.until(both_wait, "the items of both wait at the first stage")
    await engine.start("heavy")

    async def all_done() -> bool:
        return not await engine.query("SELECT id FROM messages WHERE stage = 'first'")

    await engine.until(all_done, "the first stage is done")
    done = await engine.query(
        "SELECT request_id FROM events WHERE stage = 'first' AND outcome = 'done' ORDER BY id"
    )
    assert [UUID(str(row.request_id)) for row in done] == [other, *[waiting.id] * 3]
    lowered = await engine.query("SELECT DISTINCT band FROM messages WHERE request_id = :r", r=waiting.id)
    assert [row.band for row in lowered] == [bands.OUT_OF_REACH]


async def test_question_to_a_person_is_no_work_for_workers(engine: Harness) -> None:
    engine.workflow(
        "ask",
        """
        stages:
          - {name: split, component: split}
          - {name: ask, component: ask, backoffice_queue: task.classification}
          - {name: gather, component: gather}
        """,
    )
    await engine.start()
    await engine.submit("ask", n=1, doubtful=[0])

    async def is_asked() -> bool:
        queued = await engine.query("SELECT queue FROM messages")
        return [row.queue for row in queued] == ["q.backoffice.classification"]

    await engine.until(is_asked, "only the notice is left")
    assert (await engine.app.forecaster.view()).waiting == []


async def test_request_that_fails_after_its_deadline_says_why(engine: Harness, waiting: Request) -> None:
    clock = Clock(waiting)
    clock.seconds = 100.5
    await SlaMonitor(engine.app, clock).look()
    async with engine.app.store.writing() as session:
        assert await requests.fail(session, waiting.id, {"code": "broken", "message": "it broke"})
        assert not await requests.fail(session, waiting.id, {"code": "again", "message": "again"})
    request = await engine.request(waiting.id)
    assert (request.status, filled(request.error)["code"]) == ("sla_breached", "broken")
    assert await _versions(engine, waiting.id) == [(1, True, "deadline"), (2, True, "failed")]


async def test_request_that_nobody_has_touched_is_answered_too(engine: Harness) -> None:
    engine.workflow("flow", FLOW)
    request = await engine.request(await engine.submit("flow", n=3))
    clock = Clock(request)
    clock.seconds = 101
    await SlaMonitor(engine.app, clock).look()
    request = await engine.request(request.id)
    assert (request.status, request.answer_version) == ("sla_breached", 1)
    assert [(m["unit"], m["reason"]) for m in filled(request.result_payload)["missing"]] == [
        ("request", "queued")
    ]


async def test_monitor_outlasts_a_database_that_is_away(
    engine: Harness, waiting: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(waiting)
    clock.seconds = 101
    monitor = SlaMonitor(engine.app, clock)
    away = iter([True, True])

    def reading() -> Any:
        if next(away, False):
            raise DatabaseDownError("no connections")
        return type(engine.app.store).reading(engine.app.store)

    monkeypatch.setattr(engine.app.store, "reading", reading)
    running = asyncio.create_task(monitor.run())

    async def is_answered() -> bool:
        return bool((await engine.query("SELECT answer_version FROM requests"))[0].answer_version == 1)

    await engine.until(is_answered, "it is answered all the same")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert next(away, None) is None


async def test_failing_last_stage_is_no_reason_for_silence(
    engine: Harness, waiting: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The draft goes out; without one, what is missing."""

    async def broken(*_: Any) -> dict[str, Any]:
        raise RuntimeError("a bug")

    clock = Clock(waiting)
    monitor = SlaMonitor(engine.app, clock)
    monkeypatch.setattr(Gather, "partial_result", broken)
    clock.seconds = 99.9
    await monitor.look()
    request = await engine.request(waiting.id)
    assert request.answer_version == 1 and len(filled(request.result_payload)["missing"]) == 3
