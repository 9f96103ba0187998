"""What takes the place of a call that is not made, by the level of its service (§6.1)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from docproc.apps.orchestrator.resilience import known_answers
from docproc.apps.orchestrator.resilience.calls import Action, Call, Decision
from docproc.apps.orchestrator.resilience.degradation import DROPS, Degradation
from docproc.apps.orchestrator.resilience.known_answers import KnownAnswers
from docproc.apps.orchestrator.resilience.levels import Fallback, ServicePolicy
from docproc.engine.message import utc_now

# Nothing is put off for less: a clock that is a little off would have it come back too early.
_LEAST_SECONDS = 0.05


async def instead(
    answers: KnownAnswers, call: Call, level: Degradation, reason: str, wait_seconds: float
) -> Decision:
    """A critical service's last good answer, a standard answer, or later."""
    policy = call.policy
    if policy.breaker_policy.fallback is Fallback.POSTPONED:
        told = _told(policy, level, reason, Fallback.POSTPONED)
        if policy.when_open == "cancel" or level is Degradation.MINIMAL:
            return Decision(Action.CANCEL, reason=reason, degradation=told)
        return postponed(call, wait_seconds, reason, told)
    question = question_of(call)
    answer, told = await answer_to(answers, policy, call.tenant_id, question, level, reason)
    return Decision(Action.ANSWER, answer=answer, reason=reason, degradation=told)


def question_of(call: Call) -> str:
    """What its answer is remembered by; empty where answers are not."""
    if call.policy.breaker_policy.fallback is not Fallback.CACHED:
        return ""
    return known_answers.question_of(call.policy.name, call.type, call.payload)


async def answer_to(
    answers: KnownAnswers,
    policy: ServicePolicy,
    tenant_id: str,
    question: str,
    level: Degradation,
    reason: str,
) -> tuple[Any, dict[str, Any]]:
    """The answer, and what the client is told of it."""
    if policy.breaker_policy.fallback is Fallback.CACHED:
        found = await answers.find(tenant_id, question)
        if found is not None:
            told = _told(policy, level, reason, Fallback.CACHED)
            return found.answer, {**told, "answer_age_seconds": round(found.age_seconds, 1)}
    standard = policy.standard_answer or {"degraded": True, "unavailable": policy.name}
    return dict(standard), _told(policy, level, reason, Fallback.STANDARD)


def postponed(call: Call, seconds: float, reason: str, told: dict[str, Any] | None) -> Decision:
    """Unless what was asked is worth nothing by then."""
    is_late = call.expires_at is not None and utc_now() + timedelta(seconds=seconds) >= call.expires_at
    if is_late:
        return Decision(Action.CANCEL, reason=reason, degradation=told)
    return Decision(
        Action.POSTPONE, delay_seconds=max(seconds, _LEAST_SECONDS), reason=reason, degradation=told
    )


def _told(policy: ServicePolicy, level: Degradation, reason: str, fallback: Fallback) -> dict[str, Any]:
    """What the client is told. A service that is away lowers at least what it would have answered."""
    return {
        "level": str(max(level, Degradation.REDUCED, key=lambda one: one.rank)),
        "service": policy.name,
        "reason": reason,
        "fallback": str(fallback),
        "dropped": sorted(map(str, DROPS[level])),
    }
