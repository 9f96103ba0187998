"""Fair order, on every combination: one tenant's flood does not hold up another's work."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from docproc.engine.running.intake import Submission
from docproc.engine.store import tenants
from docproc.settings import Settings
from tests.harness import Harness, opened

FLOW = """
sla: {deadline_seconds: 1000}
stages: [{name: work, component: slow}]
"""
SOON = FLOW.replace("1000", "500")
FAN_OUT = """
stages:
  - {name: split, component: split, window: 4}
  - {name: work, component: slow}
  - {name: gather, component: gather}
"""
# What a broker may have of others when a tenant's message comes: the first window, and what workers took.
AHEAD = {True: 24, False: 2}


@pytest.fixture
async def engine(settings: Settings) -> AsyncIterator[Harness]:
    """With three tenants, one of them with three times the weight."""
    async with opened(settings.model_copy(update={"aging_seconds": 0.5})) as harness:
        async with harness.app.store.writing() as session:
            for name, weight in (("a", 1.0), ("b", 1.0), ("heavy", 3.0)):
                await tenants.add(session, name, weight=weight)
        for name, text in (("flow", FLOW), ("soon", SOON), ("fan_out", FAN_OUT)):
            harness.workflow(name, text)
        yield harness


async def flood(
    engine: Harness, tenant: str, number: int, *, workflow: str = "flow", priority: int = 5, **payload: object
) -> list[UUID]:
    submission = [
        Submission(workflow, {"sleep": 0.005, **payload}, priority=priority, tenant_id=tenant)
        for _ in range(number)
    ]
    return [await engine.app.intake.submit(one) for one in submission]


async def order(engine: Harness, number: int, stage: str = "work", seconds: float = 30) -> list[UUID]:
    """The requests in the order in which they were handled, as soon as there are so many."""

    async def handled() -> list[UUID]:
        found = await engine.query(
            "SELECT request_id FROM events WHERE kind = 'handled' AND stage = :stage ORDER BY id", stage=stage
        )
        return [UUID(str(row.request_id)) for row in found]

    async def enough() -> bool:
        return len(await handled()) >= number

    await engine.until(enough, f"{number} messages are handled", seconds)
    return await handled()


def ahead(engine: Harness) -> int:
    return AHEAD[engine.app.transport.has_broker]


async def test_few_requests_overtake_the_flood_that_came_before_them(engine: Harness) -> None:
    many = await flood(engine, "a", 150)
    few = await flood(engine, "b", 6)
    await engine.start("slow")
    done = await order(engine, 156)
    assert Counter(done) == Counter([*many, *few]), "each once"
    last = max(done.index(one) for one in few)
    assert last < ahead(engine) + 2 * len(few) + 10


async def test_weights_are_the_shares_while_both_wait(engine: Harness) -> None:
    light = set(await flood(engine, "a", 120))
    heavy = set(await flood(engine, "heavy", 120))
    await engine.start("slow")
    done = (await order(engine, 130))[ahead(engine) : 120]
    share = sum(one in heavy for one in done) / len(done)
    assert 0.65 < share < 0.85, f"three quarters are due to it, of {len(done)} it got {share:.0%}"
    assert len(set(await order(engine, 240))) == len(light | heavy)


async def test_idle_tenant_has_saved_no_turns(engine: Harness) -> None:
    await engine.start("slow")
    first = await flood(engine, "a", 60)
    await order(engine, len(first))
    await flood(engine, "a", 1, sleep=2)  # the worker is busy while both send
    late, own = set(await flood(engine, "b", 60)), set(await flood(engine, "a", 60))
    done = (await order(engine, 181))[61:]
    both = done[ahead(engine) : 80]
    share = sum(one in late for one in both) / len(both)
    assert 0.35 < share < 0.65, f"half is due to it, it got {share:.0%}"
    assert late | own == set(done)


async def test_within_a_tenant_the_nearer_deadline_goes_first(engine: Harness) -> None:
    await flood(engine, "b", 40)  # a broker has enough with these
    far = await flood(engine, "a", 5)
    near = await flood(engine, "a", 5, workflow="soon")
    await engine.start("slow")
    done = [one for one in await order(engine, 50) if one in {*far, *near}]
    # Two that are worked on side by side may end in either order.
    assert all(abs(done.index(one) - place) <= 1 for place, one in enumerate([*near, *far]))


async def test_more_urgent_band_goes_before_everybody_else_s_turn(engine: Harness) -> None:
    await flood(engine, "a", 60)
    (urgent,) = await flood(engine, "b", 1, priority=9)
    await flood(engine, "a", 20)
    await engine.start("slow")
    assert (await order(engine, 81)).index(urgent) <= ahead(engine)


async def test_what_waits_below_is_not_forgotten(engine: Harness) -> None:
    low = await flood(engine, "b", 1, priority=1)
    await flood(engine, "a", 150, priority=9)
    await flood(engine, "b", 1, priority=1)
    low += await flood(engine, "a", 1, priority=2)
    await asyncio.sleep(0.6)  # they have waited long enough now
    await engine.start("slow")
    done = await order(engine, 153, seconds=60)
    assert max(done.index(one) for one in low) < 120


async def test_window_of_a_fan_out_is_no_way_around_the_turns(engine: Harness) -> None:
    await engine.start("split", "slow", "gather")
    many = await flood(engine, "a", 12, workflow="fan_out", n=10)
    few = await flood(engine, "b", 1, workflow="fan_out", n=4)
    for one in (*few, *many):
        assert (await engine.finished(one, 30)).status == "completed"
    done = await order(engine, 124)
    assert max(place for place, one in enumerate(done) if one in few) < 100


async def test_rows_kept_back_by_a_process_that_is_gone_are_worked_on(engine: Harness) -> None:
    """The client of these tests has no relay: whatever it keeps back, others release."""
    many = await flood(engine, "a", 60, sleep=0)
    ready = await engine.query("SELECT count(*) AS n FROM messages WHERE state = 'ready'")
    assert ready[0].n >= 40
    await engine.start("slow")
    assert set(await order(engine, 60, seconds=10)) == set(many)
    assert await engine.query("SELECT id FROM messages") == []


async def test_with_one_tenant_nothing_is_kept_back(settings: Settings) -> None:
    async with opened(settings) as engine:
        engine.workflow("flow", FLOW)
        await flood(engine, "default", 60, sleep=0)
        found = await engine.query("SELECT DISTINCT state FROM messages")
        assert [row.state for row in found] == ["sent" if engine.app.transport.has_broker else "ready"]
        await engine.start("slow")
        assert len(await order(engine, 60)) == 60
