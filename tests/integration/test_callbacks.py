"""Answers on their way to a receiver that is well, slow, down or undecided, on both databases."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy.exc import OperationalError
from standardwebhooks import Webhook

from docproc.engine.message import utc_now
from docproc.engine.store import answers, deliveries, requests, rows
from docproc.engine.store.deliveries import Due
from docproc.engine.store.events import TABLE as EVENTS
from docproc.engine.store.session import Store
from docproc.engine.store.tables import AnswerDelivery, Request
from docproc.http.callbacks import sender as sending
from docproc.http.callbacks import signature
from docproc.http.callbacks.post import Poster
from docproc.http.callbacks.resolver import Resolver
from docproc.http.callbacks.schedule import AttemptOutcome, Decision, Reply, Schedule
from docproc.http.callbacks.sender import Sender
from tests import services
from tests.receiver import Answer, Received, Receiver, receiving

SECRET = signature.new_secret()
# The same decisions, without the waiting.
QUICK = Schedule(delays=(0.0,))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One database of each kind for all these tests: most of their time would go into making them."""
    if request.param == "sqlite":
        yield f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('callbacks') / 'docproc.db'}"
        return
    with services.postgres_database(request.getfixturevalue("migrated_template")) as url:
        yield url.replace("postgresql://", "postgresql+asyncpg://")


@pytest.fixture(autouse=True)
async def _nothing_waits(store: Store) -> None:
    async with store.writing() as session:
        await rows.execute(session, "DELETE FROM requests")


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as running:
        yield running


@contextlib.asynccontextmanager
async def sender(
    store: Store, name: str = "one", schedule: Schedule = QUICK, **options: Any
) -> AsyncIterator[Sender]:
    """A sender at work."""
    resolver = Resolver(allow_private=True)
    async with Poster(signature.key_of(SECRET), resolver, options.pop("timeout_seconds", 30.0)) as poster:
        running = Sender(store, poster, name, schedule=schedule, **options)
        task = asyncio.create_task(running.run())
        try:
            yield running
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def request_with(store: Store, url: str | None, versions: int = 1) -> UUID:
    """A request with so many answers, all of which are to be sent."""
    request_id = uuid4()
    async with store.writing() as session:
        session.add(Request(id=request_id, workflow_name="w", status="processing", callback_url=url))
    for version in range(1, versions + 1):
        await answer(store, request_id, {"n": version})
    return request_id


async def answer(store: Store, request_id: UUID, payload: Any) -> None:
    async with store.writing() as session:
        request = await requests.locked(session, request_id)
        assert request is not None
        await answers.give(session, [answers.Given(request, payload, True, answers.Reason.DEADLINE)])


async def states(store: Store, request_id: UUID) -> list[str]:
    async with store.reading() as session:
        found = await rows.execute(
            session, "SELECT state FROM deliveries WHERE request_id = :id ORDER BY version", id=request_id
        )
    return [row.state for row in found]


async def timeline(store: Store, request_id: UUID) -> Sequence[Any]:
    async with store.reading() as session:
        query = EVENTS.select().where(EVENTS.c.request_id == request_id, EVENTS.c.kind == "delivery")
        return list(await session.execute(query.order_by(EVENTS.c.id)))


async def until(condition: Callable[[], Awaitable[bool]], what: str, seconds: float = 30) -> None:
    try:
        async with asyncio.timeout(seconds):
            while not await condition():
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"not within {seconds} s: {what}") from None


async def settled(store: Store, request_id: UUID) -> list[str]:
    async def over() -> bool:
        return "pending" not in await states(store, request_id)

    await until(over, "all versions are settled")
    return await states(store, request_id)


async def came(receiver: Receiver, number: int) -> None:
    async def enough() -> bool:
        return len(receiver.received) >= number

    await until(enough, f"{number} requests came; there are {len(receiver.received)}")


def never(_received: Received) -> Awaitable[Answer]:
    return asyncio.get_running_loop().create_future()


# --- what arrives ---------------------------------------------------------------------------------------


