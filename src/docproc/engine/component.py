"""The contract of a component: what the engine calls, when, and inside which transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar
from uuid import UUID

from docproc.engine.component_spec import REQUEST_UNIT, ComponentSpec
from docproc.engine.message import PipelineMessage
from docproc.engine.store import fan_in
from docproc.engine.store.fan_in import Join

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.ext.asyncio import AsyncSession

    from docproc.engine.blobs import BlobStore
    from docproc.engine.store.session import Store
    from docproc.engine.transport import Delivery
    from docproc.engine.workflow.definition import Stage, Workflow
    from docproc.settings import Settings

__all__ = [
    "BACKOFFICE",
    "NEXT",
    "REQUEST_UNIT",
    "BaseComponent",
    "Context",
    "Emission",
    "JoinComponent",
    "Joined",
    "Unfinished",
    "Where",
    "queue_of",
    "spec_of",
]  # fmt: skip

NEXT: Final = "__next__"
BACKOFFICE: Final = "__backoffice__"

# A target (NEXT, BACKOFFICE or a routing key) and the message for it.
Emission = tuple[str, PipelineMessage]

Result = TypeVar("Result")

# Begins the transaction that handles messages without rows: makes sure that these are still waited for, and
# raises `messages.PartlyHandled` with those that are.
ClaimOf = Callable[[Sequence[PipelineMessage]], "Callable[[Connection], None]"]


class Where(StrEnum):
    """Where `offload` runs a component's heavy work."""

    LOOP = "loop"  # trivial work, called directly
    THREADS = "threads"  # releases the GIL and can be trusted to return
    PROCESSES = "processes"  # native or untrusted: a child that can be killed, with a memory limit


@dataclass(frozen=True, slots=True)
class Context:
    """What a component is given at construction."""

    settings: Settings
    store: Store
    blobs: BlobStore
    workflow_of: Callable[[PipelineMessage], Awaitable[Workflow]]
    # Says that the request now is what the component of the message's stage stands for.
    announce: Callable[[PipelineMessage], Awaitable[None]]
    workflows: Callable[[str], Sequence[Workflow]]
    run_in_thread: Callable[..., Awaitable[Any]]
    run_in_process: Callable[..., Awaitable[Any]]
    warm_children: Callable[..., None]
    # Says to every process that rows were written for these queues, not by emitting: for messages that a
    # component writes itself. To be called after their commit.
    wake: Callable[[Iterable[str]], None]
    # Sends such messages to a queue in the caller's transaction, under ids that may have been used before
    # (the first counts), and has them delivered after its commit.
    post: Callable[[AsyncSession, str, Sequence[PipelineMessage]], Awaitable[None]]
    # Distinguishes this process from all others.
    worker_id: str


