"""What a request's clock asks for: a pure decision, carried out by the monitor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from docproc.engine.store.requests import TERMINAL
from docproc.engine.store.tables import Request

# Of the time a request has, the answer may be made this much early, however slow answering has become.
LARGEST_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Due:
    """What to do for a request now, and when to look again (None: never)."""

    warn: bool = False
    escalate: bool = False
    answer: bool = False
    breach: bool = False
    next_check_at: datetime | None = None

    @property
    def needs_answer(self) -> bool:
        """Whether what exists must be put together, as a draft or to be sent."""
        return self.escalate or self.answer


def due_now(request: Request, now: datetime, margin_seconds: float) -> Due:
    """The actions whose moment has come; several at once when the monitor was away."""
    deadline = request.deadline_utc
    if deadline is None or request.status in TERMINAL:
        return Due()
    answer_at = answering_moment(request, margin_seconds)
    # Thresholds near 100 % count before the answer: after it only the deadline itself is left to look at,
    # which is how a later look, by any monitor, knows that the answer was given.
    warn_at = min(request.warn_at or deadline, answer_at)
    escalate_at = min(request.escalate_at or deadline, answer_at)
    ahead = [moment for moment in (warn_at, escalate_at, answer_at, deadline) if moment > now]
    return Due(
        warn=request.warned_at is None and warn_at <= now,
        escalate=request.escalated_at is None and escalate_at <= now,
        answer=answer_at <= now and request.next_check_at != deadline,
        breach=deadline <= now,
        next_check_at=min(ahead) if ahead else None,
    )


def answering_moment(request: Request, margin_seconds: float) -> datetime:
    """Shortly before the deadline: as early as answering takes long, within reason."""
    assert request.deadline_utc is not None  # looked at by the caller
    most = LARGEST_SHARE * (request.sla_seconds or margin_seconds)
    return request.deadline_utc - timedelta(seconds=min(margin_seconds, most))
