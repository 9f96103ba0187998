"""The transport contract, on every combination: order, delays, doubled and unreadable messages, stopping."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.running.intake import Submission
from docproc.engine.running.sending import copy_of
from docproc.engine.store import messages
from docproc.engine.store.messages import Outgoing
from docproc.engine.store.tables import DeadLetter, MessageState
from docproc.engine.transport import Copy, Delivery, Transport
from tests.harness import Harness

ONE = "stages: [{name: work, component: work}]"


async def take(transport: Transport, queue: str, number: int, *, batch: int = 1) -> list[PipelineMessage]:
    """Consume so many messages, settling each."""
    taken: list[PipelineMessage] = []

    async def consume() -> None:
        async for group in transport.consume(queue, batch=batch, slots=1):
            taken.extend(PipelineMessage.parse(delivery.body) for delivery in group)
            await transport.settle(group)
            if len(taken) >= number:
                return

    await asyncio.wait_for(consume(), 10)
    return taken


async def send(engine: Harness, *given: PipelineMessage) -> None:
    """Rows and copies, as the outbox makes them."""
    transport = engine.app.transport
    outgoing = [Outgoing.of(message, "q.work") for message in given]
    state = MessageState.SENT if transport.has_broker else MessageState.READY
    async with engine.app.store.writing() as session:
        await messages.send(
            session, outgoing, state=state, worker_id="client" if transport.has_broker else None
        )
    await transport.publish(
        [Copy(m.message_id, "doc.direct", "work", "q.work", m.priority, m.encode()) for m in given]
    )


def message(**fields: object) -> PipelineMessage:
    return PipelineMessage.model_validate({"request_id": uuid4(), "current_stage": "work", **fields})


async def test_urgent_messages_come_first_and_equals_in_order_of_age(engine: Harness) -> None:
    if engine.settings.quorum_queues:
        pytest.skip("quorum queues know no priorities, or two of them (RabbitMQ 4)")
    given = [message(priority=priority, payload={"n": n}) for n, priority in enumerate((5, 1, 9, 5, 9))]
    await send(engine, *given)
    taken = await take(engine.app.transport, "q.work", 5)
    assert [(m.priority, m.payload["n"]) for m in taken] == [(9, 2), (9, 4), (5, 0), (5, 3), (1, 1)]


async def test_nearer_deadline_comes_first_within_a_band(engine: Harness) -> None:
    if engine.app.transport.has_broker:
        pytest.skip("a broker's queue knows bands only; deadlines order the rows")
    soon, later = utc_now() + timedelta(seconds=5), utc_now() + timedelta(seconds=500)
    given = [message(deadline_utc=later), message(deadline_utc=soon), message(deadline_utc=None)]
    await send(engine, *given)
    taken = await take(engine.app.transport, "q.work", 3)
    assert [m.deadline_utc for m in taken] == [soon, later, None]


async def test_groups_are_no_larger_than_asked_and_nothing_is_delivered_twice(engine: Harness) -> None:
    given = [message() for _ in range(25)]
    await send(engine, *given)
    sizes: list[int] = []
    seen: list[UUID] = []

    async def consume() -> None:
        async for group in engine.app.transport.consume("q.work", batch=10, slots=1):
            sizes.append(len(group))
            seen.extend(PipelineMessage.parse(delivery.body).message_id for delivery in group)
            await engine.app.transport.settle(group)
            if len(seen) >= 25:
                return

    await asyncio.wait_for(consume(), 10)
    assert max(sizes) <= 10
    assert sorted(seen) == sorted(m.message_id for m in given)


async def test_unsettled_deliveries_are_limited_by_batch_and_slots(engine: Harness) -> None:
    """A consumer that settles nothing gets `batch * slots` messages from a broker, and no more."""
    if not engine.app.transport.has_broker:
        pytest.skip("rows are claimed only when asked for")
    await send(engine, *(message() for _ in range(10)))
    received: list[Delivery] = []

    async def hoard() -> None:
        async for group in engine.app.transport.consume("q.work", batch=2, slots=2):
            received.extend(group)

    task = asyncio.create_task(hoard())
    await engine.until(lambda: len(received) == 4, "four deliveries")
    with pytest.raises(AssertionError):
        await engine.until(lambda: len(received) > 4, "a fifth delivery", seconds=0.3)
    task.cancel()


async def test_idle_consumer_is_woken_by_another_process_without_polling(
    engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waking must not depend on the idle timeout: it is set beyond the test's patience."""
    monkeypatch.setattr("docproc.engine.transports.sql.IDLE_SECONDS", 60.0)
    engine.workflow("one", ONE)
    await engine.start("work")
    for _ in range(3):
        request = await engine.finished(await engine.submit("one"), seconds=5)
        assert request.status == "completed"


