"""The guard on both databases: what one replica learns of a service, the others heed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from docproc.apps.orchestrator.resilience import breakers, known_answers, modes, statistics
from docproc.apps.orchestrator.resilience.breaker import BreakerState
from docproc.apps.orchestrator.resilience.calls import (
    PRIMARY,
    SECONDARY,
    Action,
    Call,
    Decision,
    Next,
    Ticket,
    Verdict,
)
from docproc.apps.orchestrator.resilience.degradation import Degradation
from docproc.apps.orchestrator.resilience.failures import Failure, FailureClass, FailureKind
from docproc.apps.orchestrator.resilience.guard import Guard
from docproc.apps.orchestrator.resilience.levels import BREAKERS, BreakerPolicy, ServiceLevel, ServicePolicy
from docproc.apps.orchestrator.resilience.tables import CallStatistics, KnownAnswer
from docproc.apps.orchestrator.resilience.timeouts import Facts
from docproc.engine.message import utc_now
from docproc.engine.store.session import Store
from docproc.engine.store.tables import Request

DOWN = Failure(FailureKind.STATUS, 503)


def quick(level: ServiceLevel, **values: Any) -> ServicePolicy:
    """A service whose breaker does in tenths of a second what its level does in seconds."""
    usual = BREAKERS[level]
    breaker = BreakerPolicy(usual.opens_at, usual.window, 0.4, 0.2, usual.fallback)
    return ServicePolicy(f"{level}-service", level, breaker=breaker, **values)


CRITICAL = quick(ServiceLevel.CRITICAL)
STANDARD = quick(ServiceLevel.STANDARD)
OPTIONAL = quick(ServiceLevel.NON_CRITICAL)


@pytest.fixture
async def guards(store: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Guard, Guard]]:
    """Two replicas, each with its own view of the database."""
    monkeypatch.setattr(breakers, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(modes, "LOOK_SECONDS", 0.05)
    other = Store(store.url.render_as_string(hide_password=False))
    yield Guard(store), Guard(other)
    await other.close()


def call(policy: ServicePolicy, **values: Any) -> Call:
    return Call(**{"policy": policy, "tenant_id": "default", "type": "tool.execute", **values})


def ticket_of(decision: Decision) -> Ticket:
    assert decision.action is Action.CALL
    assert decision.ticket is not None
    return Ticket.of(decision.ticket.as_dict())  # as it was kept with the open call


async def fail(guard: Guard, policy: ServicePolicy, failure: Failure = DOWN, **values: Any) -> Verdict:
    decision = await guard.before_call(call(policy, **values))
    return await guard.after_call(ticket_of(decision), policy, seconds=0.01, failure=failure)


async def fail_until_open(guard: Guard, policy: ServicePolicy) -> None:
    for _ in range(policy.breaker_policy.window):
        if not await guard.breakers.is_away(policy):
            await fail(guard, policy)
    assert await guard.breakers.is_away(policy)


async def until(guard: Guard, policy: ServicePolicy, wanted: Action) -> Decision:
    """Asks until the guard decides so; each time is one call that somebody wanted."""
    async with asyncio.timeout(10):
        while (decision := await guard.before_call(call(policy))).action is not wanted:
            await asyncio.sleep(0.02)
    return decision


async def test_what_one_replica_learns_the_other_heeds(guards: tuple[Guard, Guard]) -> None:
    one, other = guards
    await fail_until_open(one, STANDARD)
    decision = await until(other, STANDARD, Action.ANSWER)
    assert decision.answer == {"degraded": True, "unavailable": "standard-service"}
    assert decision.degradation is not None
    assert decision.degradation["reason"] == "breaker_open"


async def test_a_probe_goes_out_once_in_all_replicas_and_closes_what_it_passes(
    guards: tuple[Guard, Guard],
) -> None:
    one, other = guards
    await fail_until_open(one, STANDARD)
    probe = await until(other, STANDARD, Action.CALL)
    assert ticket_of(probe).is_probe
    # As long as the probe is under way, and the next is not due, nobody else calls.
    assert (await one.before_call(call(STANDARD))).action is Action.ANSWER
    await other.after_call(ticket_of(probe), STANDARD, seconds=0.01)
    assert not ticket_of(await until(one, STANDARD, Action.CALL)).is_probe


async def test_a_probe_that_fails_opens_again(guards: tuple[Guard, Guard]) -> None:
    one, _ = guards
    await fail_until_open(one, STANDARD)
    probe = await until(one, STANDARD, Action.CALL)
    verdict = await one.after_call(ticket_of(probe), STANDARD, seconds=0.01, failure=DOWN)
    assert verdict.next is Next.ANSWER  # whose call was the probe is not left waiting
    [known] = await one.breakers.all()
    assert (known.breaker.state, known.breaker.generation) == (BreakerState.OPEN, 2)


async def test_a_critical_service_is_answered_for_from_its_last_good_answers(
    guards: tuple[Guard, Guard], store: Store
) -> None:
    one, other = guards
    request_id = await _request(store)
    asked = call(CRITICAL, payload={"a": 1, "b": 2})
    ticket = ticket_of(await one.before_call(asked))
    await one.after_call(ticket, CRITICAL, seconds=0.01, answer={"sum": 3}, request_id=request_id)
    await one.flush()
    await fail_until_open(one, CRITICAL)
    await until(other, CRITICAL, Action.ANSWER)
    same = await other.before_call(replace(asked, payload={"b": 2, "a": 1}))
    assert (same.answer, (same.degradation or {})["fallback"]) == ({"sum": 3}, "cached")
    assert (same.degradation or {})["level"] == "reduced"
    stranger = await other.before_call(replace(asked, tenant_id="acme"))
    assert (stranger.degradation or {})["fallback"] == "standard"


async def test_only_so_many_answers_are_kept_and_none_of_erased_requests(
    guards: tuple[Guard, Guard], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = guards
    monkeypatch.setattr(known_answers, "MOST_WAITING", 3)
    monkeypatch.setattr(known_answers, "MOST_KEPT", 2)
    request_id = await _request(store)
    for number in range(5):
        one.answers.remember("default", f"question {number}", "s", {"answer": number}, request_id)
        await asyncio.sleep(0.002)  # their moments differ
    one.answers.remember("default", "huge", "s", {"answer": "x" * known_answers.LARGEST_BYTES}, request_id)
    one.answers.remember("default", "of nobody", "s", {}, uuid4())
    await one.flush()
    async with store.writing() as session:
        kept = select(KnownAnswer.question).order_by(KnownAnswer.question)
        assert list(await session.scalars(kept)) == ["question 3", "question 4"]
        await known_answers.forget(session)
        assert list(await session.scalars(kept)) == ["question 3", "question 4"]
        monkeypatch.setattr(known_answers, "MOST_KEPT", 1)
        await known_answers.forget(session)
        assert list(await session.scalars(kept)) == ["question 4"]


async def test_a_call_of_a_non_critical_service_waits_or_is_cancelled(guards: tuple[Guard, Guard]) -> None:
    one, _ = guards
    await fail_until_open(one, OPTIONAL)
    later = await one.before_call(call(OPTIONAL))
    assert later.action is Action.POSTPONE
    assert later.delay_seconds == pytest.approx(0.4, abs=0.2)
    soon = utc_now() + timedelta(seconds=later.delay_seconds / 2)
    assert (await one.before_call(call(OPTIONAL, expires_at=soon))).action is Action.CANCEL
    cancels = replace(OPTIONAL, when_open="cancel")
    assert (await one.before_call(call(cancels))).action is Action.CANCEL


async def test_calls_go_to_the_second_endpoint_until_the_first_ones_probe_passes(
    guards: tuple[Guard, Guard],
) -> None:
    one, other = guards
    policy = replace(STANDARD, has_second=True)
    for _ in range(policy.breaker_policy.window):
        verdict = await fail(one, policy, priority=0)
    assert verdict.next is Next.RETRY  # there is somebody else to ask
    assert (await one.before_call(call(policy))).endpoint == SECONDARY
    assert await one.degradation() is Degradation.FULL
    async with asyncio.timeout(10):
        while (decision := await other.before_call(call(policy))).endpoint != PRIMARY:
            await other.after_call(ticket_of(decision), policy, seconds=0.01)
            await asyncio.sleep(0.02)
    assert ticket_of(decision).is_probe
    await other.after_call(ticket_of(decision), policy, seconds=0.01)
    async with asyncio.timeout(10):
        while (await one.before_call(call(policy))).endpoint != PRIMARY:
            await asyncio.sleep(0.02)


async def test_an_alert_may_open_a_breaker(guards: tuple[Guard, Guard]) -> None:
    one, other = guards
    policy = replace(STANDARD, has_second=True)
    await one.breakers.trip(policy, reason="alert service_down")
    async with asyncio.timeout(10):
        while (await other.before_call(call(policy))).endpoint != SECONDARY:
            await asyncio.sleep(0.02)


async def test_refusals_leave_the_breaker_closed(guards: tuple[Guard, Guard]) -> None:
    one, _ = guards
    refusal = Failure(FailureKind.STATUS, 422)
    for _ in range(2 * STANDARD.breaker_policy.window):
        verdict = await fail(one, STANDARD, refusal)
        assert (verdict.next, verdict.failure_class) == (Next.FAIL, FailureClass.VALIDATION)
    assert not await one.breakers.is_away(STANDARD)


async def test_a_fault_of_our_own_is_tried_once_more(guards: tuple[Guard, Guard]) -> None:
    one, _ = guards
    fault = Failure(FailureKind.INTERNAL)
    assert (await fail(one, STANDARD, fault, priority=0, attempt=1)).next is Next.RETRY
    assert (await fail(one, STANDARD, fault, priority=0, attempt=2)).next is Next.FAIL


async def test_a_service_that_asks_for_a_pause_costs_no_try(guards: tuple[Guard, Guard]) -> None:
    one, _ = guards
    busy = Failure(FailureKind.STATUS, 429, retry_after_seconds=7)
    verdict = await fail(one, STANDARD, busy, attempt=99)
    assert (verdict.next, verdict.delay_seconds, verdict.counts_attempt) == (Next.RETRY, 7, False)


async def test_who_keeps_making_mistakes_waits_for_the_next_minute(guards: tuple[Guard, Guard]) -> None:
    one, other = guards
    one.limits.most_per_minute = other.limits.most_per_minute = 3
    missing = Failure(FailureKind.STATUS, 404)
    while (decision := await one.before_call(call(STANDARD, tenant_id="acme"))).action is Action.CALL:
        await one.after_call(ticket_of(decision), STANDARD, seconds=0.01, failure=missing)
    assert (decision.action, decision.reason) == (Action.POSTPONE, "too_many_client_errors")
    assert 0 < decision.delay_seconds <= 60
    assert (await one.before_call(call(STANDARD))).action is Action.CALL  # another tenant


async def test_degradation_drops_services_by_their_level(guards: tuple[Guard, Guard], store: Store) -> None:
    one, other = guards
    async with store.writing() as session:
        await modes.set_degradation(session, Degradation.MINIMAL, "maintenance")
    assert await one.degradation() is Degradation.MINIMAL
    assert (await other.before_call(call(CRITICAL))).action is Action.CALL
    standard = await other.before_call(call(STANDARD))
    assert (standard.action, standard.reason) == (Action.ANSWER, "degraded")
    assert standard.degradation == {
        "level": "minimal",
        "service": "standard-service",
        "reason": "degraded",
        "fallback": "standard",
        "dropped": ["non_critical", "standard"],
    }
    assert (await other.before_call(call(OPTIONAL))).action is Action.CANCEL
    async with store.writing() as session:
        await modes.set_degradation(session, Degradation.FULL, "")
    await until(other, STANDARD, Action.CALL)


async def test_two_critical_services_away_leave_what_is_critical(guards: tuple[Guard, Guard]) -> None:
    one, _ = guards
    await fail_until_open(one, CRITICAL)
    assert await one.degradation() is Degradation.REDUCED
    await fail_until_open(one, replace(CRITICAL, name="another"))
    assert await one.degradation() is Degradation.MINIMAL


async def test_statistics_of_several_replicas_add_up(guards: tuple[Guard, Guard], store: Store) -> None:
    for guard in guards:
        for _ in range(3):
            await fail(guard, STANDARD)
        ticket = ticket_of(await guard.before_call(call(STANDARD)))
        await guard.after_call(ticket, STANDARD, seconds=4.0)
        await guard.flush()
    async with store.reading() as session:
        rows = list(await session.scalars(select(CallStatistics)))
        found = await statistics.usual(session, STANDARD.name, "tool.execute", utc_now() - timedelta(hours=1))
    assert (sum(row.calls for row in rows), sum(row.failures for row in rows)) == (8, 6)
    assert sum(row.retries for row in rows) == 6
    assert max(row.longest_seconds for row in rows) == 4.0
    assert found is not None
    assert (found.calls, found.p95_seconds) == (8, 4.0)


async def test_time_limits_follow_what_calls_took(guards: tuple[Guard, Guard]) -> None:
    one, other = guards
    asked = call(STANDARD, type="agent.execute", priority=3)
    assert (await one.before_call(asked)).timeout_seconds == 30
    ticket = ticket_of(await one.before_call(asked))
    for _ in range(40):
        await one.after_call(ticket, STANDARD, seconds=50.0)
    await one.flush()
    assert (await other.before_call(asked)).timeout_seconds == 75  # 95 of 100 took 50 s
    for asked_ms, seconds in ((2_000, 2), (900_000, 120)):
        facts = Facts(asked_ms=asked_ms)
        assert (await other.before_call(replace(asked, facts=facts))).timeout_seconds == seconds
    soon = utc_now() + timedelta(seconds=5)
    assert (await other.before_call(replace(asked, expires_at=soon))).timeout_seconds <= 5
    late = utc_now() - timedelta(seconds=1)
    assert (await other.before_call(replace(asked, expires_at=late))).action is Action.CANCEL


async def test_the_guard_writes_by_itself(guards: tuple[Guard, Guard], store: Store) -> None:
    one, _ = guards
    await one.start()
    ticket = ticket_of(await one.before_call(call(STANDARD)))
    await one.after_call(ticket, STANDARD, seconds=0.5)
    await one.stop()
    async with store.reading() as session:
        assert [row.calls for row in await session.scalars(select(CallStatistics))] == [1]


async def _request(store: Store) -> UUID:
    request_id = uuid4()
    async with store.writing() as session:
        session.add(Request(id=request_id, workflow_name="w", status="received"))
    return request_id
