"""What a broker forgets or refuses while work goes on (queues, exchanges, memory) stalls nothing silently."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiormq
import pytest
import structlog
from aiormq.exceptions import AMQPError
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from bench.servers import RabbitServer
from docproc.app import App
from docproc.engine.message import PipelineMessage
from docproc.engine.store import fan_in, fan_out
from docproc.engine.store.tables import Request
from docproc.engine.transport import DEAD_LETTER_QUEUE
from docproc.engine.transports import rabbitmq
from docproc.engine.transports.amqp_batch import OWN_TYPE
from tests import components, services
from tests.harness import Harness, filled, opened, settings_for

ONE = "stages: [{name: work, component: work}]"
SPECIFIED = """
stages:
  - {name: split, component: splitter}
  - {name: read, component: ocr}
  - {name: classify, component: classifier}
  - {name: group, component: classification_aggregator}
  - {name: extract, component: extractor}
  - {name: collect, component: extraction_aggregator}
  - {name: consolidate, component: consolidator}
"""


@contextlib.asynccontextmanager
async def relaying(folder: Path, database_url: str, rabbitmq_url: str) -> AsyncIterator[Harness]:
    """Its client relays what it sends, as the API does. Copies live for five minutes, as by default, so that
    their age brings nothing back."""
    async with opened(settings_for(folder, database_url=database_url, rabbitmq_url=rabbitmq_url)) as harness:
        harness.workflow("one", ONE)
        relay = asyncio.create_task(harness.app.relay.run())
        try:
            yield harness
        finally:
            relay.cancel()
            await asyncio.gather(relay, return_exceptions=True)


@pytest.fixture
async def engine(tmp_path: Path, postgres_url: str, rabbitmq_url: str) -> AsyncIterator[Harness]:
    async with relaying(tmp_path, postgres_url, rabbitmq_url) as harness:
        yield harness


@pytest.fixture
async def channel(rabbitmq_url: str) -> AsyncIterator[aiormq.abc.AbstractChannel]:
    connection = await aiormq.connect(rabbitmq_url)
    yield await connection.channel()
    await connection.close()


async def test_consumer_comes_back_after_its_queue_was_deleted(
    engine: Harness, channel: aiormq.abc.AbstractChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = structlog.testing.LogCapture()
    everything = structlog.make_filtering_bound_logger(0)
    monkeypatch.setattr(rabbitmq, "log", structlog.wrap_logger(None, [logs], wrapper_class=everything))
    await engine.start("work")
    await channel.queue_delete("q.work")
    assert (await engine.run("one")).status == "completed"
    assert ("consumer_lost", "q.work") in [(line["event"], line.get("queue")) for line in logs.entries]


async def test_copies_in_a_deleted_queue_are_published_again(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    waiting = [await engine.submit("one") for _ in range(3)]
    await channel.queue_delete("q.work")
    await engine.start("work")
    for request_id in waiting:
        assert (await engine.finished(request_id)).status == "completed"


async def test_lost_copies_are_remembered_though_declaring_broke_off(
    engine: Harness, channel: aiormq.abc.AbstractChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy broker answers half of the declarations in time; the next attempt finds the queue in place."""
    waiting = await engine.submit("one")
    await channel.queue_delete("q.work")
    declare, is_busy = rabbitmq.RabbitMqTransport._declare_queue, True

    async def answered_in_part(self: Any, connection: Any, channel: Any, queue: str) -> Any:
        nonlocal is_busy
        if queue == DEAD_LETTER_QUEUE and is_busy:  # the last one
            is_busy = False
            raise TimeoutError("the broker is busy")
        return await declare(self, connection, channel, queue)

    monkeypatch.setattr(rabbitmq.RabbitMqTransport, "_declare_queue", answered_in_part)
    engine.app.transport._lost.set()  # type: ignore[attr-defined] # connect anew: one attempt breaks off
    await engine.until(lambda: not is_busy, "an attempt breaks off")
    await engine.start("work")
    assert (await engine.finished(waiting)).status == "completed"


