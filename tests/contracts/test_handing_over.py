"""Messages for a consumer that waits in the same process: written under its lease and handed to it, so that
no claim has to find them; what does not commit leaves no trace."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from docproc.engine.message import PipelineMessage
from docproc.engine.running.intake import Submission
from docproc.engine.store import messages, turns
from docproc.engine.store.messages import Outgoing
from docproc.engine.store.tables import MessageState
from docproc.engine.transport import Delivery, Transport
from tests.contracts.test_transport import message, send
from tests.harness import Harness

TWO = "stages: [{name: first, component: heavy}, {name: second, component: heavy}]"
PAID = "stages: [{name: first, component: heavy}, {name: second, component: exclusive}]"


@pytest.fixture(autouse=True)
def without_a_broker(engine: Harness) -> None:
    if engine.app.transport.has_broker:
        pytest.skip("a broker hands its copies out itself")


@asynccontextmanager
async def consuming(engine: Harness) -> AsyncIterator[list[PipelineMessage]]:
    """Everything that a consumer of `q.work` gets, from the moment on in which it waits."""
    transport = engine.app.transport
    taken: list[PipelineMessage] = []

    async def consume() -> None:
        async for group in transport.consume("q.work", batch=1, slots=1):
            taken.extend(PipelineMessage.parse(delivery.body) for delivery in group)
            await transport.settle(group)

    task = asyncio.create_task(consume())
    try:
        yield taken
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def offered(engine: Harness, transport: Transport, sent: PipelineMessage) -> None:
    await engine.until(lambda: transport.offer("q.work", sent.message_id), "a consumer waits")


async def write(engine: Harness, sent: PipelineMessage) -> None:
    outgoing = [Outgoing.of(sent, "q.work")]
    async with engine.app.store.writing() as session:
        await messages.send(session, outgoing, state=MessageState.LEASED, worker_id=engine.app.worker_id)


async def test_next_heavy_stage_of_the_same_process_needs_no_claim(
    engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed: Counter[str] = Counter()
    real = turns.claim

    async def claim(connection: Any, dialect: str, queue: str, *rest: Any) -> Any:
        found = await real(connection, dialect, queue, *rest)
        claimed[queue] += len(found)
        return found

    monkeypatch.setattr(turns, "claim", claim)
    engine.workflow("paid", PAID)
    await engine.start("heavy", "exclusive")
    assert (await engine.run("paid")).status == "completed"
    # The submission came from another process, the message of the second stage did not.
    assert dict(claimed) | {"q.exclusive": claimed["q.exclusive"]} == {"q.heavy": 1, "q.exclusive": 0}


async def test_nobody_is_offered_anything_before_he_waits(engine: Harness) -> None:
    assert not engine.app.transport.offer("q.work", message().message_id)


async def test_handed_message_is_delivered_once_and_the_next_offer_waits_for_its_turn(
    engine: Harness,
) -> None:
    transport = engine.app.transport
    async with consuming(engine) as taken:
        sent, another = message(), message()
        await offered(engine, transport, sent)
        assert not transport.offer("q.work", another.message_id), "one is promised already"
        await write(engine, sent)
        transport.hand(Delivery("q.work", sent.encode(), sent.message_id, 1, 0, 5, "default"))
        await engine.until(lambda: taken, "the message")
        await send(engine, another)
        await engine.until(lambda: len(taken) == 2, "the other one, by a claim")
    assert [one.message_id for one in taken] == [sent.message_id, another.message_id]


async def test_commit_whose_word_got_lost_is_found_by_the_next_claim(engine: Harness) -> None:
    transport = engine.app.transport
    async with consuming(engine) as taken:
        sent = message()
        await offered(engine, transport, sent)
        await write(engine, sent)
        transport.withdraw("q.work", sent.message_id)
        await engine.until(lambda: taken, "the message, freed and claimed")
    assert [one.message_id for one in taken] == [sent.message_id]


async def test_submission_that_is_rolled_back_is_handed_to_nobody(engine: Harness) -> None:
    engine.workflow("two", TWO)
    app, *_ = await engine.start("heavy")
    lost = Submission("two")
    with contextlib.suppress(ZeroDivisionError):
        async with app.store.writing() as session:
            await app.intake.accept(session, lost)
            raise ZeroDivisionError
    assert (await engine.run("two")).status == "completed"
    assert await engine.events(lost.request_id) == []
