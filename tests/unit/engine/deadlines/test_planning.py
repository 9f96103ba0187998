"""Which jobs are put back so that most of the others are done in time."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from random import Random
from uuid import UUID

import pytest

from docproc.engine.deadlines.planning import Job, out_of_reach, out_of_shares, shares

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def job(number: int, due: float, seconds: float, priority: int = 5, lowered: bool = False) -> Job:
    return Job(UUID(int=number), NOW + timedelta(seconds=due), seconds, priority, lowered)


@pytest.mark.parametrize(
    ("jobs", "slots", "dropped"),
    [
        ([], 1, set()),
        ([job(1, 10, 5), job(2, 20, 5)], 1, set()),
        # One large job would make two small ones late.
        ([job(1, 10, 9), job(2, 11, 2), job(3, 12, 2)], 1, {1}),
        # Two workers do twice as much.
        ([job(1, 10, 9), job(2, 11, 2), job(3, 12, 2)], 2, set()),
        # Its deadline has passed.
        ([job(1, -1, 1), job(2, 10, 5)], 1, {1}),
        # What a client called urgent stays, though it is larger.
        ([job(1, 10, 9, priority=9), job(2, 11, 4)], 1, {2}),
        # What was put back returns only where it fits with room to spare.
        ([job(1, 10, 9, lowered=True)], 1, {1}),
        ([job(1, 10, 7, lowered=True)], 1, set()),
    ],
)
def test_fewest_jobs_are_put_back(jobs: list[Job], slots: int, dropped: set[int]) -> None:
    assert {key.int for key in out_of_reach(jobs, NOW, slots)} == dropped


def test_no_choice_leaves_fewer_jobs_late() -> None:
    """Against trying everything: the rule of Moore and Hodgson is exact."""
    random = Random(7)
    for _ in range(60):
        jobs = [job(n, random.uniform(1, 20), random.uniform(0.5, 8)) for n in range(random.randint(1, 8))]
        assert len(jobs) - len(out_of_reach(jobs, NOW, 1)) == _most_in_time(jobs)


def _most_in_time(jobs: list[Job]) -> int:
    for size in range(len(jobs), 0, -1):
        if any(_all_in_time(chosen) for chosen in combinations(jobs, size)):
            return size
    return 0


def _all_in_time(jobs: tuple[Job, ...]) -> bool:
    total = 0.0
    for one in sorted(jobs, key=lambda one: one.deadline_utc):
        total += one.seconds
        if total > (one.deadline_utc - NOW).total_seconds():
            return False
    return True


def test_flood_puts_its_own_tenant_s_work_out_of_reach_and_nobody_else_s() -> None:
    flood = [replace(job(n, 10, 2), tenant_id="a") for n in range(50)]
    # Larger and later than any of the flood: planned together, these would be the first to go.
    few = [replace(job(100 + n, 12, 5), tenant_id="b") for n in range(2)]
    assert {key.int for key in out_of_reach([*flood, *few], NOW, 2)} & {100, 101}
    dropped = {key.int for key in out_of_shares([*flood, *few], NOW, 2)}
    assert not dropped & {100, 101}
    assert len(dropped) > 30


def test_tenant_alone_is_planned_with_all_there_is() -> None:
    jobs = [job(n, 10, 2) for n in range(20)]
    assert out_of_shares(jobs, NOW, 3) == out_of_reach(jobs, NOW, 3)


def test_share_is_by_weight_and_what_others_leave() -> None:
    assert shares({"a": 9, "b": 9}, {"a": 1, "b": 3}, 8) == {"a": 2, "b": 6}
    assert shares({"a": 9, "b": 1}, {"a": 1, "b": 1}, 8) == {"a": 7, "b": 4}
