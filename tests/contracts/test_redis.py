"""What only Redis can do: forget everything or a single entry, come back, be slow to notice the dead."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from redis.asyncio import Redis

from bench.redis_server import RedisServer
from docproc.engine.ending import end
from docproc.engine.message import PipelineMessage
from docproc.engine.running.intake import Submission
from docproc.engine.store import tenants
from docproc.engine.transport import Copy, Delivery, Topology
from docproc.engine.transports import redis as transport_module
from docproc.engine.transports.redis import RedisTransport
from docproc.errors import TransportError
from tests.harness import Harness, opened, settings_for

ONE = "stages: [{name: work, component: work}]"
STREAMS = "orchestrator:tasks:{tenant}:{priority}"


@contextlib.asynccontextmanager
async def relaying(folder: Path, database_url: str, redis_url: str) -> AsyncIterator[Harness]:
    """Its client relays what it sends, as the API does. Copies live for five minutes, as by default, so that
    their age brings nothing back."""
    async with opened(settings_for(folder, database_url=database_url, redis_url=redis_url)) as harness:
        harness.workflow("one", ONE)
        relay = asyncio.create_task(harness.app.relay.run())
        try:
            yield harness
        finally:
            relay.cancel()
            await asyncio.gather(relay, return_exceptions=True)


@pytest.fixture
async def engine(tmp_path: Path, postgres_url: str, redis_url: str) -> AsyncIterator[Harness]:
    async with relaying(tmp_path, postgres_url, redis_url) as harness:
        yield harness


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[Any]:
    async with Redis.from_url(redis_url) as connection:
        yield connection


@pytest.fixture
def own_server() -> Iterator[RedisServer]:
    """One that may be stopped."""
    with RedisServer() as server:
        yield server


def copy(**fields: object) -> Copy:
    message = PipelineMessage.model_validate({"request_id": uuid4(), "current_stage": "work", **fields})
    return Copy(message.message_id, "doc.direct", "work", "q.work", message.priority, message.encode())


async def completed(engine: Harness, *ids: UUID, seconds: float = 10) -> None:
    """Each ended, and each message was handled once."""
    for request_id in ids:
        assert (await engine.finished(request_id, seconds)).status == "completed"
        assert len(await engine.events(request_id, "handled")) == 1
    assert await engine.query("SELECT id FROM messages") == []


# --- forgetting -------------------------------------------------------------------------------------------


async def test_flushed_redis_gets_every_copy_again_at_once(engine: Harness, client: Any) -> None:
    waiting = [await engine.submit("one") for _ in range(20)]
    await client.flushall()
    began = time.monotonic()
    await engine.start("work")
    await completed(engine, *waiting)
    assert time.monotonic() - began < 5, "not when the copies' lifetime is over"


async def test_flush_in_the_middle_of_work_loses_and_doubles_nothing(engine: Harness, client: Any) -> None:
    engine.workflow("slow", "stages: [{name: a, component: slow}]")
    await engine.start("slow")
    requests = []
    for number in range(60):
        requests.append(await engine.submit("slow", sleep=0.01))
        if number % 20 == 10:
            await client.flushall()
    await completed(engine, *requests)


@pytest.mark.parametrize("what", ["an entry", "the whole stream"])
async def test_removed_copy_is_put_back_and_runs_once(engine: Harness, client: Any, what: str) -> None:
    requests = [await engine.submit("one") for _ in range(3)]
    if what == "an entry":
        entries = await client.xrange("docproc:q.work:5")
        await client.xdel("docproc:q.work:5", entries[1][0])
    else:
        await client.delete("docproc:q.work:5")

    async def is_back() -> bool:
        return bool(await client.xlen("docproc:q.work:5") == 3)

    await engine.until(is_back, "the copy is put back", 15)
    await engine.start("work")
    await completed(engine, *requests)


async def test_copies_are_not_missed_while_they_are_there(engine: Harness, client: Any) -> None:
    """The comparison of rows and entries publishes nothing twice."""
    for _ in range(5):
        await engine.submit("one")
    audit = _transport(engine)._audit
    await asyncio.sleep(1.1)  # younger ones may be on their way, and are not looked at
    assert await audit.look() == []
    entries = await client.xrange("docproc:q.work:5")
    await client.xdel("docproc:q.work:5", entries[0][0], entries[3][0])
    lost = {UUID(entries[n][1][b"id"].decode()) for n in (0, 3)}
    assert set(await audit.look()) == lost


async def test_restarted_redis_is_survived(
    tmp_path: Path, postgres_url: str, own_server: RedisServer
) -> None:
    async with relaying(tmp_path, postgres_url, own_server.url) as engine:
        _, worker, _, _ = await engine.start("work")
        await engine.finished(await engine.submit("one"))
        await asyncio.to_thread(own_server.kill)
        began = time.monotonic()
        requests = [await engine.submit("one") for _ in range(5)]
        assert time.monotonic() - began < 5, "whoever submits does not wait for it"
        await engine.until(lambda: not worker.is_ready, "the worker says that it gets nothing")
        await asyncio.to_thread(own_server.start)
        await completed(engine, *requests)
        await engine.until(lambda: worker.is_ready, "the worker is ready again")


async def test_full_redis_delays_copies_and_no_answer(
    tmp_path: Path, postgres_url: str, own_server: RedisServer
) -> None:
    async with relaying(tmp_path, postgres_url, own_server.url) as engine:
        await engine.start("work")
        await asyncio.to_thread(own_server.command, "CONFIG", "SET", "maxmemory", "1")
        requests = [await engine.submit("one") for _ in range(3)]
        assert not engine.app.transport.can_publish
        await asyncio.to_thread(own_server.command, "CONFIG", "SET", "maxmemory", "0")
        await completed(engine, *requests)


# --- consumers --------------------------------------------------------------------------------------------


async def test_entries_of_a_consumer_that_is_not_heard_of_go_to_others_in_their_order(
    engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that died without a word; nobody has to wait until a copy expires."""
    # Twelve beats: however busy the machine is, nobody who lives is taken for dead.
    monkeypatch.setattr(transport_module, "STALE_SECONDS", 3.0)
    monkeypatch.setattr(transport_module, "BEAT_SECONDS", 0.25)
    lost, heir = _another(engine), _another(engine)
    await lost.open()
    sent = [copy(payload={"n": n}) for n in range(6)]
    await lost.publish(sent)
    groups = lost.consume("q.work", batch=4, slots=1)
    taken = await anext(groups)
    assert len(taken) == 4
    # As if its process were gone. Not by one `cancel`: the client of Redis swallows one that comes together
    # with an answer, and the task would go on for ever.
    await end(list(lost._tasks))
    await heir.open()
    found: list[Delivery] = []
    async with asyncio.timeout(30):
        async for group in heir.consume("q.work", batch=1, slots=1):
            found += group
            await heir.settle(group)
            if len({one.message_id for one in found}) == 6:
                break
    late = [one.message_id for one in found]
    assert sorted(map(str, late)) == sorted(str(one.message_id) for one in sent), "each once"
    assert late.index(taken[0].message_id) < late.index(taken[3].message_id)
    lost.stop()
    await lost._redis.aclose()
    await heir.close()