async def test_delayed_message_is_delivered_when_due_and_not_before(engine: Harness) -> None:
    engine.workflow(
        "late",
        """
        stages:
          - name: poison
            component: poison
            retry: {attempts: 2, errors: {TransientError: {delays_seconds: [0.4]}}}
        """,
    )
    await engine.start("poison")
    request = await engine.run("late", index=1, poison=[1], recovers_at=2)
    assert request.status == "completed"
    first, second = [e for e in await engine.events(request.id, "handled") if e.stage == "poison"]
    waited = (second.started_at - first.finished_at).total_seconds()
    assert (first.outcome, second.outcome) == ("retry", "done")
    assert 0.35 <= waited < 5


async def test_delay_survives_the_worker_that_caused_it(engine: Harness) -> None:
    engine.workflow(
        "late",
        "stages: [{name: p, component: poison, retry: {errors: {TransientError: {delays_seconds: [0.5]}}}}]",
    )
    running = await engine.start("poison")
    request_id = await engine.submit("late", index=1, poison=[1], recovers_at=2)
    await engine.until(lambda: _delayed(engine), "the message is delayed")
    await engine.stop(running)
    await engine.start("poison")
    assert (await engine.finished(request_id)).status == "completed"


async def _delayed(engine: Harness) -> bool:
    return await engine.query("SELECT count(*) FROM messages WHERE state = 'delayed'") == [(1,)]


async def test_doubled_copies_have_one_effect(engine: Harness) -> None:
    engine.workflow("one", ONE)
    request_id = await engine.submit("one")
    if engine.app.transport.has_broker:
        (row,) = await engine.query("SELECT id, queue, band, body FROM messages")
        await engine.app.transport.publish([copy_of(row, engine.app.topology)] * 5)
    await engine.start("work")
    await engine.start("work")
    await engine.finished(request_id)
    handled = await engine.events(request_id, "handled")
    assert [event.outcome for event in handled] == ["done"]


async def test_unreadable_message_is_kept_with_its_bytes_and_the_worker_lives(engine: Harness) -> None:
    engine.workflow("one", ONE)
    if engine.app.transport.has_broker:
        garbage = Copy(uuid4(), "doc.direct", "work", "q.work", 5, b"{not json")
        await engine.app.transport.publish([garbage])
    else:
        await send(engine, message())
        await engine.query("UPDATE messages SET body = '{not json'")
    await engine.start("work")
    await engine.until(lambda: _letter(engine), "the dead letter is recorded")
    letter = await _letter(engine)
    assert letter is not None
    assert letter.body == b"{not json"
    assert "not a PipelineMessage" in letter.reason
    assert (await engine.run("one")).status == "completed"


async def _letter(engine: Harness) -> DeadLetter | None:
    async with engine.app.store.reading() as session:
        return (await session.scalars(select(DeadLetter))).first()


async def test_stop_ends_consumers_and_leaves_the_rest_to_others(engine: Harness) -> None:
    engine.workflow("one", ONE)
    running = await engine.start("work")
    await engine.stop(running)
    request_id = await engine.submit("one")
    with pytest.raises(AssertionError):
        await engine.finished(request_id, seconds=0.3)
    await engine.start("work")
    assert (await engine.finished(request_id)).status == "completed"


async def test_poisoned_request_does_not_hold_up_its_neighbours(engine: Harness) -> None:
    engine.workflow("poison", "stages: [{name: p, component: poison, retry: {attempts: 3}}]")
    await engine.start("poison")
    poisoned = await engine.app.intake.submit(
        Submission("poison", {"index": 1, "poison": [1], "delay": 30}, priority=9)
    )
    healthy = [await engine.submit("poison", index=0, poison=[1]) for _ in range(20)]
    for request_id in healthy:
        assert (await engine.finished(request_id, seconds=10)).status == "completed"
    assert (await engine.request(poisoned)).status not in ("completed", "failed")
