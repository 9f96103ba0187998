"""The guard: asked before a service is called and told what came of it.

Whoever calls services needs nothing else of this package:

    decision = await guard.before_call(call)          # holding no session
    if decision.action is Action.CALL:
        … send the envelope to decision.endpoint, keep decision.ticket with the open call …
    verdict = await guard.after_call(ticket, policy, seconds=…, failure=…)

The ticket is plain data, kept where the open call is kept: any replica may receive the answer.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.apps.orchestrator.resilience import fallbacks, known_answers, retries, statistics
from docproc.apps.orchestrator.resilience.breakers import Admission, Breakers
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
from docproc.apps.orchestrator.resilience.degradation import Degradation, drops, level_of
from docproc.apps.orchestrator.resilience.failures import (
    Failure,
    FailureClass,
    classify,
    counts_against_service,
    may_retry,
)
from docproc.apps.orchestrator.resilience.known_answers import KnownAnswers
from docproc.apps.orchestrator.resilience.levels import Fallback, ServicePolicy
from docproc.apps.orchestrator.resilience.limits import Limits
from docproc.apps.orchestrator.resilience.measured import CALL_SECONDS, CALLS, RETRIES
from docproc.apps.orchestrator.resilience.modes import Modes
from docproc.apps.orchestrator.resilience.statistics import Called, Statistics
from docproc.apps.orchestrator.resilience.timeouts import operation_of, timeout_seconds
from docproc.apps.orchestrator.resilience.usual import History
from docproc.engine.ending import end
from docproc.engine.message import utc_now
from docproc.engine.store.session import Store
from docproc.errors import DocProcError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

FLUSH_SECONDS = 1.0
SWEEP_SECONDS = 60.0
# A fault of our own is tried once more, whatever the message's priority: enough for a slip, no hammering.
SYSTEM_TRIES = 2
# Where a service asks for a pause and does not say how long.
BUSY_SECONDS = 1.0


class Guard:
    """One per process: `start` it before the first call and `stop` it after the last."""

    def __init__(self, store: Store, chance: Callable[[], float] = random.random) -> None:
        self.store = store
        self.breakers = Breakers(store)
        self.statistics = Statistics(store)
        self.history = History(store)
        self.limits = Limits(store)
        self.modes = Modes(store)
        self.answers = KnownAnswers(store)
        self._chance = chance
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._keep_writing(), name="resilience")

    async def stop(self) -> None:
        if self._task is not None:
            await end([self._task])
        with suppress(SQLAlchemyError, OSError, DocProcError):  # it is statistics
            await self.flush()

    async def flush(self) -> None:
        """Write what was only counted so far."""
        await self.breakers.flush()
        await self.statistics.flush()
        await self.answers.flush()

    async def degradation(self) -> Degradation:
        """What is still done in the whole deployment; somebody may have set more, never less."""
        found = level_of(await self.breakers.away())
        return max(found, await self.modes.degradation(), key=lambda one: one.rank)

    async def before_call(self, call: Call) -> Decision:
        """Whether and where to call. The caller holds no session: the database may be asked."""
        policy = call.policy
        if call.expires_at is not None and call.expires_at <= utc_now():
            return Decision(Action.CANCEL, reason="expired")
        if wait := await self.limits.wait_seconds(policy.name, call.tenant_id):
            return fallbacks.postponed(call, wait, "too_many_client_errors", None)
        level = await self.degradation()
        if drops(level, policy.level):
            return await self._instead(call, level, "degraded", policy.breaker_policy.reset_seconds)
        first = await self.breakers.admit(policy)
        if first.is_allowed:
            return await self._called(call, PRIMARY, first)
        if policy.has_second:
            second = await self.breakers.admit(policy, SECONDARY)
            if second.is_allowed:
                return await self._called(call, SECONDARY, second)
        return await self._instead(call, level, "breaker_open", first.wait_seconds)

    async def after_call(
        self,
        ticket: Ticket,
        policy: ServicePolicy,
        *,
        seconds: float,
        failure: Failure | None = None,
        answer: Any = None,
        request_id: UUID | None = None,
    ) -> Verdict:
        """Count the call and say what follows. Once for each ticket: an answer that came twice is one call.

        A good answer of a critical service is remembered, for when the service is away. The caller holds no
        session.
        """
        found = classify(failure) if failure else None
        self._count(ticket, found, seconds)
        passed = found is None or not counts_against_service(found)
        if ticket.is_probe:
            await self.breakers.probed(policy, ticket.endpoint, ticket.generation, passed=passed)
        else:
            await self.breakers.ended(policy, ticket.endpoint, passed=passed)
        if failure is not None and found is not None:
            return await self._after_failure(ticket, policy, failure, found)
        if policy.breaker_policy.fallback is Fallback.CACHED and request_id is not None:
            self.answers.remember(ticket.tenant_id, ticket.question, ticket.service, answer, request_id)
        return Verdict(Next.DONE)

    async def _after_failure(
        self, ticket: Ticket, policy: ServicePolicy, failure: Failure, found: FailureClass
    ) -> Verdict:
        if found in (FailureClass.CLIENT, FailureClass.SYSTEM):
            _tell(ticket, failure, found)
        if not may_retry(found):
            return Verdict(Next.FAIL, failure_class=found)
        if found is FailureClass.BUSY:
            return Verdict(Next.RETRY, failure.retry_after_seconds or BUSY_SECONDS, False, found)
        if counts_against_service(found) and await self.breakers.is_away(policy):
            return await self._while_away(ticket, policy, found)
        delay = retries.next_delay(ticket.priority, ticket.attempt, self._chance)
        if delay is None or (found is FailureClass.SYSTEM and ticket.attempt >= SYSTEM_TRIES):
            return Verdict(Next.FAIL, failure_class=found)
        self.statistics.of(_called(ticket)).retries += 1
        RETRIES.labels(ticket.service).inc()
        return Verdict(Next.RETRY, delay, True, found)

    async def _while_away(self, ticket: Ticket, policy: ServicePolicy, found: FailureClass) -> Verdict:
        """The breaker opened, with this call or before: no retry, the fallback at once."""
        if policy.breaker_policy.fallback is Fallback.POSTPONED:
            if policy.when_open == "cancel":
                return Verdict(Next.FAIL, failure_class=found)
            return Verdict(Next.RETRY, await self.breakers.wait_seconds(policy), False, found)
        self.statistics.of(_called(ticket)).fallbacks += 1
        answer, told = await fallbacks.answer_to(
            self.answers, policy, ticket.tenant_id, ticket.question, await self.degradation(), "breaker_open"
        )
        return Verdict(Next.ANSWER, failure_class=found, answer=answer, degradation=told)

    def _count(self, ticket: Ticket, found: FailureClass | None, seconds: float) -> None:
        tally = self.statistics.of(_called(ticket))
        tally.ended(seconds)
        if found is not None:
            tally.failures += counts_against_service(found)
            tally.client_errors += found is FailureClass.CLIENT
            tally.internal_errors += found is FailureClass.SYSTEM
        if found is FailureClass.CLIENT:
            self.limits.count(ticket.service, ticket.tenant_id)
        CALLS.labels(ticket.service, ticket.type, str(found or "done")).inc()
        exemplar = {"correlation_id": ticket.correlation_id} if ticket.correlation_id else None
        CALL_SECONDS.labels(ticket.service, ticket.type).observe(seconds, exemplar)

    async def _called(self, call: Call, endpoint: str, admission: Admission) -> Decision:
        ticket = Ticket(
            service=call.policy.name,
            endpoint=endpoint,
            tenant_id=call.tenant_id,
            type=call.type,
            priority=call.priority,
            attempt=call.attempt,
            question=fallbacks.question_of(call),
            correlation_id=call.correlation_id,
            is_probe=admission.is_probe,
            generation=admission.generation,
        )
        return Decision(Action.CALL, await self._limit(call), endpoint, ticket)

    async def _limit(self, call: Call) -> float:
        facts = await self.history.complete(call.policy.name, call.type, call.facts)
        seconds = timeout_seconds(operation_of(call.type), facts)
        if call.expires_at is not None:
            seconds = min(seconds, max(0.0, (call.expires_at - utc_now()).total_seconds()))
        return seconds

    async def _instead(self, call: Call, level: Degradation, reason: str, wait_seconds: float) -> Decision:
        called = Called(call.policy.name, PRIMARY, call.type, call.tenant_id)
        self.statistics.of(called).fallbacks += 1
        return await fallbacks.instead(self.answers, call, level, reason, wait_seconds)

    async def _keep_writing(self) -> None:
        swept_at = time.monotonic()
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            try:
                await self.flush()
                if time.monotonic() - swept_at > SWEEP_SECONDS:
                    swept_at = time.monotonic()
                    await self._sweep()
            except (SQLAlchemyError, OSError, DocProcError) as error:
                log.warning("call_statistics_wait", error=text_for_logs(error))

    async def _sweep(self) -> None:
        async with self.store.writing() as session:
            await statistics.forget(session, utc_now() - statistics.KEPT)
            await known_answers.forget(session)


def _called(ticket: Ticket) -> Called:
    return Called(ticket.service, ticket.endpoint, ticket.type, ticket.tenant_id)


def _tell(ticket: Ticket, failure: Failure, found: FailureClass) -> None:
    facts = {
        "service": ticket.service,
        "type": ticket.type,
        "tenant_id": ticket.tenant_id,
        "correlation_id": ticket.correlation_id,
        "failure": str(found),
        "status": failure.status,
        "code": failure.code,
    }
    if found is FailureClass.SYSTEM:
        log.error("service_call_failed", **facts)
    else:
        log.warning("service_call_failed", **facts)