async def test_what_was_taken_and_not_begun_goes_back_when_a_process_ends(engine: Harness) -> None:
    leaving, staying = _another(engine), _another(engine)
    await leaving.open()
    await staying.open()
    await leaving.publish([copy(), copy()])
    assert len(await anext(leaving.consume("q.work", batch=2, slots=1))) == 2
    await leaving.close()
    async with asyncio.timeout(5):
        found = await anext(staying.consume("q.work", batch=2, slots=1))
    assert len(found) == 2
    await staying.close()


async def test_message_of_another_system_is_kept(engine: Harness, client: Any) -> None:
    await engine.start("work")
    await client.xadd("docproc:q.work:5", {"body": "from nowhere"})

    async def kept() -> bool:
        rows = await engine.query("SELECT queue, body FROM dead_letters")
        return [tuple(row) for row in rows] == [("q.work", b"from nowhere")]

    await engine.until(kept, "the bytes are in the dead letters")


async def test_unreachable_redis_is_told_with_a_remedy(engine: Harness) -> None:
    app = engine.app
    nowhere = RedisTransport("redis://127.0.0.1:1/0", app.topology, app.store, "x", ttl_ms=1000)
    with pytest.raises(TransportError, match="Redis is out of reach") as caught:
        await nowhere.open()
    assert "DOCPROC_REDIS_URL" in caught.value.remedy
    await nowhere.close()


# --- streams that an application names --------------------------------------------------------------------


async def test_streams_have_the_names_an_application_gives_them(engine: Harness, client: Any) -> None:
    """`orchestrator:tasks:{tenant}:{priority}` with a lifetime of 5 to 60 minutes, most urgent first."""
    named = _another(engine, streams={"q.work": STREAMS})
    await named.open()
    sent = [copy(tenant_id="acme", priority=9), copy(tenant_id="acme", priority=6), copy(tenant_id="zeta")]
    await named.publish([*sent[::-1], replace(copy(tenant_id="zeta"), goes_first=True)])
    keys = {key.decode() for key in await client.keys("orchestrator:*")}
    assert keys == {f"orchestrator:tasks:{place}" for place in ("acme:0", "acme:3", "zeta:4", "zeta:first")}
    for key in keys:
        assert 299 <= await client.ttl(key) <= 3600
    taken: list[Delivery] = []
    async with asyncio.timeout(5):
        async for group in named.consume("q.work", batch=2, slots=1):
            taken += group
            await named.settle(group)
            if len(taken) == 4:
                break
    assert [one.message_id for one in taken[1:]] == [one.message_id for one in sent]
    await named.close()


async def test_tenants_of_one_band_are_read_in_turn(engine: Harness) -> None:
    named = _another(engine, streams={"q.work": STREAMS})
    await named.open()
    await named.publish([copy(tenant_id="flood") for _ in range(50)])
    await named.publish([copy(tenant_id="few") for _ in range(5)])
    async with asyncio.timeout(5):
        (first,) = [await anext(named.consume("q.work", batch=12, slots=1))]
    whose = [PipelineMessage.parse(one.body).tenant_id for one in first]
    assert whose.count("few") == 5
    await named.close()


async def test_many_tenants_and_bands_are_all_worked_off(engine: Harness) -> None:
    async with engine.app.store.writing() as session:
        for number in range(20):
            await tenants.add(session, f"t{number}", weight=1.0)
    requests = []
    for number in range(60):
        submission = Submission("one", {}, priority=number % 10, tenant_id=f"t{number % 20}")
        requests.append(await engine.app.intake.submit(submission))
    await engine.start("work")
    await completed(engine, *requests)


def _another(engine: Harness, streams: dict[str, str] | None = None) -> RedisTransport:
    topology = Topology(engine.app.topology.bindings, streams)
    url = engine.settings.effective_redis_url
    return RedisTransport(url, topology, engine.app.store, f"test-{uuid4().hex[:6]}", ttl_ms=300_000)


def _transport(engine: Harness) -> RedisTransport:
    transport = engine.app.transport
    assert isinstance(transport, RedisTransport)
    return transport
