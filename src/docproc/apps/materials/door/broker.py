"""The connection to the broker of events: one message at a time, settled by hand, connected again when
lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import aiormq
import structlog
from aiormq.abc import AbstractChannel, AbstractConnection, DeliveredMessage
from aiormq.exceptions import AMQPError, ChannelNotFoundEntity
from pamqp.commands import Basic

from docproc.errors import TransportError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

HEARTBEAT_SECONDS = 10
CONNECT_SECONDS = 10.0
PUBLISH_SECONDS = 30.0
PREFETCH = 1
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_PERSISTENT = 2

# What a lost connection looks like; aiormq raises RuntimeError on channels that are closing.
LOST = (AMQPError, ConnectionError, OSError, TimeoutError, RuntimeError)


@dataclass(frozen=True, slots=True)
class Arrived:
    """An event as the broker delivered it; it is the broker's until it is settled."""

    body: bytes
    headers: Mapping[str, Any]
    # It was delivered before, to somebody who did not settle it.
    redelivered: bool
    message: DeliveredMessage


class Broker:
    """Consumes one queue and publishes to others, on one connection."""

    def __init__(self, url: str, queue: str, dead_letter_queue: str) -> None:
        self.url = url
        self.queue = queue
        self.dead_letter_queue = dead_letter_queue
        self._connection: AbstractConnection | None = None
        self._publisher: AbstractChannel | None = None
        self._getter: AbstractChannel | None = None
        self._stopped = asyncio.Event()
        self.is_consuming = False

    def stop(self) -> None:
        """No further deliveries; what was delivered can still be settled."""
        self._stopped.set()

    async def arrivals(self) -> AsyncIterator[Arrived]:
        """Until stopped; a lost connection is made again, and the broker delivers again what was not
        settled."""
        pause = _FIRST_PAUSE
        while not self._stopped.is_set():
            try:
                async with contextlib.aclosing(self._connected_arrivals()) as arrivals:
                    async for arrived in arrivals:
                        pause = _FIRST_PAUSE
                        yield arrived
            except LOST as error:
                told = text_for_logs(error) or type(error).__name__
                log.warning("material_queue_lost", queue=self.queue, problem=told, again_in_s=pause)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _connected_arrivals(self) -> AsyncGenerator[Arrived, None]:
        channel = await self._connect()
        arrived: asyncio.Queue[DeliveredMessage | None] = asyncio.Queue()
        channel.closing.add_done_callback(lambda _: arrived.put_nowait(None))
        channel.on_consumer_cancel_callbacks.add(lambda _: arrived.put_nowait(None))
        await channel.basic_qos(prefetch_count=PREFETCH)

        async def receive(message: DeliveredMessage) -> None:
            arrived.put_nowait(message)

        consumer = await channel.basic_consume(self.queue, receive)
        self.is_consuming = True
        log.info("material_queue_consumed", queue=self.queue, prefetch=PREFETCH)
        ending = asyncio.create_task(self._end_on_stop(channel, consumer.consumer_tag or "", arrived))
        try:
            while (message := await arrived.get()) is not None:
                headers = message.header.properties.headers or {}
                yield Arrived(message.body, headers, bool(message.redelivered), message)
            if not self._stopped.is_set():
                raise ConnectionError("the broker ended the consumer")
        finally:
            self.is_consuming = False
            ending.cancel()

    async def _end_on_stop(
        self, channel: AbstractChannel, tag: str, arrived: asyncio.Queue[DeliveredMessage | None]
    ) -> None:
        await self._stopped.wait()
        with contextlib.suppress(*LOST):
            await channel.basic_cancel(tag)
        while not arrived.empty():
            if (message := arrived.get_nowait()) is not None:
                with contextlib.suppress(*LOST):
                    await channel.basic_nack(message.delivery_tag or 0, requeue=True)
        arrived.put_nowait(None)

    async def _connect(self) -> AbstractChannel:
        await self.close()
        separator = "&" if "?" in self.url else "?"
        async with asyncio.timeout(CONNECT_SECONDS):
            self._connection = await aiormq.connect(f"{self.url}{separator}heartbeat={HEARTBEAT_SECONDS}")
            for queue in (self.queue, self.dead_letter_queue):
                await self._declare(self._connection, queue)
            self._publisher = await self._connection.channel(publisher_confirms=True, on_return_raises=True)
            return await self._connection.channel(publisher_confirms=False)

    async def _declare(self, connection: AbstractConnection, queue: str) -> None:
        """A queue that is there is used as its owner made it; one that is not is made, durable."""
        channel = await connection.channel(publisher_confirms=False)
        try:
            await channel.queue_declare(queue, passive=True)
        except ChannelNotFoundEntity:
            channel = await connection.channel(publisher_confirms=False)
            await channel.queue_declare(queue, durable=True)
        await channel.close()

    async def ack(self, arrived: Arrived) -> None:
        await self._settle(arrived.message.channel.basic_ack(arrived.message.delivery_tag or 0))

    async def reject(self, arrived: Arrived, *, requeue: bool) -> None:
        tag = arrived.message.delivery_tag or 0
        await self._settle(arrived.message.channel.basic_nack(tag, requeue=requeue))

    async def _settle(self, call: Any) -> None:
        """On a lost channel the broker delivers again, and the request is found to be known."""
        with contextlib.suppress(*LOST):
            await call

    async def publish(
        self, queue: str, body: bytes, *, message_id: str, headers: Mapping[str, Any] | None = None
    ) -> None:
        """Until the broker has confirmed that the queue has it; raises TransportError."""
        try:
            if self._publisher is None or self._publisher.is_closed:
                await self._connect_publisher()
            assert self._publisher is not None
            async with asyncio.timeout(PUBLISH_SECONDS):
                await self._publisher.basic_publish(
                    body,
                    routing_key=queue,
                    properties=Basic.Properties(
                        delivery_mode=_PERSISTENT,
                        content_type="application/json",
                        message_id=message_id,
                        headers=dict(headers or {}),
                    ),
                    mandatory=True,
                )
        except LOST as error:
            raise TransportError(f"RabbitMQ did not take the message for {queue!r}: {error}") from error

    async def _connect_publisher(self) -> None:
        if self._connection is None or self._connection.is_closed:
            channel = await self._connect()
            await channel.close()
            return
        self._publisher = await self._connection.channel(publisher_confirms=True, on_return_raises=True)

    async def get(self, queue: str) -> Arrived | None:
        """One message of a queue, to be settled; None where it is empty. For tools that look at queues."""
        if self._connection is None or self._connection.is_closed:
            await self._connect()
        assert self._connection is not None
        if self._getter is None or self._getter.is_closed:
            self._getter = await self._connection.channel(publisher_confirms=False)
        message = await self._getter.basic_get(queue)
        if isinstance(message.delivery, Basic.GetEmpty):
            return None
        headers = message.header.properties.headers or {}
        return Arrived(message.body, headers, bool(message.redelivered), message)

    async def close(self) -> None:
        connection, self._connection, self._publisher = self._connection, None, None
        if connection is not None and not connection.is_closed:
            with contextlib.suppress(*LOST):
                await asyncio.wait_for(connection.close(), CONNECT_SECONDS)
