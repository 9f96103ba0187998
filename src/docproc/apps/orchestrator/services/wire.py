"""The contract of a wire: it carries envelopes to the queues of services, and their answers back.

The row in `orchestrator_calls` is the call. A wire may lose, repeat or reorder what it carries and nothing
breaks but speed: an envelope that may be lost is published again under the same fencing number, and an answer
that comes twice, or to an older number, has no effect.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Protocol, Self
from uuid import UUID

from docproc.engine.message import PipelineMessage
from docproc.errors import TransportError

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from docproc.engine.store.session import Store
    from docproc.settings import Settings


class WireError(TransportError):
    """Services cannot be reached over the wire now; what was to be sent is sent again later."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """An envelope on its way to a service, with what a wire needs to know of it without reading it."""

    call_id: UUID
    # "agent:execution", "tools:registry", …
    queue: str
    tenant_id: str
    # 0 is the most urgent, as in the envelope.
    priority: int
    # Goes up with every attempt at the call; a repetition of the same attempt has the same number.
    fencing: int
    # The envelope as JSON.
    body: bytes
    # After this moment nobody waits for the answer.
    expires_at: datetime
    # The engine's message of the step that calls; answers go on from it.
    message: PipelineMessage


@dataclass(frozen=True, slots=True)
class Incoming:
    """What a service said: an envelope as JSON, not read yet."""

    body: bytes
    # Whatever the wire needs to acknowledge it.
    handle: object = None


@dataclass(frozen=True, slots=True)
class WireContext:
    """What a wire is given at construction."""

    settings: Settings
    store: Store
    # Distinguishes this process from all others.
    worker_id: str
    # Says to every process that rows were written for these queues of the engine.
    announce: Callable[[Iterable[str]], None]


class ServiceWire(Protocol):
    """One per orchestrator process. At least once in both directions."""

    # True: its queues are tables, so what is committed is sent.
    is_table: ClassVar[bool] = False

    @classmethod
    def create(cls, context: WireContext) -> Self:
        """As the settings say; connects to nothing yet."""

    async def open(self) -> None:
        """Connect and make what is needed (consumer groups, say). Raises WireError when out of reach."""

    async def close(self) -> None:
        """Disconnect; what was not settled is delivered again, to this process or another."""

    async def write(self, session: AsyncSession, outgoing: Sequence[Outgoing]) -> None:
        """In the transaction that opens the calls; for wires whose queues are tables. Others do nothing."""

    async def publish(self, outgoing: Sequence[Outgoing]) -> None:
        """After that transaction, and again for envelopes that may be lost. Raises WireError."""

    async def withdraw(self, session: AsyncSession, outgoing: Sequence[Outgoing]) -> None:
        """In the transaction that ends calls without an answer (timeout, cancellation): a service that has
        not begun should not begin. What a wire cannot take back is told apart by its fencing number."""

    def answers(self) -> AsyncIterator[Sequence[Incoming]]:
        """What services said, in groups, oldest first; waits while there is nothing, survives a lost
        connection, and ends when the wire is closed."""

    async def settle(self, incoming: Sequence[Incoming]) -> None:
        """These are in the database now: they need not be delivered again."""

    def take_loss(self) -> float | None:
        """When (`time.monotonic`) it was seen that what had been published before may be lost (the server was
        restarted or emptied); told once, None when nothing was lost since. The orchestrator then publishes
        every open call that was sent before that moment again."""
