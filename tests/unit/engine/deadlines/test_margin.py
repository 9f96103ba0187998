"""How early an answer is begun."""

from __future__ import annotations

import pytest

from docproc.engine.deadlines.margin import LEAST_SECONDS, MOST_SECONDS, RECENT_SECONDS, Margin


@pytest.fixture
def clock() -> list[float]:
    return [1000.0]


@pytest.fixture
def margin(clock: list[float]) -> Margin:
    """It has seen many quick answers."""
    made = Margin(lambda: clock[0])
    for _ in range(500):
        made.observe(0.01)
    return made


def test_quick_answers_are_begun_just_before_the_deadline(margin: Margin) -> None:
    assert margin.seconds == LEAST_SECONDS


def test_one_slow_answer_in_many_changes_nothing(margin: Margin) -> None:
    margin.observe(1.0)
    assert margin.seconds == LEAST_SECONDS


def test_slow_write_makes_the_next_answers_earlier_for_a_while(margin: Margin, clock: list[float]) -> None:
    margin.wrote(0.4)
    margin.wrote(0.01)
    assert margin.seconds == pytest.approx(0.6)
    clock[0] += RECENT_SECONDS + 0.1
    assert margin.seconds == LEAST_SECONDS


def test_however_slow_writing_is_answers_are_not_begun_too_early(margin: Margin) -> None:
    margin.wrote(60.0)
    assert margin.seconds == MOST_SECONDS
