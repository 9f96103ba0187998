"""The contract of a transport: it carries copies of message rows to the workers that handle them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Self
from uuid import UUID

from docproc.engine.component_spec import ComponentSpec
from docproc.errors import ConfigurationError, UnroutableError

if TYPE_CHECKING:
    from docproc.engine.store.session import Store
    from docproc.settings import Settings

DIRECT_EXCHANGE: Final = "doc.direct"
BACKOFFICE_EXCHANGE: Final = "doc.backoffice"
DEAD_LETTER_EXCHANGE: Final = "doc.dlx"
DEAD_LETTER_QUEUE: Final = "q.dead_letters"


class Topology:
    """Which queue a routing key leads to, the same for every transport."""

    def __init__(
        self, bindings: Mapping[str, tuple[str, str]], streams: Mapping[str, str] | None = None
    ) -> None:
        self.bindings = dict(bindings)
        # Queue -> how its streams are named, where a component says so.
        self.streams = dict(streams or {})
        self._queues = {binding: queue for queue, binding in self.bindings.items()}

    @classmethod
    def of(
        cls, components: Iterable[ComponentSpec], bindings: Mapping[str, tuple[str, str]] | None = None
    ) -> Topology:
        """These bindings (queue -> exchange and routing key), plus one for each component that has none yet:
        under its `routing_key`, else its name."""
        bindings = dict(bindings or {})
        streams: dict[str, str] = {}
        for component in components:
            if component.streams is not None:
                streams[component.input_queue] = component.streams
            key = component.routing_key or component.name
            bindings.setdefault(component.input_queue, (DIRECT_EXCHANGE, key))
        duplicated = {b for b in bindings.values() if list(bindings.values()).count(b) > 1}
        if duplicated:
            raise ConfigurationError(
                f"several queues are bound to {sorted(duplicated)}",
                remedy="Give each component its own routing_key",
            )
        return cls(bindings, streams)

    def queue(self, exchange: str, routing_key: str) -> str:
        try:
            return self._queues[exchange, routing_key]
        except KeyError:
            raise UnroutableError(routing_key, exchange) from None

    @property
    def notice_queues(self) -> list[str]:
        """Queues that only tell people of tasks: whatever is lost there, the tasks are in the database."""
        return [queue for queue, (exchange, _) in self.bindings.items() if exchange == BACKOFFICE_EXCHANGE]

    def routing_key(self, queue: str) -> str | None:
        binding = self.bindings.get(queue)
        return binding[1] if binding else None


@dataclass(frozen=True, slots=True)
class Copy:
    """A committed message row on its way to a worker."""

    message_id: UUID
    exchange: str
    routing_key: str
    queue: str
    band: int
    body: bytes
    # Whatever its band, it goes before everything that the broker has.
    goes_first: bool = False


@dataclass(frozen=True, slots=True)
class QueueState:
    """A broker's queue: copies that nobody has taken yet, and how many take from it."""

    waiting: int
    consumers: int


@dataclass(slots=True)
class Delivery:
    """One message handed to a worker.

    `attempt`, `cursor` and `band` come from the row when the transport reads rows (`sql`). A broker's copy
    may be old: there the first two are None, `band` is the copy's own, and the runner reads the row.
    """

    queue: str
    body: bytes
    message_id: UUID | None = None
    attempt: int | None = None
    cursor: int | None = None
    band: int | None = None
    # Whatever the transport needs to settle it.
    handle: object = None
    # False: written by another system, to be read by the component's own `decode`.
    is_own: bool = True
    # When a broker's copy was published, by the publisher's clock; AMQP counts whole seconds.
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TransportContext:
    """What a transport is given at construction."""

    settings: Settings
    topology: Topology
    store: Store
    # Whose leases and copies these are.
    worker_id: str


class Transport(ABC):
    """Delivers message rows at least once, most urgent first.

    The row in `messages` is the message; a transport only says which worker should look at it now.
    A transport may lose, repeat or reorder copies and nothing breaks but speed.
    """

    # True: rows are handed out by copy through a broker, and a relay looks after lost copies.
    has_broker: bool = False

    @classmethod
    @abstractmethod
    def create(cls, context: TransportContext) -> Self:
        """As the settings say; connects to nothing yet."""

    @abstractmethod
    async def open(self) -> None:
        """Connect and declare what is needed; called once, raises TransportError when out of reach."""

    @abstractmethod
    async def close(self) -> None:
        """Give back what was delivered but not handled, and disconnect."""

    @abstractmethod
    def consume(self, queue: str, *, batch: int, slots: int) -> AsyncIterator[list[Delivery]]:
        """Yield groups of at most `batch` deliveries, with at most `batch * slots` not yet settled.

        Waits without polling while the queue is empty; ends when the transport is told to `stop`; survives
        a lost connection by reconnecting.
        """

    @abstractmethod
    async def settle(self, deliveries: Sequence[Delivery]) -> None:
        """These are handled (or rescheduled in the database): forget them. Called after the commit."""

    async def give_back(self, deliveries: Sequence[Delivery]) -> None:
        """These were taken but not begun: let any worker have them. Only for transports that lease rows."""
        raise NotImplementedError

    @abstractmethod
    async def publish(self, copies: Sequence[Copy]) -> None:
        """Bring committed rows to their workers; raises TransportError for what could not be brought."""

    def offer(self, queue: str, message_id: UUID) -> bool:
        """Whether a consumer of this process waits for messages of this queue, and takes this one at once.

        Asked before its row is written. True: the row is written under this process's lease, then `hand`
        follows the commit, or `withdraw` a transaction that did not commit, and no row has to be found.
        """
        return False

    def hand(self, delivery: Delivery) -> None:
        """To the consumer that took the offer; called after the commit."""
        raise NotImplementedError

    def withdraw(self, queue: str, message_id: UUID) -> None:
        """The offer came to nothing."""
        raise NotImplementedError

    def wake(self, queues: Iterable[str]) -> None:
        """Rows of these queues became free (a worker died or left): look again."""

    async def announce(self, queues: Iterable[str]) -> None:
        """The same, told to every process."""

    def wake_delayed(self, queue: str) -> None:
        """A message of this queue was delayed; called so that nobody has to poll for due ones."""

    def take_lost_queues(self) -> dict[str, float]:
        """Queues that a broker did not have, told once, and when that was seen (`time.monotonic`): rows whose
        copies were sent before are published again."""
        return {}

    async def look(self, queue: str) -> QueueState | None:
        """How a broker's queue stands now; None where nobody knows."""
        return None

    @abstractmethod
    def stop(self) -> None:
        """End all `consume` iterators; what they yielded may still be settled."""

    @property
    @abstractmethod
    def is_connected(self) -> bool:
        """Whether deliveries can arrive now, at every consumer of this process; `/ready` follows it."""

    @property
    def can_publish(self) -> bool:
        """Whether copies can be brought now; while not, the relay takes none."""
        return self.is_connected
