"""When an answer that did not arrive is sent again, and when no more: pure decisions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

GONE = 410
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
# How far a delay may lie from the schedule's, so that what failed together does not return together.
_SPREAD = 0.2


class AttemptOutcome(StrEnum):
    """What became of an attempt."""

    DELIVERED = "delivered"
    RETRY = "retry"
    GIVEN_UP = "given_up"


@dataclass(frozen=True, slots=True)
class Reply:
    """What an attempt met: an HTTP status, delivery by other means, or an error."""

    status: int | None = None
    error: str | None = None
    # What the receiver asked for, in seconds.
    wait_seconds: float | None = None
    # Where there is no HTTP: written, mailed.
    is_delivered: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    outcome: AttemptOutcome
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Schedule:
    """The delay after each failed attempt, the last one for all that follow, until the answer is too old."""

    delays: tuple[float, ...] = (
        1, 5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR,
    )  # fmt: skip
    give_up_seconds: float = 3 * DAY
    longest_wait_seconds: float = 6 * HOUR

    def decide(self, reply: Reply, attempt: int, age_seconds: float, luck: float) -> Decision:
        """`attempt` counts from 1; `luck` is a random number from 0 to 1.

        The last attempt comes when the answer has reached its age: nothing is given up untried.
        """
        if reply.is_delivered or (reply.status is not None and 200 <= reply.status < 300):
            return Decision(AttemptOutcome.DELIVERED)
        if reply.status == GONE or age_seconds >= self.give_up_seconds:
            return Decision(AttemptOutcome.GIVEN_UP)
        planned = self.delays[min(attempt, len(self.delays)) - 1]
        delay = planned * (1 + _SPREAD * (2 * luck - 1))
        asked = min(reply.wait_seconds or 0.0, self.longest_wait_seconds)
        return Decision(AttemptOutcome.RETRY, min(max(delay, asked), self.give_up_seconds - age_seconds))
