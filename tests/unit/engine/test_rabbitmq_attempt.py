"""What RabbitMqTransport makes of a connection that ends while it is made."""

from __future__ import annotations

import asyncio

import pytest

from docproc.engine.transport import Topology
from docproc.engine.transports.rabbitmq import RabbitMqTransport
from docproc.errors import TransportError


class Interrupted(RabbitMqTransport):
    """As aiormq behaves when the broker goes away during the handshake: the first attempts are cancelled."""

    attempts = 0

    async def _connect(self) -> None:
        self.attempts += 1
        self._lost.clear()
        if self.attempts == 1:
            raise asyncio.CancelledError
        if self.attempts == 2:
            raise KeyError("a frame nobody expects")
        self._up.set()


async def test_keeper_survives_a_handshake_that_is_cancelled() -> None:
    transport = Interrupted("amqp://nowhere/", Topology({}), message_ttl_ms=1000)
    transport._lost.set()
    keeper = asyncio.create_task(transport._keep_connected())
    async with asyncio.timeout(5):
        await transport._up.wait()
    assert transport.attempts == 3 and not keeper.done()
    keeper.cancel()
    await asyncio.gather(keeper, return_exceptions=True)


async def test_first_connection_that_is_cancelled_is_an_error_with_a_remedy() -> None:
    transport = Interrupted("amqp://nowhere/", Topology({}), message_ttl_ms=1000)
    with pytest.raises(TransportError, match="ended while it was made"):
        await transport.open()
