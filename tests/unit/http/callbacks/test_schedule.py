"""When an answer is sent again, and when no more."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from docproc.http.callbacks.schedule import DAY, HOUR, AttemptOutcome, Decision, Reply, Schedule
from docproc.retry_after import wait_seconds

SCHEDULE = Schedule()
DOWN = Reply(error="connection refused")
NOW = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_any_success_delivers(status: int) -> None:
    assert SCHEDULE.decide(Reply(status), 1, 0, 0.5) == Decision(AttemptOutcome.DELIVERED)


def test_success_counts_however_late() -> None:
    assert SCHEDULE.decide(Reply(200), 30, 4 * DAY, 0.5).outcome is AttemptOutcome.DELIVERED


@pytest.mark.parametrize("status", [301, 302, 307, 400, 401, 404, 429, 500, 503, None])
def test_everything_else_is_tried_again(status: int | None) -> None:
    assert SCHEDULE.decide(Reply(status, "no answer"), 1, 0, 0.5).outcome is AttemptOutcome.RETRY


def test_gone_ends_it_at_once() -> None:
    assert SCHEDULE.decide(Reply(410), 1, 0, 0.5).outcome is AttemptOutcome.GIVEN_UP


@pytest.mark.parametrize(
    ("attempt", "delay"),
    [
        (1, 1),
        (2, 5),
        (3, 30),
        (4, 120),
        (5, 600),
        (6, 1800),
        (7, HOUR),
        (8, 3 * HOUR),
        (9, 6 * HOUR),
        (15, 6 * HOUR),
    ],
)
def test_delays_grow(attempt: int, delay: float) -> None:
    assert SCHEDULE.decide(DOWN, attempt, 0, 0.5).delay_seconds == pytest.approx(delay)
    assert SCHEDULE.decide(DOWN, attempt, 0, 0.0).delay_seconds == pytest.approx(0.8 * delay)
    assert SCHEDULE.decide(DOWN, attempt, 0, 1.0).delay_seconds == pytest.approx(1.2 * delay)


def test_last_attempt_comes_at_three_days() -> None:
    almost = SCHEDULE.decide(DOWN, 17, 3 * DAY - HOUR, 0.5)
    assert almost == Decision(AttemptOutcome.RETRY, HOUR)
    assert SCHEDULE.decide(DOWN, 18, 3 * DAY, 0.5).outcome is AttemptOutcome.GIVEN_UP


@pytest.mark.parametrize(("asked", "delay"), [(0, 1), (60, 60), (10 * DAY, 6 * HOUR)])
def test_receiver_may_ask_for_a_longer_wait_within_bounds(asked: float, delay: float) -> None:
    assert SCHEDULE.decide(Reply(503, wait_seconds=asked), 1, 0, 0.5).delay_seconds == pytest.approx(delay)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("120", 120),
        (" 7 ", 7),
        ("9" * 40, 999_999_999_999),
        ("Sun, 01 Mar 2026 10:01:00 GMT", 60),
        ("Sun, 01 Mar 2026 09:00:00 GMT", 0),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(text: str | None, seconds: float | None) -> None:
    assert wait_seconds(text, NOW) == seconds
