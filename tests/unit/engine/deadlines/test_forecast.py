"""When work will be done, from what waits and how long such work took."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from docproc.engine.component import spec_of
from docproc.engine.deadlines.forecast import StageTime, View, Waiting, Work
from docproc.engine.store import backlog
from docproc.engine.transport import Topology
from docproc.engine.workflow.definition import Workflow
from docproc.engine.workflow.plan import Plan, compile_plan
from tests import components

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALL = frozenset({"worker"})
CLASSES = {
    one.component_name: one
    for one in (components.Split, components.Heavy, components.Gather, components.Slow)
}

SPECS = {name: spec_of(one) for name, one in CLASSES.items()}


@pytest.fixture(scope="module")
def plan() -> Plan:
    stages = [
        {"name": "split", "component": "split"},
        {"name": "read", "component": "heavy"},
        {"name": "gather", "component": "gather"},
        {"name": "tell", "component": "slow"},
    ]
    return compile_plan(
        Workflow.model_validate({"name": "flow", "stages": stages}), SPECS, Topology.of(SPECS.values())
    )


def view(*waiting: Waiting, slots: int = 2) -> View:
    """A split takes 1 s and gives 10 pages of 2 s each; telling takes 3 s."""
    times = {
        ("flow", "split"): StageTime(1.0, 1.0),
        ("flow", "read"): StageTime(2.0, 10.0),
        ("flow", "tell"): StageTime(3.0, 1.0),
    }
    return View(waiting, {ALL: slots}, dict.fromkeys(CLASSES, ALL), times)


def waiting(number: int, due: float, seconds: float, band: int = 5, status: str = "processing") -> Waiting:
    work: Work = {ALL: seconds}
    return Waiting(UUID(int=number), status, 5, band, False, NOW + timedelta(seconds=due), work)


@pytest.mark.parametrize(
    ("stages", "seconds"),
    [
        ({"": 1}, 1 + 20 + 3),
        ({"split": 1}, 1 + 20 + 3),
        ({"read": 4}, 8 + 3),
        ({"read": 1, "gather": 3}, 2 + 3),
        ({"tell": 1}, 3),
        ({"unknown": 5}, 0),
    ],
)
def test_work_ahead_of_waiting_messages(plan: Plan, stages: dict[str, int], seconds: float) -> None:
    assert sum(view().work(plan, stages).values()) == pytest.approx(seconds)


def test_new_request_waits_for_what_is_more_urgent(plan: Plan) -> None:
    deadline = NOW + timedelta(seconds=60)
    assert view().expected_seconds(plan, 5, deadline) == pytest.approx(24 / 2)
    crowded = view(waiting(1, 30, 40), waiting(2, 90, 1000), waiting(3, 10, 100, band=1))
    assert crowded.expected_seconds(plan, 5, deadline) == pytest.approx((40 + 24) / 2)
    assert crowded.expected_seconds(plan, 9, deadline) == pytest.approx(24 / 2)


def test_stages_follow_each_other_however_many_workers_there_are(plan: Plan) -> None:
    assert view(slots=100).expected_seconds(plan, 5, NOW) == pytest.approx(1 + 2 + 3)


def test_nothing_is_promised_before_anything_was_measured(plan: Plan) -> None:
    assert View().expected_seconds(plan, 5, NOW) is None


def test_late_requests_do_not_compete_for_the_deadline() -> None:
    found = view(waiting(1, 5, 8), waiting(2, 6, 8), waiting(3, -5, 100, status="sla_breached"))
    assert len(found.out_of_reach(NOW)) == 1
    assert UUID(int=3) not in found.out_of_reach(NOW)


# Class of size -> what a split of such contents gave: one page, or two hundred.
SEEN = {
    ("flow", "split"): {1: StageTime(1.0, 1.0), 7: StageTime(9.0, 1.0)},
    ("flow", "read"): {1: StageTime(2.0, 1.0), 7: StageTime(2.0, 200.0)},
    ("flow", "tell"): {1: StageTime(3.0, 1.0), 7: StageTime(3.0, 1.0)},
}


@pytest.mark.parametrize(
    ("size", "seconds"),
    [
        (None, 1 + 20 + 3),  # as all of them did
        (1, 1 + 2 + 3),
        (7, 9 + 400 + 3),
        (2, 1 + 2 * 2 + 3),  # a little more than what is nearest
        (0, 1 + 2 + 3),  # never less than one
        (6, 9 + 2 * 200 / 4 + 3),
    ],
)
def test_work_follows_the_size_of_the_content(plan: Plan, size: int | None, seconds: float) -> None:
    seen = replace(view(), by_size=SEEN)
    assert sum(seen.work(plan, {"": 1}, size).values()) == pytest.approx(seconds)


def test_sizes_are_classed_alike_here_and_in_the_database() -> None:
    assert [backlog.size_class(size) for size in (0, 4**7 - 1, 4**7, 4**14)] == [0, 0, 1, 8]
    assert backlog.size_class(None) is None