async def test_broker_that_forgot_everything_is_survived(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    """As after a failover to an empty one: no exchange, no queue, and copies gone."""
    await engine.start("work")
    for exchange in ("doc.direct", "doc.backoffice", "doc.dlx"):
        await channel.exchange_delete(exchange)
    for queue in (DEAD_LETTER_QUEUE, *engine.app.topology.bindings):
        await channel.queue_delete(queue)
    requests = [await engine.submit("one") for _ in range(3)]
    for request_id in requests:
        assert (await engine.finished(request_id)).status == "completed"
    await channel.queue_declare(DEAD_LETTER_QUEUE, passive=True)


async def test_worker_is_not_ready_while_one_of_its_queues_is_out_of_reach(
    engine: Harness, rabbitmq_url: str
) -> None:
    _, worker, _, _ = await engine.start("work")
    thief = await _take_away("q.work", rabbitmq_url)
    await engine.until(lambda: not worker.is_ready, "the worker says that it consumes nothing")
    request_id = await engine.submit("one")
    await thief.close()  # an exclusive queue goes with its connection
    assert (await engine.finished(request_id)).status == "completed"
    await engine.until(lambda: worker.is_ready, "the worker consumes again")


async def _take_away(queue: str, url: str) -> Any:
    """Delete it and have it for oneself; the worker is quick, so it may take some tries."""
    connection = await aiormq.connect(url)
    async with asyncio.timeout(10):
        while True:
            channel = await connection.channel()
            await channel.queue_delete(queue)
            try:
                await channel.queue_declare(queue, exclusive=True)
                return connection
            except AMQPError:
                await asyncio.sleep(0.01)


async def test_exclusive_work_is_not_begun_again_by_the_process_that_is_at_it(engine: Harness) -> None:
    """A broker whose connection was lost, or that waited too long for an acknowledgement, delivers again."""
    components.Exclusive.calls.clear()
    engine.workflow("paid", "stages: [{name: pay, component: exclusive}]")
    app = App(engine.settings.model_copy(update={"prefetch_count": 2}))  # it has a slot left for the copy
    _, worker, _, _ = await engine.start("exclusive", app=app)
    request_id = await engine.submit("paid", sleep=1.5)
    await engine.until(lambda: len(components.Exclusive.calls) == 1, "it is begun")
    assert isinstance(app.transport, rabbitmq.RabbitMqTransport) and app.transport._connection
    await app.transport._connection.close()
    await engine.until(lambda: not worker.is_ready, "the connection is lost")
    await engine.until(lambda: worker.is_ready, "another is made")
    assert (await engine.finished(request_id)).status == "completed"
    assert len(components.Exclusive.calls) == 1


async def test_copies_that_expire_too_early_are_published_again(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    """As when the broker's clock is set forward by more than their lifetime."""
    request_id = await engine.submit("one")
    await engine.until(lambda: _waiting(channel), "the copy waits at the broker")
    copy = await channel.basic_get("q.work", no_ack=True)
    await channel.basic_publish(copy.body, exchange="doc.dlx", properties=copy.header.properties)
    await engine.start("work")
    assert (await engine.finished(request_id)).status == "completed"


# --- what others write --------------------------------------------------------------------------------------


async def test_message_that_nobody_here_has_sent_is_a_dead_letter(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    await engine.start("work")
    request = await engine.run("one")
    stranger = PipelineMessage(request_id=request.id, current_stage="work", workflow_name="one")
    for _ in range(3):
        await channel.basic_publish(stranger.encode(), exchange="doc.direct", routing_key="work")
    await engine.until(lambda: _count(channel, engine, 1), "it is kept once")
    (letter,) = await engine.query("SELECT message_id, queue, reason FROM dead_letters")
    assert (letter.message_id, letter.queue) == (stranger.message_id, "q.work")
    assert letter.reason.startswith("nobody here has sent it")
    assert (await engine.request(request.id)).status == "completed"


async def test_repeated_copies_of_handled_messages_are_no_dead_letters(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    """Ours, and ours without the mark that says so: an event tells that it was handled."""
    await engine.start("work")
    request_id = await engine.submit("one")
    await engine.finished(request_id)
    (handled,) = await engine.events(request_id, "handled")
    again = PipelineMessage(message_id=handled.message_id, request_id=request_id, current_stage="work")
    for mark in (None, OWN_TYPE):
        properties = aiormq.spec.Basic.Properties(message_type=mark, message_id=str(again.message_id))
        await channel.basic_publish(
            again.encode(), exchange="doc.direct", routing_key="work", properties=properties
        )
    await engine.finished(await engine.submit("one"))  # behind them in the queue
    await engine.until(lambda: _count(channel, engine, 0), "all are taken")


async def test_units_that_another_system_brings_to_a_join_are_counted_as_specified(
    engine: Harness, channel: aiormq.abc.AbstractChannel
) -> None:
    """M messages, each twice, to `q.extraction_aggregator`: one arrives at `q.consolidator`."""
    engine.workflow("spec", SPECIFIED)
    request = await engine.request(await engine.submit("spec"))
    async with engine.app.store.writing() as session:
        like = fan_in.Arrival(request.id, "default", "extraction", "", 1, "")
        await fan_out.announce_units(session, like, 5, is_last=True)
    for number in range(5):
        unit = PipelineMessage(
            request_id=request.id,
            current_stage="collect",
            unit_key=f"document:{number}",
            tenant_id="elsewhere",
        )
        for _ in range(2):
            await channel.basic_publish(unit.encode(), exchange="doc.direct", routing_key="doc.extracted")
    await engine.start("extraction_aggregator")

    async def counted() -> bool:
        (state,) = await engine.query("SELECT received_count, is_complete FROM aggregation_state")
        waiting = (await channel.queue_declare("q.extraction_aggregator", passive=True)).message_count
        return (*state, waiting) == (5, True, 0)

    await engine.until(counted, "all are counted, each once")
    arrived = await channel.basic_get("q.consolidator", no_ack=True)
    assert PipelineMessage.parse(arrived.body).tenant_id == "default"
    assert (await channel.queue_declare("q.consolidator", passive=True)).message_count == 0
    assert await engine.query("SELECT count(*) FROM dead_letters") == [(0,)]


async def _count(channel: aiormq.abc.AbstractChannel, engine: Harness, letters: int) -> bool:
    """Nothing is left in the queue, and so many letters there are."""
    kept = await engine.query("SELECT count(*) FROM dead_letters")
    return await _waiting(channel) == 0 and kept == [(letters,)]


async def _waiting(channel: aiormq.abc.AbstractChannel) -> int:
    return (await channel.queue_declare("q.work", passive=True)).message_count or 0


# --- commits without a word --------------------------------------------------------------------------------


async def test_copies_of_a_commit_whose_confirmation_was_lost_are_published(
    engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what was submitted, and of what a worker sends: both were committed, and nobody was told so."""
    engine.workflow("two", "stages: [{name: a, component: heavy}, {name: b, component: heavy}]")
    commit = AsyncSession.commit
    lost: list[AsyncSession] = []

    async def cut_off(session: AsyncSession) -> None:
        is_writing = session.in_transaction()
        await commit(session)
        if is_writing and len(lost) < 2:
            lost.append(session)
            raise DBAPIError("COMMIT", {}, OSError("connection reset"), connection_invalidated=True)

    monkeypatch.setattr(AsyncSession, "commit", cut_off)
    with pytest.raises(DBAPIError):
        await engine.submit("two")
    async with engine.app.store.reading() as session:
        request_id = filled(await session.scalar(select(Request.id)))
    await engine.start("heavy")
    finished = await engine.finished(request_id, 15)  # copies live for five minutes
    assert (finished.status, len(lost)) == ("completed", 2)
    handled = [(e.stage, e.outcome) for e in await engine.events(request_id, "handled")]
    assert handled == [("a", "done"), ("b", "done")]


# --- memory -----------------------------------------------------------------------------------------------


@pytest.fixture
def broker() -> Iterator[RabbitServer]:
    services.require(RabbitServer.available())
    with RabbitServer() as server:
        yield server


async def test_memory_alarm_delays_copies_and_no_answer(
    tmp_path: Path, postgres_url: str, broker: RabbitServer
) -> None:
    async with relaying(tmp_path, postgres_url, broker.url) as engine:
        _, worker, _, _ = await engine.start("work")
        await asyncio.to_thread(_watermark, broker, "0")
        began = time.monotonic()
        requests = [await engine.submit("one") for _ in range(5)]
        assert time.monotonic() - began < 5
        assert not engine.app.transport.can_publish
        await asyncio.to_thread(_watermark, broker, "0.6")
        for request_id in requests:
            assert (await engine.finished(request_id)).status == "completed"
        await engine.until(lambda: worker.is_ready, "the worker is ready again")


def _watermark(broker: RabbitServer, fraction: str) -> None:
    broker.control("set_vm_memory_high_watermark", fraction)
