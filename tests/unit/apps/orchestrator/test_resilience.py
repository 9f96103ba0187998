"""Time limits, retries, eligibility, breakers and degradation: the specification's tables, line by line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from docproc.apps.orchestrator.resilience import breaker as rules
from docproc.apps.orchestrator.resilience.breaker import Breaker, BreakerState
from docproc.apps.orchestrator.resilience.breakers import Known, away
from docproc.apps.orchestrator.resilience.degradation import Away, Degradation, drops, level_of
from docproc.apps.orchestrator.resilience.failures import (
    Failure,
    FailureClass,
    FailureKind,
    classify,
    counts_against_service,
    may_retry,
)
from docproc.apps.orchestrator.resilience.levels import BREAKERS, BreakerPolicy, ServiceLevel
from docproc.apps.orchestrator.resilience.retries import RETRIES, band, criticality_of, next_delay
from docproc.apps.orchestrator.resilience.statistics import share_below
from docproc.apps.orchestrator.resilience.timeouts import (
    TIME_LIMITS,
    Facts,
    Operation,
    operation_of,
    timeout_seconds,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("operation", "facts", "seconds"),
    [
        (Operation.BASIC, Facts(), 10),
        (Operation.BASIC, Facts(tenant_factor=0.5), 5),
        (Operation.BASIC, Facts(tenant_factor=2), 20),
        (Operation.BASIC, Facts(tenant_factor=9), 20),
        (Operation.BASIC, Facts(tenant_factor=2, load=2), 30),
        (Operation.AGENT, Facts(), 30),
        (Operation.AGENT, Facts(usual_seconds=60, known_calls=100), 90),
        (Operation.AGENT, Facts(usual_seconds=60, known_calls=3), 30),
        (Operation.AGENT, Facts(usual_seconds=2, known_calls=100), 30),
        (Operation.AGENT, Facts(usual_seconds=110, known_calls=100), 120),
        (Operation.AGENT, Facts(load=1.5), 45),
        (Operation.WORKFLOW, Facts(), 60),
        (Operation.WORKFLOW, Facts(steps=3), 180),
        (Operation.WORKFLOW, Facts(steps=40), 300),
        (Operation.SESSION, Facts(), 1800),
        (Operation.SESSION, Facts(session_seconds=3600), 3600),
        (Operation.SESSION, Facts(session_seconds=9999), 7200),
        (Operation.BASIC, Facts(asked_ms=1500), 1.5),
        (Operation.BASIC, Facts(asked_ms=90_000), 30),
        (Operation.BASIC, Facts(asked_ms=1), 0.1),
    ],
)
def test_time_limits_follow_the_table(operation: Operation, facts: Facts, seconds: float) -> None:
    assert timeout_seconds(operation, facts) == pytest.approx(seconds)


@given(
    operation=some.sampled_from(list(Operation)),
    factor=some.floats(0, 1e6),
    usual=some.floats(0, 1e6),
    steps=some.integers(0, 10_000),
    load=some.floats(0, 1e6),
    asked=some.none() | some.integers(0, 10**9),
)
def test_no_time_limit_passes_its_maximum(
    operation: Operation, factor: float, usual: float, steps: int, load: float, asked: int | None
) -> None:
    facts = Facts(factor, usual, usual, 1000, steps, load, asked)
    assert 0 < timeout_seconds(operation, facts) <= TIME_LIMITS[operation].max_seconds


def test_the_domain_of_a_type_says_which_operation_it_is() -> None:
    assert operation_of("agent.execute") is Operation.AGENT
    assert operation_of("workflow.start") is Operation.WORKFLOW
    assert operation_of("tool.execute") is operation_of("system.health") is Operation.BASIC


@pytest.mark.parametrize(
    ("priority", "delays"),
    [(0, [0, 0.2, 0.3, 0.45]), (1, [0, 0.2, 0.3, 0.45]), (2, [1, 2]), (3, [1, 2]), (4, [2]), (9, [2])],
)
def test_retries_follow_the_table(priority: int, delays: list[float]) -> None:
    found = [next_delay(priority, attempt, lambda: 0.5) for attempt in range(1, len(delays) + 2)]
    assert found == [*[pytest.approx(delay) for delay in delays], None]


@pytest.mark.parametrize(("priority", "jitter"), [(0, 0.10), (2, 0.15), (5, 0.05)])
def test_jitter_fills_its_band_and_nothing_beyond(priority: int, jitter: float) -> None:
    policy = RETRIES[criticality_of(priority)]
    attempt = policy.tries - 1
    least, most = band(policy, attempt)
    plain = next_delay(priority, attempt, lambda: 0.5)
    assert plain is not None
    assert least == pytest.approx(plain * (1 - jitter))
    assert most == pytest.approx(plain * (1 + jitter))
    assert next_delay(priority, attempt, lambda: 0.0) == pytest.approx(least)
    assert next_delay(priority, attempt, lambda: 1.0) == pytest.approx(most)


def _status(number: int) -> Failure:
    return Failure(FailureKind.STATUS, number)


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (Failure(FailureKind.CONNECT_TIMEOUT), FailureClass.TRANSIENT),
        (Failure(FailureKind.RESPONSE_TIMEOUT), FailureClass.TRANSIENT),
        (Failure(FailureKind.NETWORK), FailureClass.TRANSIENT),
        (_status(502), FailureClass.SERVICE),
        (_status(503), FailureClass.SERVICE),
        (_status(504), FailureClass.SERVICE),
        (_status(409), FailureClass.CONFLICT),
        (_status(429), FailureClass.BUSY),
        (_status(500), FailureClass.SYSTEM),
        (Failure(FailureKind.INTERNAL), FailureClass.SYSTEM),
    ],
)
def test_what_may_pass_is_tried_again(failure: Failure, expected: FailureClass) -> None:
    assert classify(failure) is expected
    assert may_retry(expected)


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (_status(400), FailureClass.VALIDATION),
        (_status(422), FailureClass.VALIDATION),
        (_status(401), FailureClass.CLIENT),
        (_status(403), FailureClass.CLIENT),
        (_status(404), FailureClass.CLIENT),
        (_status(410), FailureClass.CLIENT),
        (Failure(FailureKind.BUSINESS), FailureClass.BUSINESS),
        (Failure(FailureKind.VALIDATION), FailureClass.VALIDATION),
    ],
)
def test_what_stays_wrong_is_never_tried_again(failure: Failure, expected: FailureClass) -> None:
    assert classify(failure) is expected
    assert not may_retry(expected)
    assert not counts_against_service(expected)


@pytest.mark.parametrize(
    ("level", "opens_at", "window", "reset", "probe"),
    [
        (ServiceLevel.CRITICAL, 3, 10, 15, 5),
        (ServiceLevel.STANDARD, 10, 20, 30, 10),
        (ServiceLevel.NON_CRITICAL, 21, 30, 60, 20),
    ],
)
def test_a_breaker_opens_at_its_share_of_its_window(
    level: ServiceLevel, opens_at: int, window: int, reset: float, probe: float
) -> None:
    policy = BREAKERS[level]
    fewer = [True] * (window - opens_at + 1) + [False] * (opens_at - 1)
    enough = [True] * (window - opens_at) + [False] * opens_at
    assert rules.record(Breaker(), fewer, policy, NOW).is_closed
    opened = rules.record(Breaker(), enough, policy, NOW)
    assert opened.state is BreakerState.OPEN
    assert opened.probe_at == NOW + timedelta(seconds=reset)
    assert not rules.probe_is_due(opened, NOW + timedelta(seconds=reset - 0.1))
    half = rules.probing(opened, policy, NOW + timedelta(seconds=reset))
    assert half.state is BreakerState.HALF_OPEN
    assert half.probe_at == NOW + timedelta(seconds=reset + probe)


def test_a_breaker_waits_for_a_full_window() -> None:
    policy = BREAKERS[ServiceLevel.CRITICAL]
    assert rules.record(Breaker(), [False] * 9, policy, NOW).is_closed
    assert not rules.record(Breaker(), [False] * 10, policy, NOW).is_closed


@given(outcomes=some.lists(some.booleans(), max_size=80), cut=some.integers(0, 80))
def test_it_does_not_matter_how_outcomes_are_gathered(outcomes: list[bool], cut: int) -> None:
    policy = BREAKERS[ServiceLevel.CRITICAL]
    at_once = rules.record(Breaker(), outcomes, policy, NOW)
    first = rules.record(Breaker(), outcomes[:cut], policy, NOW)
    assert rules.record(first, outcomes[cut:], policy, NOW) == at_once


def test_a_probe_that_passes_closes_and_one_that_fails_opens_again() -> None:
    policy = BREAKERS[ServiceLevel.CRITICAL]
    half = rules.probing(rules.opened(Breaker(), policy, NOW, "failures"), policy, NOW)
    assert rules.after_probe(half, True, half.generation, policy, NOW).is_closed
    again = rules.after_probe(half, False, half.generation, policy, NOW)
    assert (again.state, again.generation, again.reason) == (BreakerState.OPEN, 2, "probe")


def test_a_probe_of_an_earlier_opening_changes_nothing() -> None:
    policy = BREAKERS[ServiceLevel.CRITICAL]
    first = rules.opened(Breaker(), policy, NOW, "failures")
    second = rules.opened(first, policy, NOW, "probe")
    assert rules.after_probe(second, True, first.generation, policy, NOW) == second


def test_late_answers_neither_close_nor_open_what_is_open() -> None:
    policy = BREAKERS[ServiceLevel.CRITICAL]
    opened = rules.opened(Breaker(), policy, NOW, "failures")
    assert rules.record(opened, [True] * 50 + [False] * 50, policy, NOW) == opened


def test_several_probes_may_be_asked_for() -> None:
    policy = BreakerPolicy(0.3, 10, 15, 5, BREAKERS[ServiceLevel.CRITICAL].fallback, probes_to_close=2)
    half = rules.probing(rules.opened(Breaker(), policy, NOW, "failures"), policy, NOW)
    once = rules.after_probe(half, True, half.generation, policy, NOW)
    assert once.state is BreakerState.HALF_OPEN
    assert rules.after_probe(once, True, half.generation, policy, NOW).is_closed


def test_a_service_that_nobody_asks_for_lowers_nothing_for_others() -> None:
    policy = BREAKERS[ServiceLevel.CRITICAL]
    opened = Known(
        "s", "primary", ServiceLevel.CRITICAL, False, rules.opened(Breaker(), policy, NOW, "failures")
    )
    due = NOW + timedelta(seconds=policy.reset_seconds)
    assert [one.service for one in away([opened], due + timedelta(seconds=59))] == ["s"]
    assert away([opened], due + timedelta(seconds=60)) == []


def _away(*levels: ServiceLevel) -> list[Away]:
    return [Away(f"service {number}", level) for number, level in enumerate(levels)]


@pytest.mark.parametrize(
    ("away", "expected"),
    [
        ((), Degradation.FULL),
        ((ServiceLevel.NON_CRITICAL,) * 3, Degradation.FULL),
        ((ServiceLevel.STANDARD,), Degradation.FULL),
        ((ServiceLevel.STANDARD,) * 2, Degradation.REDUCED),
        ((ServiceLevel.CRITICAL,), Degradation.REDUCED),
        ((ServiceLevel.CRITICAL,) * 2, Degradation.MINIMAL),
    ],
)
def test_degradation_grows_with_what_is_away(away: tuple[ServiceLevel, ...], expected: Degradation) -> None:
    assert level_of(_away(*away)) is expected


def test_each_level_drops_more_and_none_drops_critical_services() -> None:
    dropped = [{level for level in ServiceLevel if drops(one, level)} for one in Degradation]
    assert dropped == [
        set(),
        {ServiceLevel.NON_CRITICAL},
        {ServiceLevel.NON_CRITICAL, ServiceLevel.STANDARD},
    ]


def test_the_slow_end_of_a_distribution() -> None:
    took = [0] * 11
    took[0], took[4] = 94, 6  # 94 below 0.1 s, six between 1 and 2 s
    assert share_below(0.95, took, 1.7) == 1.7
    assert share_below(0.9, took, 1.7) == 0.1
    took = [0] * 11
    took[10] = 10
    assert share_below(0.95, took, 400.0) == 400.0