async def test_versions_arrive_once_in_order_signed_and_in_the_timeline(
    store: Store, receiver: Receiver
) -> None:
    request_id = await request_with(store, receiver.url, versions=3)
    async with sender(store):
        assert await settled(store, request_id) == ["delivered"] * 3
    assert [got.version for got in receiver.received] == [1, 2, 3]
    for got in receiver.received:
        said = Webhook(SECRET).verify(got.body, got.headers)
        assert said["result"] == {"n": got.version} and said["partial"] is True
        assert said["delivery_id"] == got.headers["webhook-id"]
    found = await timeline(store, request_id)
    assert [(e.outcome, e.attempt, e.data["version"], e.data["status_code"]) for e in found] == [
        ("delivered", 1, version, 204) for version in (1, 2, 3)
    ]
    assert {e.data["host"] for e in found} == {f"127.0.0.1:{receiver.port}"}


async def test_request_without_an_address_is_nobodys_business(store: Store) -> None:
    assert await states(store, await request_with(store, None)) == []


async def test_failed_attempts_repeat_the_same_id_and_body_before_the_next_version(
    store: Store, receiver: Receiver
) -> None:
    receiver.answers(500, (302, {"Location": "/elsewhere"}), 503, 200)
    request_id = await request_with(store, receiver.url, versions=2)
    async with sender(store):
        assert await settled(store, request_id) == ["delivered"] * 2
    assert [got.version for got in receiver.received] == [1, 1, 1, 1, 2]
    first = receiver.received[:4]
    assert len({got.body for got in first}) == len({got.headers["webhook-id"] for got in first}) == 1
    found = await timeline(store, request_id)
    assert [(e.outcome, e.attempt, e.data.get("status_code")) for e in found] == [
        ("retry", 1, 500),
        ("retry", 2, 302),
        ("retry", 3, 503),
        ("delivered", 4, 200),
        ("delivered", 1, 200),
    ]


async def test_receiver_that_is_down_gets_it_when_it_is_back(store: Store) -> None:
    async with receiving() as gone:
        url = gone.url
    request_id = await request_with(store, url)
    async with sender(store):

        async def tried() -> bool:
            return len(await timeline(store, request_id)) >= 2

        await until(tried, "two attempts failed")
        server = await asyncio.start_server(_say_well, "127.0.0.1", gone.port)
        assert await settled(store, request_id) == ["delivered"]
        server.close()
        await server.wait_closed()
    found = await timeline(store, request_id)
    assert {e.outcome for e in found[:-1]} == {"retry"} and found[-1].outcome == "delivered"
    assert "error" in found[0].data and "status_code" not in found[0].data


