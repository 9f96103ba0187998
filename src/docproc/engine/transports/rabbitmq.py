"""RabbitMqTransport: copies of message rows through the specified exchanges and queues."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, Self
from uuid import UUID

import aiormq
import structlog
from aiormq.abc import AbstractChannel, AbstractConnection, DeliveredMessage
from aiormq.exceptions import (
    AMQPError,
    ChannelNotFoundEntity,
    ChannelPreconditionFailed,
    PublishError,
)

from docproc.engine.ending import end
from docproc.engine.transport import (
    BACKOFFICE_EXCHANGE,
    DEAD_LETTER_EXCHANGE,
    DEAD_LETTER_QUEUE,
    DIRECT_EXCHANGE,
    Copy,
    Delivery,
    QueueState,
    Topology,
    Transport,
    TransportContext,
)
from docproc.engine.transports import amqp_batch
from docproc.errors import TransportError, UnroutableError

log = structlog.get_logger(__name__)

HEARTBEAT_SECONDS = 5
MAX_PRIORITY = 9
CONNECT_TIMEOUT_SECONDS = 10
CLOSE_TIMEOUT_SECONDS = 5
PUBLISH_TIMEOUT_SECONDS = 30
# How often a publisher that waits for confirmations looks whether the broker takes anything at all.
BLOCKED_CHECK_SECONDS = 0.1
LINGER_SECONDS = 0.005
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0

# What a lost connection looks like; aiormq raises RuntimeError on channels that are closing.
_LOST = (AMQPError, ConnectionError, OSError, TimeoutError, RuntimeError)


class RabbitMqTransport(Transport):
    """Publishes with confirms, consumes with manual acknowledgement, reconnects for ever.

    aiormq is used directly, without aio-pika on top: per message it costs half as much (bench/fanout.py).
    """

    has_broker = True

    def __init__(self, url: str, topology: Topology, *, message_ttl_ms: int, quorum: bool = False) -> None:
        self.url = url
        self.topology = topology
        self.message_ttl_ms = message_ttl_ms
        self.quorum = quorum
        self._connection: AbstractConnection | None = None
        self._publisher: AbstractChannel | None = None
        self._looker: AbstractChannel | None = None
        self._up = asyncio.Event()
        self._lost = asyncio.Event()
        self._stopped = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        # Deliveries of each channel that are not acknowledged yet.
        self._open_tags: dict[AbstractChannel, set[int]] = {}
        # Queues that somebody here consumes but the broker does not deliver now.
        self._silent: set[str] = set()
        # Queues that were not there and were declared anew: their copies are gone.
        self._lost_queues: dict[str, float] = {}
        self._declaring = asyncio.Lock()

    @classmethod
    def create(cls, context: TransportContext) -> Self:
        settings = context.settings
        return cls(
            settings.effective_rabbitmq_url,
            context.topology,
            message_ttl_ms=settings.message_ttl_ms,
            quorum=settings.quorum_queues,
        )

    @property
    def is_connected(self) -> bool:
        return self.can_publish and not self._silent

    @property
    def can_publish(self) -> bool:
        """The broker has not said that it takes nothing (an alarm)."""
        connection = self._connection
        is_up = self._up.is_set() and connection is not None and not connection.is_closed
        return is_up and not amqp_batch.is_blocked(connection)

    def take_lost_queues(self) -> dict[str, float]:
        lost, self._lost_queues = self._lost_queues, {}
        return lost

    # --- connection -----------------------------------------------------------------------------------

    async def open(self) -> None:
        try:
            await self._attempt()
        except _LOST as error:
            raise TransportError(
                f"RabbitMQ is out of reach: {error}", remedy="Check DOCPROC_RABBITMQ_URL and the broker"
            ) from error
        self._keeper = asyncio.create_task(self._keep_connected(), name="rabbitmq")

    async def close(self) -> None:
        self.stop()
        if self._keeper is not None:
            await end([self._keeper])
        await self._disconnect()

    def stop(self) -> None:
        self._stopped.set()

    async def _attempt(self) -> None:
        """Connect in a task of its own: aiormq tells of a connection that ends during the handshake by a
        CancelledError, which would else be taken for the end of whoever keeps us connected."""
        attempt = asyncio.create_task(self._connect())
        await _bounded(attempt, CONNECT_TIMEOUT_SECONDS)
        if not attempt.done():
            raise TimeoutError(f"no connection within {CONNECT_TIMEOUT_SECONDS} s")
        if attempt.cancelled():
            raise ConnectionError("the connection ended while it was made")
        attempt.result()

    async def _connect(self) -> None:
        self._lost.clear()
        separator = "&" if "?" in self.url else "?"
        connection = await aiormq.connect(f"{self.url}{separator}heartbeat={HEARTBEAT_SECONDS}")
        self._connection = connection
        connection.closing.add_done_callback(lambda _: self._lose(connection))
        await self._declare(connection)
        self._publisher = await connection.channel(publisher_confirms=True, on_return_raises=True)
        # The broker closes it alone when an exchange is gone: nothing could be published ever after.
        self._publisher.closing.add_done_callback(lambda _: self._lose(connection))
        self._up.set()

    def _lose(self, connection: AbstractConnection) -> None:
        """Unless it is an old one, whose end is known."""
        if connection is self._connection:
            self._lost.set()

    async def _disconnect(self) -> None:
        self._up.clear()
        if self._connection is not None:
            await _bounded(asyncio.ensure_future(self._connection.close()), CLOSE_TIMEOUT_SECONDS)
        self._connection = None  # its last words are none of the next one's

    async def _keep_connected(self) -> None:
        wait = FIRST_PAUSE_SECONDS
        while True:
            await self._lost.wait()
            await self._disconnect()
            try:
                await self._attempt()
                log.info("rabbitmq_connected")
                wait = FIRST_PAUSE_SECONDS
            except Exception as error:  # noqa: BLE001 # a server that is half up makes aiormq raise anything
                told = str(error) or type(error).__name__
                log.warning("rabbitmq_reconnecting", error=told, wait_s=wait)
                self._lost.set()
                await asyncio.sleep(wait)
                wait = min(wait * 2, LONGEST_PAUSE_SECONDS)

    # --- topology -------------------------------------------------------------------------------------

    async def _declare(self, connection: AbstractConnection) -> None:
        """Exchanges, queues and bindings of the specification; declaring again changes nothing.

        Queues that were not there are remembered: whatever copies were in them have to be published again.
        Each one is remembered as soon as it is back, not after the last: a busy broker may let this run into
        its time limit half-way, and the next run would find the queue in place and nothing to publish.
        """
        missing = {queue for queue in self.topology.bindings if not await self._exists(connection, queue)}
        seen_at = time.monotonic()
        channel = await connection.channel(publisher_confirms=False)
        for exchange, kind in (
            (DIRECT_EXCHANGE, "direct"),
            (BACKOFFICE_EXCHANGE, "direct"),
            (DEAD_LETTER_EXCHANGE, "fanout"),
        ):
            await channel.exchange_declare(exchange=exchange, exchange_type=kind, durable=True)
        bindings = {**self.topology.bindings, DEAD_LETTER_QUEUE: (DEAD_LETTER_EXCHANGE, "")}
        for queue, (exchange, routing_key) in bindings.items():
            channel = await self._declare_queue(connection, channel, queue)
            await channel.queue_bind(queue, exchange, routing_key=routing_key)
            if queue in missing:
                self._lost_queues[queue] = seen_at
        await channel.close()

    async def _exists(self, connection: AbstractConnection, queue: str) -> bool:
        channel = await connection.channel(publisher_confirms=False)
        try:
            await channel.queue_declare(queue, passive=True)
        except ChannelNotFoundEntity:
            return False
        await channel.close()
        return True

    async def _declare_queue(
        self, connection: AbstractConnection, channel: AbstractChannel, queue: str
    ) -> AbstractChannel:
        """A queue that exists with other arguments is replaced while idle, else used as it is."""
        arguments = self.arguments(queue)
        try:
            await channel.queue_declare(queue, durable=True, arguments=arguments)
            return channel
        except ChannelPreconditionFailed:
            pass  # handled below, on another channel: the broker closed this one
        if await self._delete_idle(connection, queue):
            fresh = await connection.channel(publisher_confirms=False)
            await fresh.queue_declare(queue, durable=True, arguments=arguments)
            log.info("queue_redeclared", queue=queue)
            return fresh
        log.warning(
            "queue_kept_with_other_arguments",
            queue=queue,
            remedy="to apply the new settings, stop all workers and delete the queue; no message is lost",
        )
        return await connection.channel(publisher_confirms=False)

    async def _delete_idle(self, connection: AbstractConnection, queue: str) -> bool:
        channel = await connection.channel(publisher_confirms=False)
        try:
            found = await channel.queue_declare(queue, passive=True)
        except ChannelNotFoundEntity:
            return True  # another process was faster
        is_idle = not (found.consumer_count or found.message_count)
        if is_idle:
            # Not by conditions of the broker's: a quorum queue answers them by ending the whole connection.
            # What comes in between is published again.
            await channel.queue_delete(queue)
            self._lost_queues[queue] = time.monotonic()
        await channel.close()
        return is_idle

    def arguments(self, queue: str = "") -> dict[str, Any]:
        """All are of one kind: a classic queue on a node that is away would let nobody connect."""
        kind: dict[str, Any] = {"x-queue-type": "quorum"} if self.quorum else {}
        if queue == DEAD_LETTER_QUEUE:
            return kind
        order: dict[str, Any] = {} if self.quorum else {"x-max-priority": MAX_PRIORITY}
        return {
            "x-dead-letter-exchange": DEAD_LETTER_EXCHANGE,
            "x-message-ttl": self.message_ttl_ms,
            **kind,
            **order,
        }

    # --- publishing -----------------------------------------------------------------------------------

    async def publish(self, copies: Sequence[Copy]) -> None:
        """All copies at once, each confirmed by the broker; a copy no queue wants is an error."""
        channel, connection = self._publisher, self._connection
        if channel is None or channel.is_closed or connection is None or not self.can_publish:
            raise TransportError("RabbitMQ takes nothing now", remedy="It is published when it does")
        try:
            async with asyncio.timeout(PUBLISH_TIMEOUT_SECONDS):
                confirmations = await self._written(channel, copies)
                await self._until_confirmed(connection, confirmations)
        except _LOST as error:
            raise TransportError(f"RabbitMQ did not confirm in time: {error}") from error
        for copy, confirmation in zip(copies, confirmations, strict=True):
            self._check(copy, confirmation)

    async def _written(self, channel: AbstractChannel, copies: Sequence[Copy]) -> list[asyncio.Future[Any]]:
        try:
            return await amqp_batch.publish(channel, copies)
        except BaseException:  # cancelled, too: tags were given out that the broker will not count
            self._lost.set()
            raise

    async def _until_confirmed(
        self, connection: AbstractConnection, confirmations: Sequence[asyncio.Future[Any]]
    ) -> None:
        """An alarm is told after the first frames under it: what they carried is published again later."""
        waiting: set[asyncio.Future[Any]] = set(confirmations)
        while waiting:
            _, waiting = await asyncio.wait(waiting, timeout=BLOCKED_CHECK_SECONDS)
            if waiting and amqp_batch.is_blocked(connection):
                raise TransportError("RabbitMQ takes nothing now: a memory or disk alarm")

    def _check(self, copy: Copy, confirmation: asyncio.Future[Any]) -> None:
        if confirmation.cancelled():
            raise TransportError("the connection was closed before the broker confirmed")
        error = confirmation.exception()
        if isinstance(error, PublishError):
            self._lost.set()  # a queue is gone: reconnecting declares it again
            raise UnroutableError(copy.routing_key, copy.exchange) from error
        if error is not None:
            raise TransportError(f"RabbitMQ did not accept a copy: {error}") from error

    async def look(self, queue: str) -> QueueState | None:
        if (connection := self._connection) is None:
            return None
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                if self._looker is None or self._looker.is_closed:
                    self._looker = await connection.channel(publisher_confirms=False)
                found = await self._looker.queue_declare(queue, passive=True)
            return QueueState(found.message_count or 0, found.consumer_count or 0)
        except _LOST:
            return None

    # --- consuming ------------------------------------------------------------------------------------

    async def consume(self, queue: str, *, batch: int, slots: int) -> AsyncIterator[list[Delivery]]:
        pause = FIRST_PAUSE_SECONDS
        self._silent.add(queue)
        try:
            while await self._until(self._up):
                try:
                    async for group in self._consume_once(queue, batch, slots):
                        pause = FIRST_PAUSE_SECONDS
                        yield group
                    return
                except _LOST as error:
                    if self._stopped.is_set():
                        return
                    log.warning("consumer_lost", queue=queue, error=str(error))
                if not await self._restored(queue):
                    # The keeper may not have noticed yet: do not spin on a dead connection.
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        finally:
            self._silent.discard(queue)

    async def _restored(self, queue: str) -> bool:
        """Where the connection stands, the queue is gone, or was given to others: have it declared again."""
        async with self._declaring:
            connection = self._connection
            if connection is None or connection.is_closed or not self._up.is_set():
                return False
            try:
                async with asyncio.timeout(10):
                    await self._declare(connection)
            except _LOST as error:
                log.warning("queue_not_declared", queue=queue, error=str(error))
                return False
        return True

    async def _consume_once(self, queue: str, batch: int, slots: int) -> AsyncIterator[list[Delivery]]:
        """Until the connection is lost, the broker ends the consumer, or the transport is stopped."""
        if self._connection is None:
            raise ConnectionError("the connection is being made")
        channel = await self._connection.channel(publisher_confirms=False)
        arrived: asyncio.Queue[DeliveredMessage | None] = asyncio.Queue()
        channel.closing.add_done_callback(lambda _: arrived.put_nowait(None))
        # Basic.Cancel: the queue was deleted, or moved with a failover. The channel stays open, and silent.
        channel.on_consumer_cancel_callbacks.add(lambda _: arrived.put_nowait(None))
        await channel.basic_qos(prefetch_count=batch * slots)

        open_tags = self._open_tags.setdefault(channel, set())

        async def receive(message: DeliveredMessage) -> None:
            open_tags.add(message.delivery_tag or 0)
            arrived.put_nowait(message)

        started = await channel.basic_consume(queue, receive)
        self._silent.discard(queue)
        ending = asyncio.create_task(self._end_on_stop(channel, started.consumer_tag, arrived))
        try:
            group: list[DeliveredMessage] = []
            while (first := await arrived.get()) is not None:
                if len(group) > 1 and arrived.qsize() < batch:
                    # Under load a little patience makes larger groups, and fewer transactions.
                    await asyncio.sleep(LINGER_SECONDS)
                group = [first]
                while len(group) < batch and not arrived.empty():
                    if (more := arrived.get_nowait()) is None:
                        arrived.put_nowait(None)
                        break
                    group.append(more)
                yield [_delivery(queue, message) for message in group]
            if not self._stopped.is_set():
                raise ConnectionError(f"the broker ended the consumer of {queue}")
        finally:
            ending.cancel()
            if not self._stopped.is_set():
                self._silent.add(queue)
                self._open_tags.pop(channel, None)
                with contextlib.suppress(*_LOST):
                    async with asyncio.timeout(5):
                        await channel.close()  # what it had delivered goes back, if the queue is still there

    async def _end_on_stop(
        self, channel: AbstractChannel, consumer_tag: str | None, arrived: asyncio.Queue[Any]
    ) -> None:
        """Stopping: no new deliveries; those in flight can still be settled, the rest goes back."""
        await self._stopped.wait()
        with contextlib.suppress(*_LOST):
            await channel.basic_cancel(consumer_tag or "")
        while not arrived.empty():
            if (message := arrived.get_nowait()) is not None:
                with contextlib.suppress(*_LOST):
                    await channel.basic_nack(message.delivery_tag or 0, requeue=True)
        arrived.put_nowait(None)

    async def settle(self, deliveries: Sequence[Delivery]) -> None:
        """Acknowledge; on a lost channel the broker delivers again and finds the rows gone."""
        by_channel: dict[AbstractChannel, set[int]] = {}
        for delivery in deliveries:
            message: DeliveredMessage = delivery.handle  # type: ignore[assignment] # set by _delivery
            by_channel.setdefault(message.channel, set()).add(message.delivery_tag or 0)
        for channel, tags in by_channel.items():
            with contextlib.suppress(*_LOST):
                await self._acknowledge(channel, tags)

    async def _acknowledge(self, channel: AbstractChannel, tags: set[int]) -> None:
        """One frame for the whole group, unless an older delivery of the channel is still in work."""
        open_tags = self._open_tags.get(channel, set())
        last = max(tags)
        if all(tag in tags for tag in open_tags if tag <= last):
            await channel.basic_ack(last, multiple=True)
        else:
            for tag in tags:
                await channel.basic_ack(tag, wait=False)
        open_tags -= tags

    async def _until(self, event: asyncio.Event) -> bool:
        """Wait for an event; False when the transport is stopped first."""
        waiting = {asyncio.create_task(event.wait()), asyncio.create_task(self._stopped.wait())}
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
        return not self._stopped.is_set()


def _delivery(queue: str, message: DeliveredMessage) -> Delivery:
    properties = message.header.properties
    own = properties.message_type == amqp_batch.OWN_TYPE
    return Delivery(
        queue=queue,
        body=message.body,
        message_id=UUID(properties.message_id) if own and properties.message_id else None,
        band=None if properties.priority is None else properties.priority % amqp_batch.FIRST,
        is_own=own,
        published_at=properties.timestamp,
        handle=message,
    )


async def _bounded(call: asyncio.Future[Any], seconds: float) -> None:
    """Wait for a call of aiormq, but no longer: it may swallow its cancellation, and then never ends."""
    call.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody else may ask
    try:
        await asyncio.wait({call}, timeout=seconds)
    finally:
        call.cancel()