class BaseComponent(ABC):
    """One kind of work, written once and used by any number of workflow stages.

    The engine may call `process_message` more than once for a message (a process can die at any
    point), but commits its effects exactly once. So: database effects go through `session`, files are
    written under names derived from the message, and calls to the outside carry `message.message_id`
    as their idempotency key.
    """

    component_name: ClassVar[str]
    # The units of work it takes and gives ("request", "page", …); None: whatever arrives / what it took.
    takes: ClassVar[str | tuple[str, ...] | None] = None
    gives: ClassVar[str | None] = None
    # The request status that work in this component stands for; None leaves the status alone.
    status: ClassVar[str | None] = None
    # How many messages may share one transaction. 1 for heavy work, 50–200 for light work.
    batch: ClassVar[int] = 1
    # True: `choose` says which messages of a batch are light enough to be handled together. A broker cannot
    # take the others back cheaply, so there such a component gets one message at a time.
    chooses: ClassVar[bool] = False
    # True: take a lease before computing, so that no two workers ever do the same (paid) work at once.
    exclusive: ClassVar[bool] = False
    # True: the queue belongs to another system; ids are remembered in `inbox`.
    foreign: ClassVar[bool] = False
    # True: may emit BACKOFFICE, so its stages may name a `backoffice_queue`.
    asks_people: ClassVar[bool] = False
    # Where `offload` runs heavy work.
    runs_in: ClassVar[Where] = Where.LOOP
    # Whether its messages may be handled in the transaction of the stage before, where one process hosts both
    # and this one is light (chaining.py). What that stage wrote is seen through `session` alone.
    chains: ClassVar[bool] = True
    # True: may emit nothing and end the step later, by a message of its own to its queue. It handed the unit
    # to another system, and a row in a table of the application stands for it until the answer comes.
    waits: ClassVar[bool] = False
    # The routing key its queue is bound to; None: as QUEUE_BINDINGS says, else the component's name.
    routing_key: ClassVar[str | None] = None

    def __init__(self, context: Context) -> None:
        self.settings = context.settings
        self.store = context.store
        self.blobs = context.blobs
        # Handles messages of this component that have no rows, at once (running/unqueued.py); returns the ids
        # of those that are handled. None: write them (`Context.post`), as for those that are not.
        self.handle_at_once: Callable[[Sequence[PipelineMessage], ClaimOf], Awaitable[set[UUID]]] | None = (
            None
        )
        self._context = context

    @property
    def input_queue(self) -> str:
        """The queue it consumes."""
        return queue_of(type(self))

    async def setup(self) -> None:
        """Load models, open connections. Called once per process, before any message and before `/ready`."""

    async def teardown(self) -> None:
        """Undo `setup`. Called once after the last message."""

    def decode(self, delivery: Delivery) -> PipelineMessage:
        """Turn a delivery into a message; override it to read another system's format.

        A foreign message's `message_id` must be derived from the event's own id (uuid5). Raise
        MessageError for what can never be read: it goes to the dead letters with its raw bytes.
        """
        return PipelineMessage.parse(delivery.body)

    @abstractmethod
    def process_message(
        self, message: PipelineMessage, session: AsyncSession
    ) -> Awaitable[list[Emission]] | AsyncIterator[Emission]:
        """Do the work for one message and say where the results go.

        Write it as `async def` returning a list of (target, message), or as an async generator to stream
        a large fan-out; a generator must yield in the same order each time, because after a crash what was
        already committed is skipped. `session` begins its transaction on first use, by removing the
        message's own row: compute first, touch the session last, and hold nothing while computing. Raise
        TransientError to be called again later, PermanentError to give up at once.
        """

    async def process_messages(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        """Handle a group in one transaction; one list of emissions per message, in the same order."""
        return [await self.process_message(message, session) for message in messages]  # type: ignore[misc] # never a generator in a group

    async def choose(self, messages: Sequence[PipelineMessage]) -> Sequence[PipelineMessage]:
        """Of a batch that was taken, those to be handled together now; any worker may take the others next.

        Called before `process_messages` where `chooses` is set, holding no transaction; what it finds out may
        be kept for it. At least one must be chosen. When it raises, the first message is handled alone.
        """
        return messages

    async def after_exhausted(
        self, message: PipelineMessage, error: Exception, session: AsyncSession
    ) -> list[Emission]:
        """Offer a substitute result when retries are exhausted; runs in the dead letter's transaction.

        An empty list (the default) leaves the outcome to the stage's `on_failure`.
        """
        return []

    async def partial_result(self, message: PipelineMessage, session: AsyncSession) -> dict[str, Any] | None:
        """What can be answered now for a request that is not finished; asked of its last stage.

        Called by the monitor shortly before the deadline, in its own process and never through a queue, so it
        must be quick: read what other stages stored, compute nothing heavy. `message` names the request and
        its workflow. The result has `partial: true` and `missing`; None (the default) leaves it to the
        engine, which knows what is missing but not what was found.
        """
        return None

    async def stage_of(self, message: PipelineMessage) -> Stage:
        """The stage of the message's own workflow version, with its settings."""
        return (await self.workflow_of(message)).stage(message.current_stage)

    async def workflow_of(self, message: PipelineMessage) -> Workflow:
        return await self._context.workflow_of(message)

    def may_ask(self, message: PipelineMessage, stage: Stage) -> bool:
        """Whether doubts about the message's unit are for people: the stage has a queue for them, and the
        request, else the setting, says `review: ask`. Where not, what is doubtful goes on, marked."""
        return stage.backoffice_queue is not None and (message.review or self.settings.review) == "ask"

    async def announce(self, message: PipelineMessage) -> None:
        """Give the request this component's `status` at once, for work that takes long before it commits.

        Otherwise the status changes when the message's own transaction commits. Opens a transaction of its
        own: call it before `session` is touched.
        """
        await self._context.announce(message)

    def workflows(self, tenant_id: str = "default") -> Sequence[Workflow]:
        """Every workflow that a tenant can use now, as the files say."""
        return self._context.workflows(tenant_id)

    def warm_children(self, function: Callable[..., object], *args: Any) -> None:
        """Have every child process call `function` before its first task; to be said in `__init__`."""
        self._context.warm_children(function, *args)

    async def offload(self, function: Callable[..., Result], *args: Any) -> Result:
        """Run blocking `function` where the class says (`runs_in`), never blocking the event loop.

        In processes, function and arguments must be picklable; a child is killed when the stage's time
        limit passes.
        """
        if self.runs_in is Where.THREADS:
            return await self._context.run_in_thread(function, *args)  # type: ignore[no-any-return] # Context is untyped here
        if self.runs_in is Where.PROCESSES:
            return await self._context.run_in_process(function, *args)  # type: ignore[no-any-return] # as above
        return function(*args)


class Unfinished(list[Emission]):
    """What `after_join` emits when its fan-out is not over: a late arrival at this join brings the rest.

    Until then the join that collects the units it gives stays unsealed.
    """


@dataclass(slots=True)
class Joined:
    """What handling a message at a join came to."""

    emissions: list[Emission]
    # The join it completed, if it did and if what that fans out is over.
    fired: Join | None = None


class BatchComponent(BaseComponent):
    """One that handles groups of messages, of which a single message is the smallest."""

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        return (await self.process_messages([message], session))[0]

    @abstractmethod
    async def process_messages(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        """Handle a group in one transaction; one list of emissions per message, in the same order."""


class JoinComponent(BaseComponent):
    """A component that waits for all units of a group: fan-in.

    Arrivals are counted by unit in the database, summed over the group of messages handled together, and
    `after_join` is called once, by whichever worker completes the count.
    """

    # The name of the count in `aggregation_state.stage`; None: the stage's own name.
    collects: ClassVar[str | None] = None
    # True: keep each arriving message in `fan_in_arrivals.body`, for `after_join` to read.
    keeps_bodies: ClassVar[bool] = False
    # True: units need nothing but to be counted (`before_join` has nothing to do), so whoever sends one here
    # counts it in its own transaction, and a message comes only when the join is complete. Where that depends
    # on the flow, the path of a function ("package.module:name") of workflow, stage and message that says so.
    # Messages that do come here, from another system say, are counted as always.
    only_counts: ClassVar[bool | str] = False
    batch = 100

    @abstractmethod
    async def after_join(self, join: Join, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        """All units of `join` are here (some perhaps failed); `message` is the last one to arrive.

        Runs in the transaction that completed the count, so it happens once per generation. A unit that
        arrives after that (a late correction) opens the next generation and calls this again. Returns
        `Unfinished` where part of what it gives has to wait, for a person say.
        """

    async def before_join(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        """Units arrived and their joins may still be open; emit, per message, what is already certain."""
        return [[] for _ in messages]

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        return (await self.process_messages([message], session))[0]

    async def process_messages(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        return [joined.emissions for joined in await self.join(messages, session)]

    async def join(self, messages: Sequence[PipelineMessage], session: AsyncSession) -> list[Joined]:
        """Count the units of these messages, and go on with the joins that are complete now."""
        fired = await self._count(messages, session)
        joined = [Joined(emitted) for emitted in await self.before_join(messages, session)]
        for join in fired:
            last = messages[join.completed_by]
            whole = {"unit_key": join.group_key, "generation": join.generation, "failure": None}
            onward = await self.after_join(join, last.model_copy(update=whole), session)
            joined[join.completed_by].emissions.extend(onward)
            joined[join.completed_by].fired = None if isinstance(onward, Unfinished) else join
        return joined

    async def _count(self, messages: Sequence[PipelineMessage], session: AsyncSession) -> list[Join]:
        """Count the units in one go; returns the joins that are complete now."""
        arrivals = [
            fan_in.Arrival.of(message, self.collects or message.current_stage, body=self.keeps_bodies)
            for message in messages
        ]
        counted = [i for i, arrival in enumerate(arrivals) if not _is_nudge(arrival.unit_key)]
        fired = await fan_in.arrive(session, [arrivals[i] for i in counted])
        joins = [replace(join, completed_by=counted[join.completed_by]) for join in fired]
        for index, arrival in enumerate(arrivals):
            if _is_nudge(arrival.unit_key):
                sealed = await fan_in.sealed_join(session, arrival, index)
                joins.extend([sealed] if sealed else [])
        return joins


def _is_nudge(unit_key: str) -> bool:
    return unit_key.endswith(fan_in.SEALED_UNIT)


def queue_of(component: type[BaseComponent]) -> str:
    """The input queue of a component class: `q.<name>` unless the class says otherwise."""
    declared = getattr(component, "input_queue", None)  # a property unless the class names a queue
    return declared if isinstance(declared, str) else f"q.{component.component_name}"


def spec_of(component: type[BaseComponent]) -> ComponentSpec:
    """What routing must know of a component, as its class says it."""
    return ComponentSpec(
        name=component.component_name,
        path=f"{component.__module__}:{component.__qualname__}",
        queue=queue_of(component),
        routing_key=component.routing_key,
        takes=component.takes,
        gives=component.gives,
        status=component.status,
        joins=issubclass(component, JoinComponent),
        collects=getattr(component, "collects", None),
        only_counts=getattr(component, "only_counts", False),
        keeps_bodies=getattr(component, "keeps_bodies", False),
        asks_people=component.asks_people,
    )
