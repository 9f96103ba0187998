"""Retry decisions: error and attempt in, delay or the end out."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docproc.engine.running.retry import GIVE_UP, RetryDecision, decide
from docproc.engine.workflow.definition import ErrorRetry, Retry
from docproc.errors import (
    ChildDiedError,
    MessageError,
    PermanentError,
    ProcessingError,
    TimeLimitError,
    TransientError,
    TransportError,
    UnroutableError,
)


class RateLimitError(TransientError):
    pass


class StrictRateLimitError(RateLimitError):
    pass


PLAIN = Retry(attempts=5, delay_seconds=1, factor=2, max_delay_seconds=300, jitter=0)
# The table of spec/material-worker.md, RF-007.
MATERIALS = Retry(
    errors={
        "TimeoutError": ErrorRetry(delays_seconds=(60, 120, 240, 480, 960)),
        "ConnectionError": ErrorRetry(delays_seconds=(10, 30, 60, 300, 900)),
        "OSError": ErrorRetry(delays_seconds=(5, 15, 30)),
        "RateLimitError": ErrorRetry(unlimited=True, delay_seconds=20),
    }
)


def _never() -> float:
    raise AssertionError("this decision must not depend on chance")


@pytest.mark.parametrize(("attempt", "delay"), [(1, 1), (2, 2), (3, 4), (4, 8)])
def test_delays_grow_by_the_factor(attempt: int, delay: float) -> None:
    assert decide(TransientError("x"), attempt, PLAIN) == RetryDecision(delay)


@pytest.mark.parametrize("attempt", [5, 6, 1000])
def test_the_last_attempt_and_any_after_it_give_up(attempt: int) -> None:
    assert decide(TransientError("x"), attempt, PLAIN) == GIVE_UP


def test_one_attempt_means_no_retry() -> None:
    assert decide(TransientError("x"), 1, Retry(attempts=1)).gives_up


def test_default_policy_tries_three_times() -> None:
    decisions = [decide(TransientError("x"), n, Retry(), chance=lambda: 0.5) for n in (1, 2, 3)]
    assert [d.delay for d in decisions] == [1.0, 2.0, None]


def test_delay_stops_growing_at_its_maximum() -> None:
    policy = PLAIN.model_copy(update={"attempts": 100, "max_delay_seconds": 10})
    assert [decide(TransientError("x"), n, policy).delay for n in (3, 4, 5, 50)] == [4, 8, 10, 10]


@pytest.mark.parametrize(
    ("chance", "delay"), [(0.0, 0.9), (0.25, 0.95), (0.5, 1.0), (0.75, 1.05), (0.999999, 1.1)]
)
def test_jitter_spreads_evenly_around_the_plain_delay(chance: float, delay: float) -> None:
    policy = PLAIN.model_copy(update={"jitter": 0.1})
    assert decide(TransientError("x"), 1, policy, lambda: chance).delay == pytest.approx(delay, abs=1e-5)


def test_jitter_is_random_by_default() -> None:
    policy = PLAIN.model_copy(update={"jitter": 1.0})
    assert len({decide(TransientError("x"), 1, policy).delay for _ in range(20)}) > 1


@settings(deadline=None)  # the machine may be busy
@given(
    attempt=st.integers(1, 10**9),
    delay=st.floats(0, 1e6),
    factor=st.floats(1, 1e300),
    maximum=st.floats(0, 1e6),
    jitter=st.floats(0, 1),
    chance=st.floats(0, 1, exclude_max=True),
)
def test_any_policy_and_attempt_give_a_delay_within_the_jitter_of_the_maximum(
    attempt: int, delay: float, factor: float, maximum: float, jitter: float, chance: float
) -> None:
    policy = Retry(
        attempts=10**10, delay_seconds=delay, factor=factor, max_delay_seconds=maximum, jitter=jitter
    )
    found = decide(TransientError("x"), attempt, policy, lambda: chance).delay
    assert found is not None and math.isfinite(found)
    assert 0 <= found <= maximum * (1 + jitter) * (1 + 1e-9)


@settings(deadline=None)  # the machine may be busy
@given(attempt=st.integers(1, 200), jitter=st.floats(0, 1), chance=st.floats(0, 1, exclude_max=True))
def test_jittered_delay_stays_inside_its_band(attempt: int, jitter: float, chance: float) -> None:
    policy = Retry(attempts=1000, delay_seconds=0.2, factor=1.5, max_delay_seconds=60, jitter=jitter)
    plain = min(0.2 * 1.5 ** (attempt - 1), 60)
    found = decide(TransientError("x"), attempt, policy, lambda: chance).delay
    assert found is not None
    assert plain * (1 - jitter) - 1e-9 <= found <= plain * (1 + jitter) + 1e-9


@pytest.mark.parametrize("delay", [0.0, 1.0])
def test_huge_attempt_with_a_steep_factor_does_not_overflow(delay: float) -> None:
    policy = Retry(attempts=10**9, delay_seconds=delay, factor=1e6, max_delay_seconds=300, jitter=0)
    assert decide(TransientError("x"), 10**8, policy).delay == 300 * delay


@pytest.mark.parametrize(
    "error",
    [PermanentError("x"), MessageError("x"), UnroutableError("key", "exchange")],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("attempt", [1, 2])
def test_what_cannot_get_better_gives_up_at_once(error: Exception, attempt: int) -> None:
    assert decide(error, attempt, Retry(attempts=1000)) == GIVE_UP


def test_a_rule_cannot_bring_a_permanent_error_back() -> None:
    policy = Retry(errors={"PermanentError": ErrorRetry(unlimited=True)})
    assert decide(PermanentError("x"), 1, policy).gives_up


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        KeyError("x"),
        ZeroDivisionError(),
        ProcessingError("x"),
        TransportError("x"),
        TimeLimitError("x"),
        ChildDiedError("x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_any_other_error_is_retried_within_the_attempts(error: Exception) -> None:
    assert decide(error, 1, PLAIN) == RetryDecision(1.0, counts_attempt=True)
    assert decide(error, 5, PLAIN) == GIVE_UP


def test_delay_asked_by_the_error_replaces_the_exponential_one() -> None:
    error = TransientError("x", delay=42)
    assert decide(error, 1, PLAIN) == RetryDecision(42, counts_attempt=True)
    assert decide(error, 5, PLAIN).gives_up


def test_delay_of_zero_is_a_delay() -> None:
    assert decide(TransientError("x", delay=0.0), 1, PLAIN) == RetryDecision(0.0)


@pytest.mark.parametrize(
    ("error", "delays"),
    [
        (TimeoutError(), [60, 120, 240, 480, 960, None]),
        (ConnectionError(), [10, 30, 60, 300, 900, None]),
        (OSError(), [5, 15, 30, None, None, None]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_explicit_delays_are_exact_and_then_end(error: Exception, delays: list[float | None]) -> None:
    assert [decide(error, n, MATERIALS, _never).delay for n in range(1, 7)] == delays


def test_explicit_delays_are_not_cut_by_attempts() -> None:
    policy = MATERIALS.model_copy(update={"attempts": 1})
    assert decide(TimeoutError(), 5, policy).delay == 960


@pytest.mark.parametrize(
    ("error", "delay"),
    [
        (ConnectionResetError(), 10),  # child of ConnectionError, itself a child of OSError
        (FileNotFoundError(), 5),  # child of OSError only
        (TimeoutError(), 60),  # a child of OSError with a rule of its own
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_rule_of_the_nearest_class_wins(error: Exception, delay: float) -> None:
    assert decide(error, 1, MATERIALS).delay == delay


def test_rule_for_exception_covers_everything_without_a_nearer_rule() -> None:
    policy = Retry(errors={"Exception": ErrorRetry(delays_seconds=(7,))})
    assert decide(ValueError(), 1, policy) == RetryDecision(7)
    assert decide(ValueError(), 2, policy).gives_up


@pytest.mark.parametrize("attempt", [1, 3, 10**6])
@pytest.mark.parametrize("error_class", [RateLimitError, StrictRateLimitError])
def test_unlimited_waits_as_long_as_the_server_asks_and_never_ends(
    attempt: int, error_class: type[RateLimitError]
) -> None:
    error = error_class("slow down", delay=37.5)
    assert decide(error, attempt, MATERIALS, _never) == RetryDecision(37.5, counts_attempt=False)


def test_unlimited_uses_its_own_delay_when_the_server_names_none() -> None:
    decision = decide(RateLimitError("slow down"), 9, MATERIALS)
    assert decision == RetryDecision(20, counts_attempt=False)


def test_unlimited_covers_errors_that_know_no_delay() -> None:
    policy = Retry(errors={"ValueError": ErrorRetry(unlimited=True, delay_seconds=3)})
    assert decide(ValueError(), 50, policy) == RetryDecision(3, counts_attempt=False)


@pytest.mark.parametrize("attempt", [1, 5, 10**6])
def test_wait_somebody_asked_for_never_exhausts_the_attempts(attempt: int) -> None:
    error = TransientError("breaker open", delay=5, counts_attempt=False)
    assert decide(error, attempt, PLAIN) == RetryDecision(5, counts_attempt=False)


def test_uncounted_wait_without_a_delay_uses_the_policy_or_the_rule() -> None:
    error = RateLimitError("slow down", counts_attempt=False)
    assert decide(error, 1, Retry(delay_seconds=4)) == RetryDecision(4, counts_attempt=False)
    assert decide(error, 1, MATERIALS) == RetryDecision(20, counts_attempt=False)


def test_uncounted_wait_does_not_use_up_explicit_delays() -> None:
    policy = Retry(errors={"TransientError": ErrorRetry(delays_seconds=(1,))})
    assert decide(TransientError("x"), 2, policy).gives_up
    assert decide(TransientError("x", delay=9, counts_attempt=False), 2, policy).delay == 9


def test_decision_is_pure() -> None:
    policy = Retry(jitter=0.5)
    first, second = (decide(TransientError("x"), 2, policy, lambda: 0.3) for _ in range(2))
    assert first == second and not first.gives_up
