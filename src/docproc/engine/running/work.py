"""Work: one delivered message on its way through the middleware to the handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from docproc.engine.component import BACKOFFICE, Emission
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store.events import Event
from docproc.engine.transport import Delivery
from docproc.engine.workflow.plan import Step


class Outcome(StrEnum):
    """How handling a message ended."""

    DONE = "done"
    REPEATED = "repeated"  # handled before, by another delivery: no effects
    RETRY = "retry"
    DEAD = "dead_letter"


@dataclass(slots=True, eq=False)
class Work:
    message: PipelineMessage
    delivery: Delivery
    component: str = ""
    step: Step | None = None
    cursor: int = 0
    started_at: datetime = field(default_factory=utc_now)
    finished_at: datetime | None = None
    outcome: Outcome | None = None
    emissions: Sequence[Emission] = ()
    error: Exception | None = None
    # How many messages share its transaction.
    together: int = 1

    @property
    def timeout_seconds(self) -> float | None:
        return self.step.stage.timeout_seconds if self.step else None

    @property
    def went_to_people(self) -> bool:
        return any(target == BACKOFFICE for target, _ in self.emissions)

    def ended(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.finished_at = utc_now()

    def event(self, worker_id: str, data: dict[str, object] | None = None) -> Event:
        """The one event of a handled message."""
        message = self.message
        finished = self.finished_at or utc_now()
        return Event(
            request_id=message.request_id,
            kind="handled",
            tenant_id=message.tenant_id,
            stage=message.current_stage or self.component,
            unit_key=message.unit_key,
            message_id=message.message_id,
            attempt=message.attempt,
            outcome=self.outcome,
            worker_id=worker_id,
            started_at=self.started_at,
            finished_at=finished,
            busy_seconds=(finished - self.started_at).total_seconds() / self.together,
            data=data,
        )


Handle = Callable[[Sequence[Work]], Awaitable[None]]


class Middleware:
    """One policy around the handling of messages; the default hands on and does nothing.

    It is called with one message, or with a group that is handled in one transaction.
    """

    async def __call__(self, works: Sequence[Work], handle: Handle) -> None:
        await handle(works)


def wrap(handle: Handle, middleware: Sequence[Middleware]) -> Handle:
    """The handler inside all middleware, the first one outermost."""
    for one in reversed(middleware):
        handle = _bind(one, handle)
    return handle


def _bind(one: Middleware, handle: Handle) -> Handle:
    async def wrapped(works: Sequence[Work]) -> None:
        await one(works, handle)

    return wrapped