async def _say_well(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 Fine\r\nContent-Length: 0\r\n\r\n")
    await writer.drain()
    writer.close()
    await writer.wait_closed()


async def test_delay_between_attempts_is_kept_in_the_database(store: Store, receiver: Receiver) -> None:
    receiver.answers((503, {"Retry-After": "3600"}))
    request_id = await request_with(store, receiver.url)
    async with sender(store, schedule=Schedule()):

        async def tried() -> bool:
            return len(await timeline(store, request_id)) == 1

        await until(tried, "an attempt failed")
    (event,) = await timeline(store, request_id)
    assert event.outcome == "retry" and event.data["delay_s"] == pytest.approx(3600)
    async with store.reading() as session:
        found = await session.get_one(AnswerDelivery, deliveries.delivery_id(request_id, 1))
    assert found.attempts == 1 and found.last_error == "HTTP 503" and found.claimed_by is None
    assert found.next_attempt_at > utc_now() + timedelta(minutes=30)


async def test_gone_ends_that_version_and_the_next_one_is_tried(store: Store, receiver: Receiver) -> None:
    receiver.answers(410, 200)
    request_id = await request_with(store, receiver.url, versions=2)
    async with sender(store):
        assert await settled(store, request_id) == ["given_up", "delivered"]
    assert [e.outcome for e in await timeline(store, request_id)] == ["given_up", "delivered"]


async def test_answer_of_three_days_is_given_up_after_a_last_attempt(
    store: Store, receiver: Receiver
) -> None:
    receiver.answers(500)
    request_id = await request_with(store, receiver.url)
    old = utc_now() - timedelta(days=3, minutes=1)
    async with store.writing() as session:
        await rows.execute(session, "UPDATE deliveries SET created_at = :old", old=old)
    async with sender(store, schedule=Schedule()):
        assert await settled(store, request_id) == ["given_up"]
    assert len(receiver.received) == 1


async def test_version_that_comes_while_the_sender_idles_is_sent(store: Store, receiver: Receiver) -> None:
    request_id = await request_with(store, receiver.url)
    async with sender(store):
        await settled(store, request_id)
        await answer(store, request_id, {"n": 2})
        assert await settled(store, request_id) == ["delivered"] * 2


# --- several at once ------------------------------------------------------------------------------------


async def test_two_senders_send_each_version_once(store: Store, receiver: Receiver) -> None:
    ids = [await request_with(store, receiver.url, versions=2) for _ in range(8)]
    other = Store(store.url.render_as_string(hide_password=False))
    try:
        async with sender(store, "one"), sender(other, "two"):
            for request_id in ids:
                assert await settled(store, request_id) == ["delivered"] * 2
    finally:
        await other.close()
    got = [(one.said["request_id"], one.version) for one in receiver.received]
    assert len(got) == len(set(got)) == 16
    for request_id in ids:
        assert [version for owner, version in got if owner == str(request_id)] == [1, 2]


async def test_slow_receiver_holds_up_its_own_answers_only(store: Store, receiver: Receiver) -> None:
    """More wait for it than there are places altogether; others' answers go out while it is silent."""
    async with receiving() as slow:
        slow.answer = never
        async with store.writing() as session:
            crowd = [
                Request(id=uuid4(), workflow_name="w", status="processing", callback_url=slow.url)
                for _ in range(sending.AT_ONCE + 5)
            ]
            session.add_all(crowd)
            await session.flush()
            given = [answers.Given(one, {}, False, answers.Reason.COMPLETE) for one in crowd]
            await answers.give(session, given)
        quick = [await request_with(store, receiver.url) for _ in range(3)]
        async with sender(store, grace_seconds=0):
            await came(slow, sending.AT_ONCE_PER_HOST)
            for request_id in quick:
                assert await settled(store, request_id) == ["delivered"]
            assert slow.most_at_once == len(slow.received) == sending.AT_ONCE_PER_HOST
            # No transaction is open meanwhile: the pipeline writes on.
            await answer(store, crowd[0].id, {"n": 2})


async def test_crowd_of_one_receiver_does_not_hide_the_others(
    store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "_LOOKED_AT", 3)
    async with receiving() as slow:
        slow.answer = never
        for _ in range(6):
            await request_with(store, slow.url)
        request_id = await request_with(store, receiver.url)
        async with sender(store, grace_seconds=0):
            assert await settled(store, request_id) == ["delivered"]


# --- crashes and outages --------------------------------------------------------------------------------


class Dying(Sender):
    """Dies between send and record, leaving its claim behind as a killed process does."""

    async def _record(self, attempt: Any) -> None:
        await asyncio.get_running_loop().create_future()

    async def _release(self) -> None:
        pass


async def test_crash_between_send_and_record_repeats_the_same_id_and_body(
    store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "_LEASE_SLACK_SECONDS", -9.5)
    request_id = await request_with(store, receiver.url, versions=2)
    async with Poster(signature.key_of(SECRET), Resolver(allow_private=True), 10.0) as poster:
        dying = asyncio.create_task(Dying(store, poster, "dying", schedule=QUICK, grace_seconds=0).run())
        await came(receiver, 1)
        dying.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await dying
    async with sender(store, "heir"):
        assert await settled(store, request_id) == ["delivered"] * 2
    first, again, second = receiver.received
    assert (first.body, first.headers["webhook-id"]) == (again.body, again.headers["webhook-id"])
    assert second.version == 2
    assert [e.data["version"] for e in await timeline(store, request_id)] == [1, 2]


async def test_orderly_end_waits_for_what_is_under_way(store: Store, receiver: Receiver) -> None:
    proceed = asyncio.Event()

    async def slowly(_received: Received) -> Answer:
        await proceed.wait()
        return 200

    receiver.answer = slowly
    request_id = await request_with(store, receiver.url)
    async with sender(store, grace_seconds=30):
        await came(receiver, 1)
        asyncio.get_running_loop().call_later(0.05, proceed.set)
    assert await states(store, request_id) == ["delivered"]
    assert len(receiver.received) == 1


async def test_sender_that_ends_gives_back_what_it_could_not_finish(store: Store, receiver: Receiver) -> None:
    receiver.answer = never
    request_id = await request_with(store, receiver.url)
    async with sender(store, "first", grace_seconds=0):
        await came(receiver, 1)
    receiver.answers(200)
    async with sender(store, "second"):  # long before the claim would have ended
        assert await settled(store, request_id) == ["delivered"]


async def test_outcome_is_kept_until_the_database_takes_it(
    store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, failures = deliveries.record, 2

    async def shaky(*arguments: Any) -> bool:
        nonlocal failures
        failures -= 1
        if failures >= 0:
            raise OperationalError("UPDATE", {}, OSError("connection lost"))
        return await record(*arguments)

    monkeypatch.setattr(deliveries, "record", shaky)
    request_id = await request_with(store, receiver.url)
    async with sender(store):
        assert await settled(store, request_id) == ["delivered"]
    assert len(receiver.received) == 1 and failures < 0


async def test_sender_survives_a_database_that_is_away(
    store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting, away = deliveries.waiting, asyncio.Event()

    async def gone(*arguments: Any) -> Any:
        if not away.is_set():
            away.set()
            raise OperationalError("SELECT", {}, OSError("connection lost"))
        return await waiting(*arguments)

    monkeypatch.setattr(deliveries, "waiting", gone)
    monkeypatch.setattr(sending, "_TROUBLE_SECONDS", 0.05)
    request_id = await request_with(store, receiver.url)
    async with sender(store):
        assert await settled(store, request_id) == ["delivered"]
    assert away.is_set()


async def test_answer_that_cannot_be_sent_at_all_does_not_stop_the_others(
    store: Store, receiver: Receiver
) -> None:
    broken = await request_with(store, "http:///nobody")
    request_id = await request_with(store, receiver.url)
    async with sender(store, schedule=Schedule()):
        assert await settled(store, request_id) == ["delivered"]

        async def tried() -> bool:
            return len(await timeline(store, broken)) == 1

        await until(tried, "the broken one was tried, too")
    assert await states(store, broken) == ["pending"]


# --- claims ---------------------------------------------------------------------------------------------


async def _claimed(store: Store, name: str, seconds: float) -> list[Due]:
    async with store.reading() as session:
        found = await deliveries.waiting(session, store, 10)
    async with store.claiming() as connection:
        return await deliveries.claim(connection, store, [one for one, _ in found], name, seconds)


async def test_claim_is_exclusive_until_it_ends(store: Store) -> None:
    await request_with(store, "https://a.example/", versions=2)
    (due,) = await _claimed(store, "one", 60)
    assert due.version == 1
    assert await _claimed(store, "two", 60) == []
    async with store.claiming() as connection:  # whoever looked before the first claim
        assert await deliveries.claim(connection, store, [due.id], "two", 60) == []
    async with store.writing() as session:
        ended = utc_now() - timedelta(seconds=1)
        await rows.execute(session, "UPDATE deliveries SET claimed_until = :ended", ended=ended)
    (again,) = await _claimed(store, "two", 60)
    assert again == due


async def test_outcome_of_a_lost_claim_is_not_recorded(store: Store, receiver: Receiver) -> None:
    request_id = await request_with(store, receiver.url)
    receiver.answer = never
    async with sender(store, "slow", grace_seconds=0) as slow:
        await came(receiver, 1)
        async with store.writing() as session:
            await rows.execute(session, "UPDATE deliveries SET claimed_by = 'other'")
        (due_id,) = slow._sending
        async with store.reading() as session:
            row = await session.get_one(AnswerDelivery, due_id)
        attempt = slow._attempt(
            Due(row.id, request_id, "default", 1, row.url, row.body, 0, row.created_at),
            Reply(200),
            Decision(AttemptOutcome.DELIVERED),
            utc_now(),
        )
        await slow._record(attempt)
    assert await states(store, request_id) == ["pending"]
    assert await timeline(store, request_id) == []


async def test_receivers_left_out_are_left_out_exactly(store: Store) -> None:
    for url in (
        "https://a.example/x",
        "https://a.example",
        "https://a.example.org/x",
        "https://a.example:8443/",
    ):
        await request_with(store, url)
    async with store.reading() as session:
        found = await deliveries.waiting(session, store, 10, ["https://a.example", "https://b.example"])
    assert sorted(url for _, url in found) == ["https://a.example.org/x", "https://a.example:8443/"]
