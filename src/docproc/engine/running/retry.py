"""Whether and when to try again: a pure decision of error and attempt."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from docproc.engine.workflow.definition import ErrorRetry, Retry
from docproc.errors import MessageError, PermanentError, TransientError, UnroutableError


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """Try again after `delay` seconds, or give up when it is None."""

    delay: float | None
    counts_attempt: bool = True

    @property
    def gives_up(self) -> bool:
        return self.delay is None


GIVE_UP = RetryDecision(None)


def decide(
    error: Exception, attempt: int, policy: Retry, chance: Callable[[], float] = random.random
) -> RetryDecision:
    """The decision after the `attempt`-th try failed with `error`; `chance` gives numbers in [0, 1)."""
    if isinstance(error, PermanentError | MessageError | UnroutableError):
        return GIVE_UP
    rule = _rule_for(error, policy)
    asked = error.delay if isinstance(error, TransientError) else None
    if isinstance(error, TransientError) and not error.counts_attempt:
        return RetryDecision(_first(asked, rule.delay_seconds if rule else policy.delay_seconds), False)
    if rule is not None and rule.unlimited:
        return RetryDecision(_first(asked, rule.delay_seconds), False)
    if rule is not None:
        delays = rule.delays_seconds
        return RetryDecision(delays[attempt - 1]) if attempt <= len(delays) else GIVE_UP
    if attempt >= policy.attempts:
        return GIVE_UP
    return RetryDecision(_first(asked, _exponential(attempt, policy, chance)))


def _first(asked: float | None, otherwise: float) -> float:
    return otherwise if asked is None else asked


def _rule_for(error: Exception, policy: Retry) -> ErrorRetry | None:
    """The rule of the nearest class: a rule for a base class covers its children."""
    return next((policy.errors[c.__name__] for c in type(error).__mro__ if c.__name__ in policy.errors), None)


def _exponential(attempt: int, policy: Retry, chance: Callable[[], float]) -> float:
    try:
        plain = min(policy.delay_seconds * policy.factor ** (attempt - 1), policy.max_delay_seconds)
    except OverflowError:  # a long-lived message, or a steep factor: past any maximum
        plain = policy.max_delay_seconds if policy.delay_seconds else 0.0
    return plain * (1 + policy.jitter * (2 * chance() - 1))
