"""The forecast from a real backlog, and the admission that follows from it."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import httpx
import pytest

from docproc.engine.deadlines import forecast
from docproc.engine.message import utc_now
from docproc.engine.running.intake import Submission
from docproc.engine.store import rows
from docproc.engine.store.events import TABLE as EVENTS
from tests.acceptance.conftest import client_of
from tests.harness import Harness

FLOW = """
sla: {deadline_seconds: 30}
admission: %s
stages:
  - {name: split, component: split}
  - {name: work, component: heavy}
  - {name: gather, component: gather}
"""


async def _seen(engine: Harness, seconds: float, pages: int = 4, size: int | None = None) -> None:
    """One request of this workflow was handled lately, and its stages took that long."""
    uploads = [{"size": size}] if size is not None else []
    submission = Submission("default", {"n": pages}, uploads=uploads)
    request_id = await engine.app.intake.submit(submission)
    await engine.query("DELETE FROM messages")
    async with engine.app.store.writing() as session:
        await rows.insert(
            session,
            EVENTS,
            [
                {"request_id": request_id, "kind": "handled", "stage": "work", "outcome": "done",
                 "started_at": None, "finished_at": None, "busy_seconds": seconds, "message_id": uuid4()}
                | dict.fromkeys(("started_at", "finished_at"), (await engine.request(request_id)).created_at)
                for _ in range(pages)
            ],
        )  # fmt: skip


async def _post(engine: Harness, **form: str) -> httpx.Response:
    async with client_of(engine) as client:
        return await client.post("/process", data=form, files={"file": ("a.pdf", b"%PDF-1.4 something")})


@pytest.mark.parametrize("policy", ["accept", "refuse"])
async def test_request_that_cannot_be_done_in_time(engine: Harness, policy: str) -> None:
    engine.workflow("default", FLOW % policy)
    first = await _post(engine)
    assert first.json()["expected_completion"] is None and first.json()["deadline_at_risk"] is False
    await _seen(engine, seconds=100)
    engine.app.forecaster._good_until = 0.0
    answer = await _post(engine, external_id="A-1")
    if policy == "accept":
        assert answer.status_code == 200
        assert answer.json()["deadline_at_risk"] is True and answer.json()["expected_completion"]
        return
    assert answer.status_code == 429
    assert answer.json()["error"]["code"] == "deadline_at_risk"
    assert 1 <= int(answer.headers["Retry-After"]) <= 3600
    assert await engine.query("SELECT id FROM requests WHERE external_id = 'A-1'") == []


async def test_small_file_is_not_at_risk_because_a_large_one_came_before(engine: Harness) -> None:
    """One file of many pages was seen, and one of a single page: each tells of those of its size."""
    engine.workflow("default", FLOW % "accept")
    await _seen(engine, seconds=2.0, pages=200, size=40_000_000)
    small = await _post(engine)
    assert small.json()["deadline_at_risk"] is False and small.json()["expected_completion"]
    await engine.query("DELETE FROM messages")
    await _seen(engine, seconds=2.0, pages=1, size=900)
    engine.app.forecaster._good_until = 0.0
    assert (await _post(engine)).json()["deadline_at_risk"] is False
    received = utc_now()
    plan = engine.app.loader.plan("default")
    deadline = received + timedelta(seconds=30)
    large = await engine.app.forecaster.expect(plan, 5, received, deadline, 40_000_000)
    assert large is not None and large > deadline


async def test_what_was_taken_in_before_is_not_refused_when_it_is_sent_again(sqlite_engine: Harness) -> None:
    sqlite_engine.workflow("default", FLOW % "refuse")
    first = await _post(sqlite_engine, external_id="A-1")
    await _seen(sqlite_engine, seconds=100)
    sqlite_engine.app.forecaster._good_until = 0.0
    again = await _post(sqlite_engine, external_id="A-1")
    assert (again.status_code, again.json()["request_id"]) == (200, first.json()["request_id"])


async def test_view_counts_what_waits_and_who_is_there(engine: Harness) -> None:
    engine.workflow("default", FLOW % "accept")
    await _seen(engine, seconds=2.0)
    await engine.submit("default", n=3)
    running = await engine.start("split")

    async def three_wait() -> bool:
        return len(await engine.query("SELECT id FROM messages WHERE stage = 'work'")) == 3

    await engine.until(three_wait, "three items wait")
    await engine.until(lambda: engine.query("SELECT id FROM workers WHERE is_ready"), "a worker is there")
    found = await forecast.Forecaster(engine.app.store, engine.app.versions).view()
    (only,) = found.waiting
    assert sum(only.work.values()) == pytest.approx(3 * 2.0, rel=0.2)
    assert sum(found.slots.values()) == engine.settings.prefetch_count
    await engine.stop(running)
