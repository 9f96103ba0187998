"""The orchestrator's Redis: queues of services at least once, and key families that the database outlives."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from redis.asyncio import Redis

from bench.redis_server import RedisServer
from docproc.apps.orchestrator.redis_keys import RedisKeys
from docproc.apps.orchestrator.services.port import Taken
from docproc.apps.orchestrator.services.wire import Incoming, Outgoing, WireError
from docproc.apps.orchestrator.services.wires import redis_protocol
from docproc.apps.orchestrator.services.wires.redis import RedisWire
from docproc.apps.orchestrator.services.wires.redis_port import RedisPort
from docproc.engine.message import PipelineMessage, utc_now

QUEUE = "agent:execution"
NO_SESSION: Any = None
LEASE_SECONDS = 0.4


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[Any]:
    async with Redis.from_url(redis_url) as connection:
        yield connection


@pytest.fixture
async def wire(redis_url: str) -> AsyncIterator[RedisWire]:
    opened = RedisWire(redis_url, "orchestrator-1", lease_seconds=LEASE_SECONDS)
    await opened.open()
    opened.take_loss()
    yield opened
    await opened.close()


@pytest.fixture
async def service(redis_url: str) -> AsyncIterator[RedisPort]:
    queue = RedisPort(redis_url, "service-1", lease_seconds=LEASE_SECONDS)
    yield queue
    await queue.close()


def envelope(call_id: UUID | None = None, fencing: int = 1, queue: str = QUEUE) -> Outgoing:
    call_id = call_id or uuid4()
    message = PipelineMessage(request_id=uuid4())
    body = json.dumps({"call": str(call_id), "fencing": fencing}).encode()
    return Outgoing(call_id, queue, "acme", 3, fencing, body, utc_now() + timedelta(seconds=60), message)


async def take(service: RedisPort, number: int = 1) -> list[Taken]:
    taken: list[Taken] = []
    async with asyncio.timeout(5):
        while len(taken) < number:
            taken += await service.take([QUEUE], number - len(taken), 0.2)
    return taken


async def answer(service: RedisPort, taken: Taken, body: bytes) -> None:
    await service.say([body])
    await service.settle([taken])


def call_of(taken: Taken) -> str:
    return str(json.loads(taken.body)["call"])


def fencing_of(taken: Taken) -> int:
    return int(json.loads(taken.body)["fencing"])


async def heard(wire: RedisWire) -> Sequence[Incoming]:
    async with asyncio.timeout(5):
        return await anext(wire.answers())


# --- envelopes out, answers in ------------------------------------------------------------------------------


async def test_envelope_reaches_a_service_and_its_answer_comes_back(
    wire: RedisWire, service: RedisPort, client: Any
) -> None:
    sent = envelope(fencing=7)
    await wire.publish([sent])
    (taken,) = await take(service)
    assert (taken.queue, taken.body) == (QUEUE, sent.body)
    await service.say([b'{"progress": 25}'])
    await answer(service, taken, b'{"done": true}')
    said: list[bytes] = []
    while len(said) < 2:
        found = await heard(wire)
        said += [one.body for one in found]
        await wire.settle(found)
    assert said == [b'{"progress": 25}', b'{"done": true}']
    assert (await client.xlen(QUEUE), await client.xlen(redis_protocol.ANSWERS)) == (0, 0)


async def test_envelope_that_is_still_there_is_not_added_again(
    wire: RedisWire, service: RedisPort, client: Any
) -> None:
    sent = envelope()
    for _ in range(3):
        await wire.publish([sent])
    assert await client.xlen(QUEUE) == 1
    (taken,) = await take(service)
    await wire.publish([sent])  # a service is at it
    assert await client.xlen(QUEUE) == 1
    await answer(service, taken, b"{}")
    await wire.publish([sent])  # answered, but that was not written down yet
    assert await client.xlen(QUEUE) == 1


async def test_newer_fencing_number_replaces_the_envelope(
    wire: RedisWire, service: RedisPort, client: Any
) -> None:
    first = envelope()
    await wire.publish([first])
    await wire.publish([envelope(first.call_id, fencing=2)])
    assert await client.xlen(QUEUE) == 1
    (taken,) = await take(service)
    assert fencing_of(taken) == 2


async def test_envelope_of_a_service_that_died_goes_to_another(
    wire: RedisWire, service: RedisPort, redis_url: str
) -> None:
    await wire.publish([envelope()])
    (first,) = await take(service)
    other = RedisPort(redis_url, "service-2", lease_seconds=LEASE_SECONDS)
    (again,) = await take(other)
    assert call_of(again) == call_of(first)
    await other.close()


async def test_service_that_beats_keeps_its_envelope(
    wire: RedisWire, service: RedisPort, redis_url: str
) -> None:
    await wire.publish([envelope()])
    taken = await take(service)
    other = RedisPort(redis_url, "service-2", lease_seconds=LEASE_SECONDS)
    until = time.monotonic() + 1
    while time.monotonic() < until:
        await service.renew(taken)
        assert await other.take([QUEUE], 1, 0.05) == ()
    await other.close()


async def test_answer_that_a_dead_orchestrator_had_read_is_read_by_another(
    wire: RedisWire, service: RedisPort, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_protocol, "ANSWER_LEASE_SECONDS", 0.3)
    await service.say([b"an answer"])
    assert [one.body for one in await heard(wire)] == [b"an answer"]
    other = RedisWire(redis_url, "orchestrator-2")
    await other.open()
    assert [one.body for one in await heard(other)] == [b"an answer"]
    await other.close()


async def test_envelope_that_was_given_back_is_anybody_s_at_once(wire: RedisWire, redis_url: str) -> None:
    slow, other = RedisPort(redis_url, "slow"), RedisPort(redis_url, "other")
    await wire.publish([envelope()])
    taken = await take(slow)
    await slow.give_back(taken)
    assert [call_of(one) for one in await take(other)] == [call_of(taken[0])]
    await slow.close()
    await other.close()


async def test_withdrawn_envelope_is_not_begun(wire: RedisWire, service: RedisPort, client: Any) -> None:
    sent = envelope()
    await wire.publish([sent])
    await wire.withdraw(NO_SESSION, [sent])
    async with asyncio.timeout(5):
        while await client.xlen(QUEUE):
            await asyncio.sleep(0.01)
    assert await service.take([QUEUE], 1, 0.1) == ()


# --- losses -------------------------------------------------------------------------------------------------


async def test_flush_is_noticed_and_500_open_calls_are_sent_again_and_answered_once(
    wire: RedisWire, service: RedisPort, client: Any
) -> None:
    calls = [envelope() for _ in range(500)]
    await wire.publish(calls)
    await take(service, 20)  # in work when it happens
    before = time.monotonic()
    await client.flushall()
    answers = wire.answers()
    reading = asyncio.ensure_future(anext(answers))
    async with asyncio.timeout(5):
        while (loss := wire.take_loss()) is None:
            await asyncio.sleep(0.01)
    assert loss >= before - 0.1
    await wire.publish(calls)
    taken = await take(service, 500)
    assert {call_of(one) for one in taken} == {str(one.call_id) for one in calls}
    assert all(fencing_of(one) == 1 for one in taken)
    for one in taken:
        await answer(service, one, call_of(one).encode())
    found = list(await reading)
    while len(found) < 500:
        found += await anext(answers)
    assert len({one.body for one in found}) == 500


async def test_wire_outlasts_a_restart_and_says_that_something_may_be_lost() -> None:
    with RedisServer() as server:
        wire = RedisWire(server.url, "orchestrator-1")
        await wire.open()
        wire.take_loss()
        reading = asyncio.ensure_future(anext(wire.answers()))
        await asyncio.to_thread(server.kill)
        with pytest.raises(WireError):
            await wire.publish([envelope()])
        await asyncio.to_thread(server.start)
        service = RedisPort(server.url, "service-1")
        await service.say([b"after the restart"])
        async with asyncio.timeout(10):
            (found,) = await reading
        assert found.body == b"after the restart"
        assert wire.take_loss() is not None
        await service.close()
        await wire.close()


async def test_unreachable_redis_is_told_with_a_remedy() -> None:
    wire = RedisWire("redis://127.0.0.1:1/0", "orchestrator-1")
    with pytest.raises(WireError, match="out of reach") as caught:
        await wire.open()
    assert "DOCPROC_ORCHESTRATOR_REDIS_URL" in caught.value.remedy
    await wire.close()


# --- key families -------------------------------------------------------------------------------------------


@pytest.fixture
async def keys(redis_url: str) -> AsyncIterator[RedisKeys]:
    opened = RedisKeys(redis_url)
    yield opened
    await opened.close()


class Database:
    """Stands for the row: counts how often it is read."""

    def __init__(self, state: dict[str, Any] | None) -> None:
        self.state = state
        self.reads = 0

    async def __call__(self) -> dict[str, Any] | None:
        self.reads += 1
        return self.state


async def test_keys_have_the_specified_names_and_lifetimes(keys: RedisKeys, client: Any) -> None:
    await keys.put_session("acme", "s1", {"context": {}})
    await keys.notify("alerts", {"level": "high"})
    await keys.put_config("acme", {"weight": 2})
    await keys.drop("acme", {"task_id": "1"}, "expired")
    lifetimes = {key.decode(): await client.ttl(key) for key in await client.keys("*")}
    assert 1799 <= lifetimes.pop("orchestrator:session:acme:s1") <= 1800
    assert 599 <= lifetimes.pop("orchestrator:system:notifications:alerts") <= 600
    assert lifetimes.pop("orchestrator:tenant:acme:config") == -1
    assert lifetimes.pop("orchestrator:dlq:acme") > 0
    assert lifetimes == {}
    assert await keys.notifications("alerts") == [{"level": "high"}]
    (dropped,) = await keys.dropped("acme")
    assert (dropped["reason"], dropped["envelope"]) == ("expired", {"task_id": "1"})


async def test_lifetime_of_a_session_begins_anew_with_every_use(keys: RedisKeys, client: Any) -> None:
    database = Database({"context": {"a": 1}})
    await keys.session("acme", "s1", database)
    await client.expire("orchestrator:session:acme:s1", 10)
    assert await keys.session("acme", "s1", database) == {"context": {"a": 1}}
    assert await client.ttl("orchestrator:session:acme:s1") > 1700
    assert database.reads == 1


async def test_flushed_session_is_read_from_the_database_and_put_back(keys: RedisKeys, client: Any) -> None:
    database = Database({"context": {"a": 1}})
    await keys.put_session("acme", "s1", {"context": {"a": 1}})
    await client.flushall()
    assert await keys.session("acme", "s1", database) == {"context": {"a": 1}}
    assert (database.reads, await client.exists("orchestrator:session:acme:s1")) == (1, 1)


async def test_everything_is_put_back_after_a_flush_but_not_over_what_is_newer(
    keys: RedisKeys, client: Any
) -> None:
    await keys.put_session("acme", "newer", {"n": 2})
    end = utc_now() + timedelta(seconds=100)
    over = utc_now() - timedelta(seconds=1)
    sessions = [
        ("acme", "newer", {"n": 1}, end),
        ("acme", "older", {"n": 1}, end),
        ("acme", "gone", {}, over),
    ]
    await keys.rebuild(sessions, {"acme": {"weight": 1}})
    assert json.loads(await client.get("orchestrator:session:acme:newer")) == {"n": 2}
    assert 90 < await client.ttl("orchestrator:session:acme:older") <= 100
    assert not await client.exists("orchestrator:session:acme:gone")
    assert json.loads(await client.get("orchestrator:tenant:acme:config")) == {"weight": 1}


async def test_without_redis_sessions_come_from_the_database() -> None:
    keys = RedisKeys("redis://127.0.0.1:1/0")
    assert await keys.session("acme", "s1", Database({"a": 1})) == {"a": 1}
    await keys.put_config("acme", {})
    await keys.notify("alerts", {})
    await keys.drop("acme", {}, "expired")
    assert (await keys.dropped("acme"), await keys.notifications("alerts")) == ([], [])
    await keys.close()
