"""Work: one delivered message on its way through the middleware to the handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Self

from docproc.engine.component import BACKOFFICE, Emission
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.running.sending import Handled
from docproc.engine.store.events import Event
from docproc.engine.store.fan_in import Join
from docproc.engine.transport import Delivery
from docproc.engine.workflow.plan import Step

if TYPE_CHECKING:
    from docproc.engine.component import BaseComponent
    from docproc.engine.running.handler import Handler
    from docproc.engine.running.outbox import Outbox
    from docproc.engine.running.relay import Relay
    from docproc.engine.transport import Transport


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
    # Another system's: no row stands for it, but a note in the inbox (foreign.py).
    is_foreign: bool = False
    started_at: datetime = field(default_factory=utc_now)
    finished_at: datetime | None = None
    outcome: Outcome | None = None
    emissions: Sequence[Emission] = ()
    # The join that it completed, where its stage is one.
    fired: Join | None = None
    error: Exception | None = None
    # How many messages share its transaction.
    together: int = 1
    # What applications say of it, once they were asked.
    _said: dict[str, Any] | None = None

    @property
    def timeout_seconds(self) -> float | None:
        return self.step.stage.timeout_seconds if self.step else None

    @property
    def handled(self) -> Handled:
        return Handled(self.message, self.emissions, self.fired)

    @property
    def went_to_people(self) -> bool:
        return any(target == BACKOFFICE for target, _ in self.emissions)

    def described(self, log_fields: LogFields) -> dict[str, Any]:
        """What applications say of it, by the payload of the first message emitted; they are asked once."""
        if self._said is None:
            self._said = log_fields(self.message, self.emissions[0][1].payload if self.emissions else {})
        return self._said

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


LogFields = Callable[[PipelineMessage, Mapping[str, Any]], dict[str, Any]]
Handle = Callable[[Sequence[Work]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class MiddlewareContext:
    """What middleware is given at construction: the runner it belongs to."""

    component: BaseComponent
    transport: Transport
    outbox: Outbox
    relay: Relay
    handler: Handler
    # What applications add to a log line, by the message and the payload of the first one emitted.
    log_fields: LogFields


class Middleware:
    """One policy around the handling of messages; the default hands on and does nothing.

    Packages offer their own by the entry point group `docproc.middleware`. It is called with one message, or
    with a group that is handled in one transaction.
    """

    # Where it stands among the others: a smaller number is further out. What is raised by middleware inside
    # `retrying` (400) is a failure of the message; outside of it, it ends the worker.
    place: ClassVar[int] = 450

    @classmethod
    def create(cls, context: MiddlewareContext) -> Self:
        """Called once for each component in a process."""
        return cls()

    async def __call__(self, works: Sequence[Work], handle: Handle) -> None:
        await handle(works)


@dataclass(frozen=True, slots=True)
class Policies:
    """How messages are handled in a process, whatever the component: outermost middleware first."""

    middleware: Sequence[type[Middleware]]
    log_fields: LogFields


def wrap(handle: Handle, middleware: Sequence[Middleware]) -> Handle:
    """The handler inside all middleware, the first one outermost."""
    for one in reversed(middleware):
        handle = _bind(one, handle)
    return handle


def _bind(one: Middleware, handle: Handle) -> Handle:
    async def wrapped(works: Sequence[Work]) -> None:
        await one(works, handle)

    return wrapped
