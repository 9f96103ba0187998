"""What only RabbitMQ can do wrong: the topology, expiry, unroutable copies, queues with other arguments."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiormq
import pytest

from docproc.apps.documents.application import application as documents
from docproc.engine.message import PipelineMessage
from docproc.engine.transport import DEAD_LETTER_QUEUE, Copy
from docproc.engine.transports.rabbitmq import RabbitMqTransport
from docproc.errors import UnroutableError
from docproc.registry import QUEUE_BINDINGS, bindings
from tests.harness import Harness, filled, opened, settings_for

ONE = "stages: [{name: work, component: work}]"


@pytest.fixture
async def engine(tmp_path: Path, postgres_url: str, rabbitmq_url: str) -> AsyncIterator[Harness]:
    values = {"database_url": postgres_url, "rabbitmq_url": rabbitmq_url, "message_ttl_ms": 700}
    async with opened(settings_for(tmp_path, **values)) as harness:
        yield harness


@pytest.fixture
async def channel(rabbitmq_url: str) -> AsyncIterator[aiormq.abc.AbstractChannel]:
    connection = await aiormq.connect(rabbitmq_url)
    yield await connection.channel()
    await connection.close()


async def test_topology_is_the_specified_one(engine: Harness, channel: aiormq.abc.AbstractChannel) -> None:
    arguments: dict[str, Any] = {
        "x-dead-letter-exchange": "doc.dlx",
        "x-message-ttl": 700,
        "x-max-priority": 9,
    }
    for exchange, kind in (("doc.direct", "direct"), ("doc.backoffice", "direct"), ("doc.dlx", "fanout")):
        # Declaring with other properties would be refused by the broker.
        await channel.exchange_declare(exchange=exchange, exchange_type=kind, durable=True)
    specified = bindings([documents])  # other applications add queues of theirs
    for queue in (*specified, *QUEUE_BINDINGS):
        await channel.queue_declare(queue, durable=True, arguments=arguments)
    await channel.queue_declare(DEAD_LETTER_QUEUE, durable=True)
    assert len(specified) + 1 == 11
    for queue, (exchange, routing_key) in QUEUE_BINDINGS.items():
        await channel.basic_publish(b"{}", exchange=exchange, routing_key=routing_key, mandatory=True)
        found = await channel.basic_get(queue, no_ack=True)
        assert found.body == b"{}"
    await channel.basic_publish(b"dead", exchange="doc.dlx", routing_key="anything")
    assert (await channel.basic_get(DEAD_LETTER_QUEUE, no_ack=True)).body == b"dead"


async def test_unroutable_copy_is_an_error_not_a_silent_drop(engine: Harness) -> None:
    copy = Copy(uuid4(), "doc.direct", "no.such.key", "q.none", 5, b"{}")
    with pytest.raises(UnroutableError, match=r"no queue is bound to routing key 'no\.such\.key'"):
        await engine.app.transport.publish([copy])


async def test_expired_copies_are_published_again(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    engine.workflow("one", ONE)
    request_id = await engine.submit("one")
    queue = "q.work"
    await engine.until(lambda: _count(channel, queue, 0), "the copy expired")
    await engine.start("work")
    assert (await engine.finished(request_id)).status == "completed"
    assert len(await engine.events(request_id, "handled")) == 1


async def test_copy_lost_by_the_broker_is_published_again(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    engine.workflow("one", ONE)
    request_id = await engine.submit("one")
    await channel.queue_purge("q.work")
    await engine.start("work")
    assert (await engine.finished(request_id)).status == "completed"


async def test_deleted_queue_is_declared_again(engine: Harness, channel: aiormq.abc.AbstractChannel) -> None:
    engine.workflow("one", ONE)
    await channel.queue_delete("q.work")
    request_id = await engine.submit("one")
    await engine.start("work")
    assert (await engine.finished(request_id)).status == "completed"


async def test_unknown_bytes_on_the_dead_letter_queue_are_recorded(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    await engine.start("work")
    await channel.basic_publish(b"from nowhere", exchange="doc.dlx", routing_key="")

    async def recorded() -> bool:
        rows = await engine.query("SELECT queue, body FROM dead_letters")
        return [tuple(row) for row in rows] == [(DEAD_LETTER_QUEUE, b"from nowhere")]

    await engine.until(recorded, "the bytes are kept")


async def test_idle_queue_with_other_arguments_is_replaced(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    other = _transport(engine, ttl=9_000)
    await other.open()
    await other.close()
    await channel.queue_declare("q.ocr", durable=True, arguments=other.arguments())


async def test_busy_queue_with_other_arguments_is_used_as_it_is(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    async def ignore(_: object) -> None: ...

    await channel.basic_consume("q.ocr", ignore)
    other = _transport(engine, ttl=9_000)
    await other.open()
    assert other.is_connected
    await other.publish([Copy(uuid4(), "doc.direct", "page.ocr", "q.ocr", 5, b"{}")])
    await other.close()
    # Still the old arguments: declaring with others would be refused.
    await channel.queue_declare("q.ocr", durable=True, arguments=_transport(engine, ttl=700).arguments())


async def test_quorum_queues_work_without_priorities(engine: Harness, rabbitmq_url: str) -> None:
    quorum = RabbitMqTransport(rabbitmq_url, engine.app.topology, message_ttl_ms=9_000, quorum=True)
    assert quorum.arguments()["x-queue-type"] == "quorum"
    assert "x-max-priority" not in quorum.arguments()
    await quorum.open()
    message = PipelineMessage(request_id=uuid4())
    await quorum.publish([Copy(message.message_id, "doc.direct", "work", "q.work", 9, message.encode())])
    async for group in quorum.consume("q.work", batch=1, slots=1):
        assert PipelineMessage.parse(group[0].body) == message
        await quorum.settle(group)
        break
    await quorum.close()


async def test_queues_change_kind_and_lifetime_while_idle(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    """From classic to quorum, to another lifetime, and back: the broker knows conditions of deleting for one
    kind only, and ends the connection over them."""
    for quorum, lifetime in ((True, 700), (True, 9_000), (False, 9_000)):
        other = _transport(engine, ttl=lifetime, quorum=quorum)
        await other.open()
        connection = other._connection
        await other.publish([Copy(uuid4(), "doc.direct", "page.ocr", "q.ocr", 5, b"{}")])
        assert other._connection is connection
        await channel.queue_purge("q.ocr")
        for queue in ("q.ocr", DEAD_LETTER_QUEUE):
            await channel.queue_declare(queue, durable=True, arguments=other.arguments(queue))
        await other.close()


async def test_copies_larger_than_a_frame_arrive_whole(engine: Harness) -> None:
    engine.workflow("one", ONE)
    await engine.start("work")
    text = "ñ" * 400_000
    request = await engine.run("one", text=text)
    assert filled(request.result_payload)["text"] == text


async def test_foreign_message_is_taken_in_once(engine: Harness, channel: aiormq.abc.AbstractChannel) -> None:
    engine.workflow("one", ONE)
    await engine.start("work", "foreign")
    for _ in range(3):
        await channel.basic_publish(b'{"event_id": "e-1"}', exchange="doc.direct", routing_key="foreign")
    await channel.basic_publish(b'{"event_id": "e-2"}', exchange="doc.direct", routing_key="foreign")

    async def completed() -> bool:
        rows = await engine.query("SELECT count(*) FROM requests WHERE status = 'completed'")
        return rows == [(2,)]

    await engine.until(completed, "two requests from four events")
    assert await engine.query("SELECT count(*) FROM inbox") == [(2,)]


async def test_foreign_message_that_must_wait_becomes_one_of_ours(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    engine.workflow("one", ONE)
    await engine.start("work", "foreign")
    await channel.basic_publish(b'{"event_id": "later"}', exchange="doc.direct", routing_key="foreign")

    async def completed() -> bool:
        return await engine.query("SELECT count(*) FROM requests WHERE status = 'completed'") == [(1,)]

    await engine.until(completed, "done at the second attempt")


async def test_unreadable_foreign_message_is_a_dead_letter(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    await engine.start("foreign")
    await channel.basic_publish(b"garbage", exchange="doc.direct", routing_key="foreign")

    async def recorded() -> bool:
        rows = await engine.query("SELECT body FROM dead_letters")
        return [row.body for row in rows] == [b"garbage"]

    await engine.until(recorded, "the bytes are kept")


async def _count(channel: aiormq.abc.AbstractChannel, queue: str, number: int) -> bool:
    declared = await channel.queue_declare(queue, passive=True)
    return declared.message_count == number


def _transport(engine: Harness, ttl: int, *, quorum: bool = False) -> RabbitMqTransport:
    url = engine.settings.effective_rabbitmq_url
    return RabbitMqTransport(url, engine.app.topology, message_ttl_ms=ttl, quorum=quorum)
