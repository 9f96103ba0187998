"""Many AMQP publishes in one write: what makes a broker bearable at thousands of messages a second.

aiormq's own `basic_publish` takes a lock, a timer and a system call for each message: four fifths of the time
of a sender that fans out to 1 000 units. Here the frames of all messages go out together, and the
confirmations are aiormq's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import pamqp.frame
from aiormq.abc import ChannelFrame
from pamqp.body import ContentBody
from pamqp.commands import Basic
from pamqp.header import ContentHeader

from docproc.engine.message import utc_now
from docproc.engine.transport import Copy

# Marks copies of our rows; anything else on a queue was written by another system.
OWN_TYPE = "docproc.engine.message"
# Added to the band of a copy that goes first. Above its highest priority a broker knows no differences, and
# the band can still be read off it.
FIRST = 10


async def publish(channel: Any, copies: Sequence[Copy]) -> list[asyncio.Future[Any]]:
    """Write all copies to a confirming channel; returns one future per copy, done when it is confirmed."""
    async with channel.lock:
        now = utc_now()
        confirmations = [_expect(channel, str(copy.message_id)) for copy in copies]
        payload = b"".join(_frames(channel, copy, now) for copy in copies)
        await channel.write_queue.put(ChannelFrame(payload=payload, should_close=False))
    return confirmations


def _expect(channel: Any, message_id: str) -> asyncio.Future[Any]:
    """Register the next delivery tag, so that the broker's confirmation or return finds its message."""
    channel.delivery_tag += 1
    confirmation: asyncio.Future[Any] = channel.create_future()
    channel.confirmations[channel.delivery_tag] = confirmation
    channel.message_id_delivery_tag[message_id] = channel.delivery_tag
    confirmation.add_done_callback(lambda _: channel.message_id_delivery_tag.pop(message_id, None))
    return confirmation


def _frames(channel: Any, copy: Copy, published_at: datetime) -> bytes:
    properties = Basic.Properties(
        content_type="application/json",
        delivery_mode=2,
        priority=copy.band + FIRST if copy.goes_first else copy.band,
        message_id=str(copy.message_id),
        message_type=OWN_TYPE,
        timestamp=published_at,
    )
    header = pamqp.frame.marshal(
        ContentHeader(properties=properties, body_size=len(copy.body)), channel.number
    )
    size = channel.max_content_size
    bodies = (
        pamqp.frame.marshal(ContentBody(copy.body[start : start + size]), channel.number)
        for start in range(0, len(copy.body), size)
    )
    return b"".join((_method(copy.exchange, copy.routing_key, channel.number), header, *bodies))


@lru_cache(maxsize=256)
def _method(exchange: str, routing_key: str, channel_number: int) -> bytes:
    # mandatory: a copy that no queue wants comes back as an error instead of vanishing.
    method = Basic.Publish(exchange=exchange, routing_key=routing_key, mandatory=True)
    return pamqp.frame.marshal(method, channel_number)


def is_blocked(connection: Any) -> bool:
    """Whether the broker said that it takes nothing from us (connection.blocked). From any thread.

    aiormq lets one wait for the end of it, and not ask.
    """
    unblocked = getattr(connection, "_Connection__connection_unblocked", None)
    return unblocked is not None and not unblocked.is_set()
