"""What a request's clock asks for, moment by moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from docproc.engine.deadlines.checks import Due, due_now
from docproc.engine.deadlines.margin import FIRST_SECONDS, LEAST_SECONDS, MOST_SECONDS, Margin
from docproc.engine.store.tables import Request

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def request(**values: Any) -> Request:
    """Received at START, with 100 s; to be warned at 70 and escalated at 90."""
    base: dict[str, Any] = {
        "status": "processing",
        "deadline_utc": at(100),
        "sla_seconds": 100.0,
        "warn_at": at(70),
        "escalate_at": at(90),
        "next_check_at": at(70),
    }
    return Request(**{**base, **values})


WARNED: dict[str, Any] = {"warned_at": at(70), "next_check_at": at(90)}
ESCALATED: dict[str, Any] = {**WARNED, "escalated_at": at(90), "next_check_at": at(99)}
ANSWERED: dict[str, Any] = {**ESCALATED, "next_check_at": at(100)}


@pytest.mark.parametrize(
    ("values", "now", "expected"),
    [
        ({}, 69, Due(next_check_at=at(70))),
        ({}, 70, Due(warn=True, next_check_at=at(90))),
        (WARNED, 89, Due(next_check_at=at(90))),
        (WARNED, 90, Due(escalate=True, next_check_at=at(99))),
        (ESCALATED, 99, Due(answer=True, next_check_at=at(100))),
        (ANSWERED, 99.5, Due(next_check_at=at(100))),
        (ANSWERED, 100, Due(breach=True)),
        # The monitor was away: everything at once.
        ({}, 101, Due(warn=True, escalate=True, answer=True, breach=True)),
        # Away at the moment of answering only.
        (ESCALATED, 100, Due(answer=True, breach=True)),
        # Over.
        ({"status": "completed"}, 101, Due()),
        ({"status": "failed"}, 80, Due()),
        # Thresholds later than the answer count with it.
        ({"warn_at": at(99.5), "escalate_at": at(100)}, 99, Due(True, True, True, False, at(100))),
    ],
)
def test_actions_at_a_moment(values: dict[str, Any], now: float, expected: Due) -> None:
    assert due_now(request(**values), at(now), margin_seconds=1.0) == expected


def test_answer_is_never_made_earlier_than_a_tenth_of_the_time() -> None:
    short = request(sla_seconds=2.0, deadline_utc=at(2), warn_at=at(1.4), escalate_at=at(1.7), **{})
    short.warned_at, short.escalated_at, short.next_check_at = at(1.4), at(1.7), at(1.8)
    assert not due_now(short, at(1.75), margin_seconds=1.0).answer
    assert due_now(short, at(1.8), margin_seconds=1.0).answer


def test_margin_follows_how_long_answering_takes() -> None:
    margin = Margin()
    assert margin.seconds == FIRST_SECONDS
    margin.observe(0.001)
    assert margin.seconds == FIRST_SECONDS  # one quick answer says little
    for _ in range(100):
        margin.observe(0.001)
    assert margin.seconds == LEAST_SECONDS
    for _ in range(100):
        margin.observe(0.4)
    assert margin.seconds == pytest.approx(0.6)
    for _ in range(500):
        margin.observe(60)
    assert margin.seconds == MOST_SECONDS
