"""What is accepted, what is refused, and when a rate has left its interval."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from docproc.promotion.comparing import Difference, differences
from docproc.promotion.deciding import Rate, has_left, judge
from docproc.promotion.suite import CaseOutcome


@pytest.mark.parametrize(
    ("expected", "answered", "places"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, ["a.b[1]"]),
        ({"a": [1]}, {"a": [1, 2]}, ["a[1]"]),
        ({"a": 1}, {"b": 1}, ["a", "b"]),
        ({"a": "12"}, {"a": [1, 2]}, ["a"]),
        (None, {"a": 1}, ["answer"]),
    ],
)
def test_differences_name_the_place(expected: Any, answered: Any, places: list[str]) -> None:
    assert [one.place for one in differences(expected, answered)] == places


def outcome(number: int, passed: bool = True) -> CaseOutcome:
    found = [] if passed else [Difference("documents[0].doc_type", "invoice", "receipt")]
    return CaseOutcome(UUID(int=number), f"case {number}", found)


def test_candidate_that_answers_all_the_live_one_does_is_accepted() -> None:
    verdict = judge(
        [outcome(1), outcome(2), outcome(3, False)], [outcome(1), outcome(2, False), outcome(3, False)]
    )
    assert verdict.accepted
    assert verdict.reasons == ("2 of 3 cases pass; 1 of the version that is live",)


def test_candidate_that_loses_one_case_is_refused_though_it_wins_two() -> None:
    verdict = judge(
        [outcome(1, False), outcome(2), outcome(3)], [outcome(1), outcome(2, False), outcome(3, False)]
    )
    assert not verdict.accepted
    assert "case 1: documents[0].doc_type: expected 'invoice', answered 'receipt'" in verdict.reasons[1]


def test_first_version_must_pass_every_case() -> None:
    assert judge([outcome(1), outcome(2)], None).accepted
    assert not judge([outcome(1), outcome(2, False)], None).accepted


def test_nothing_is_promoted_without_a_case() -> None:
    verdict = judge([], None)
    assert not verdict.accepted and "docproc golden add" in verdict.reasons[0]


def test_interval_is_wilsons() -> None:
    assert Rate(10, 100).interval(0.95) == pytest.approx((0.0552, 0.1744), abs=1e-4)
    assert Rate(0, 200).interval()[1] == pytest.approx(0.0321, abs=1e-4)


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        (Rate(10, 1000), Rate(60, 1000), True),
        (Rate(10, 1000), Rate(12, 1000), False),
        (Rate(10, 1000), Rate(150, 199), False),  # too few to be judged
        (Rate(5, 150), Rate(200, 400), False),  # nothing to compare with
        (Rate(60, 1000), Rate(10, 1000), False),  # better is no reason to go back
        (Rate(0, 200), Rate(10, 200), True),
    ],
)
def test_rate_leaves_the_interval_of_the_version_before(before: Rate, after: Rate, left: bool) -> None:
    assert has_left(before, after) is left
