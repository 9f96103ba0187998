"""Requests followed live: nothing missed, nothing twice, whatever breaks between client and database."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import pytest
import websockets
from websockets.asyncio.client import ClientConnection, connect

from bench.servers import _free_ports
from docproc.app import App
from docproc.engine.store import answers, events, requests
from docproc.engine.store.tables import Request, RequestStatus
from docproc.errors import DatabaseDownError
from docproc.http import looks, server
from docproc.http.following import Hub
from docproc.http.server import serve
from tests.harness import Harness

FAN = """
stages:
  - {name: split, component: split}
  - {name: first, component: work}
  - {name: second, component: heavy}
  - {name: gather, component: gather}
"""
BOTH = pytest.mark.parametrize("combination", ["sqlite+sql", "postgresql+sql"])
NOBODY = "00000000-0000-0000-0000-000000000000"
# A live stream that is silent for this long has failed the test.
SILENCE_SECONDS = 30.0

Told = tuple[str, dict[str, Any]]


class Api:
    """A server on a port of its own, with an application of its own: another process, but for its memory."""

    def __init__(self, harness: Harness, **settings: Any) -> None:
        self.harness = harness
        self.settings = harness.settings.model_copy(update=settings)
        self.port = _free_ports(1)[0]
        self.url = f"http://127.0.0.1:{self.port}"
        self.http = httpx.AsyncClient(base_url=self.url, trust_env=False, timeout=SILENCE_SECONDS)

    async def start(self) -> None:
        self.application = App(self.settings)
        self._stopping = asyncio.Event()
        self._task = asyncio.create_task(
            serve(self.application, self._stopping, host="127.0.0.1", port=self.port)
        )
        await self.harness.until(self._answers, "the server answers")

    async def _answers(self) -> bool:
        assert not self._task.done(), self._task
        try:
            return (await self.http.get("/health")).status_code == 200
        except httpx.TransportError:
            return False

    async def stop(self) -> None:
        self._stopping.set()
        await self._task

    async def restart(self) -> None:
        await self.stop()
        await self.application.close()
        await self.start()

    async def close(self) -> None:
        await self.stop()
        await self.http.aclose()
        await self.application.close()

    # --- what clients do ------------------------------------------------------------------------------------

    def streaming(self, request_id: Any, last: str | None = None, **query: str) -> Any:
        headers = {} if last is None else {"Last-Event-ID": last}
        return self.http.stream("GET", f"/requests/{request_id}/stream", headers=headers, params=query)

    async def read(self, request_id: Any, last: str | None, most: int) -> tuple[list[Told], bool]:
        """Some events and then hang up, or all to the end; whether that came."""
        told: list[Told] = []
        async with self.streaming(request_id, last) as answer:
            assert answer.status_code == 200, await answer.aread()
            async with contextlib.aclosing(parsed(answer)) as found:
                async for kind, place, data in found:
                    if kind == "end":
                        return told, True
                    assert data["kind"] == kind
                    told.append((place, data))
                    if len(told) == most:
                        return told, False
        return told, False

    def socket(self, request_id: Any, after: str = "", **options: Any) -> connect:
        url = f"ws://127.0.0.1:{self.port}/ws/requests/{request_id}?after={after}"
        # Without a limit to what it gathers, a client hangs up at once.
        return connect(url, proxy=None, max_queue=None, **options)

    async def timeline(self, request_id: Any) -> list[dict[str, Any]]:
        found = await self.http.get(f"/requests/{request_id}/events", params={"limit": 1000})
        timeline: list[dict[str, Any]] = found.json()["events"]
        return timeline


async def parsed(answer: httpx.Response) -> AsyncGenerator[tuple[str, str, Any], None]:
    """The events of a stream as a browser would see them: kind, last id, data."""
    fields: dict[str, str] = {}
    async for line in answer.aiter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            yield fields["event"], fields.get("id", ""), json.loads(fields["data"])
            fields.clear()


@contextlib.asynccontextmanager
async def serving(harness: Harness, **settings: Any) -> AsyncIterator[Api]:
    api = Api(harness, **settings)
    try:
        await api.start()
        yield api
    finally:
        await api.close()


@pytest.fixture
async def api(sqlite_engine: Harness) -> AsyncIterator[Api]:
    async with serving(sqlite_engine) as running:
        yield running


async def refused(socket: ClientConnection) -> tuple[int, str]:
    """The code and reason with which the server closes."""
    with pytest.raises(websockets.ConnectionClosed) as closed:
        await asyncio.wait_for(socket.recv(), SILENCE_SECONDS)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code, closed.value.rcvd.reason


async def answer_once(harness: Harness, request_id: UUID, *, partial: bool) -> None:
    async with harness.app.store.writing() as session:
        request = await requests.locked(session, request_id)
        assert request is not None
        given = answers.Given(request, {"partial": partial}, partial, answers.Reason.DEADLINE)
        await answers.give(session, [given])


async def cancel(harness: Harness, request_id: UUID) -> None:
    async with harness.app.store.writing() as session:
        assert await requests.cancel(session, request_id, "enough")


# --- the whole story, in pieces -------------------------------------------------------------------------


@BOTH
async def test_stream_that_breaks_again_and_again_tells_everything_once(engine: Harness) -> None:
    """Each time it goes on at another server, and one of them is replaced by a new one in between."""
    engine.workflow("fan", FAN)
    request_id = await engine.submit("fan", n=6)
    told: list[Told] = []
    async with serving(engine) as one, serving(engine) as other:
        await engine.start()
        is_over, last, turn = False, None, 0
        while not is_over:
            some, is_over = await (one, other)[turn % 2].read(request_id, last, most=3)
            told += some
            last, turn = told[-1][0], turn + 1
            if turn == 3:
                await one.restart()
        assert turn > 4
        assert [data for _, data in told] == await other.timeline(request_id)
        assert len({place for place, _ in told}) == len(told)
        assert told[-1][1]["kind"] in ("status", "answer", "handled")
        for api in (one, other):
            async with api.streaming(request_id, last) as again:
                assert (again.status_code, await again.aread()) == (204, b"")


@BOTH
async def test_socket_that_breaks_again_and_again_tells_everything_once(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    request_id = await engine.submit("fan", n=6)
    told: list[dict[str, Any]] = []
    async with serving(engine) as api:
        await engine.start()
        while True:
            last = told[-1]["id"] if told else ""
            async with api.socket(request_id, last) as socket:
                some = [json.loads(await asyncio.wait_for(socket.recv(), SILENCE_SECONDS)) for _ in "12"]
                told += some
                if some[-1]["kind"] == "end" or some[0]["kind"] == "end":
                    break
        while told[-1]["kind"] == "end":
            told.pop()
        ids = [message.pop("id") for message in told]
        assert told == await api.timeline(request_id)
        assert len(set(ids)) == len(ids) > 10
        async with api.socket(request_id, ids[-1]) as socket:
            assert json.loads(await socket.recv()) == {"kind": "end"}
            assert await refused(socket) == (1000, "")


@pytest.mark.parametrize("combination", ["postgresql+sql"])
async def test_stream_waits_for_a_transaction_that_began_earlier(engine: Harness) -> None:
    """What it wrote comes first, and the end after it, although that was visible before."""
    engine.workflow("fan", FAN)
    request_id = await engine.submit("fan")
    hub = Hub(engine.app)
    seen: list[str] = []

    async def follow() -> None:
        with hub.following(request_id) as follower:
            first = await hub.look(request_id, events.BEGINNING)
            async for look in hub.follow(follower, first):
                seen.extend(row.outcome for row in look.events)

    async with engine.app.store.writing() as session:
        await events.record(session, [events.Event(request_id, "note", outcome="early")])
        await cancel(engine, request_id)
        assert len(await engine.events(request_id)) == 2
        look = await hub.look(request_id, events.BEGINNING)
        assert look.is_over and look.has_more and not look.is_end
        following = asyncio.create_task(follow())
        await engine.until(lambda: seen, "the follower reads what is settled")
        # Long enough for it to make the mistake.
        for _ in range(3):
            await hub.look(request_id, events.BEGINNING)
            await asyncio.sleep(looks.TICK_SECONDS)
        assert seen == ["received"] and not following.done()
    await asyncio.wait_for(following, SILENCE_SECONDS)
    assert seen == ["received", "early", "failed"]
    await hub.close()


async def test_stream_outlives_a_lost_database(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "TROUBLE_SECONDS", 0.05)
    api.harness.workflow("fan", FAN)
    request_id = await api.harness.submit("fan")
    store, failed = api.application.store, []

    def lost() -> Any:
        failed.append(1)
        raise DatabaseDownError("gone")

    async with api.streaming(request_id) as answer:
        found = parsed(answer)
        assert (await anext(found))[0] == "status"
        with monkeypatch.context() as trouble:
            trouble.setattr(store, "reading", lost)
            await cancel(api.harness, request_id)
            await api.harness.until(lambda: len(failed) > 3, "the server has noticed")
        assert [kind async for kind, _, _ in found] == ["status", "end"]


# --- the manners of a stream ------------------------------------------------------------------------------


async def test_silent_stream_shows_that_it_lives(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "HEARTBEAT_SECONDS", 0.1)
    api.harness.workflow("fan", FAN)
    request_id = await api.harness.submit("fan")
    async with api.streaming(request_id) as answer:
        headers = answer.headers
        assert headers["content-type"] == "text/event-stream; charset=utf-8"
        assert (headers["cache-control"], headers["x-accel-buffering"]) == ("no-cache", "no")
        lines = answer.aiter_lines()
        assert await anext(lines) == "retry: 2000"
        beats = 0
        while beats < 3:
            beats += (await anext(lines)).startswith(":")


async def test_stream_begins_where_it_is_told_to(api: Api) -> None:
    api.harness.workflow("fan", FAN)
    await api.harness.start()
    request = await api.harness.run("fan", n=2)
    told, is_over = await api.read(request.id, None, most=1000)
    assert is_over and len(told) > 5
    middle, last = told[3][0], told[-1][0]
    async with api.streaming(request.id, after=middle) as answer:
        assert [place async for kind, place, _ in parsed(answer) if kind != "end"] == [p for p, _ in told[4:]]
    # A browser repeats the address it began with and says in the header how far it came.
    async with api.streaming(request.id, told[-2][0], after=middle) as answer:
        assert [kind async for kind, _, _ in parsed(answer)] == [told[-1][1]["kind"], "end"]
    assert (await api.http.get(f"/requests/{request.id}/stream", params={"after": last})).status_code == 204


async def test_stream_that_cannot_be_is_refused(api: Api) -> None:
    api.harness.workflow("fan", FAN)
    known = await api.harness.submit("fan")
    for request_id, headers, status, code in (
        (NOBODY, {}, 404, "unknown_request"),
        (NOBODY, {"Last-Event-ID": "seven"}, 404, "unknown_request"),
        (known, {"Last-Event-ID": "seven"}, 422, "invalid"),
        ("x", {}, 422, "invalid"),
    ):
        answer = await api.http.get(f"/requests/{request_id}/stream", headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


async def test_socket_that_cannot_be_is_closed_with_a_reason(api: Api) -> None:
    api.harness.workflow("fan", FAN)
    known = await api.harness.submit("fan")
    for request_id, after, code, reason in (
        (NOBODY, "", 4404, f"there is no request {NOBODY}"),
        (known, "seven", 4422, "after is no id of an event"),
        ("x", "", 4422, "badly formed hexadecimal UUID string"),
    ):
        async with api.socket(request_id, after) as socket:
            assert await refused(socket) == (code, reason)


async def test_web_page_from_elsewhere_gets_no_socket(api: Api) -> None:
    with pytest.raises(websockets.InvalidStatus) as error:
        async with api.socket(NOBODY, origin="https://elsewhere.example"):
            pass
    assert error.value.response.status_code == 403
    assert json.loads(error.value.response.body or b"")["error"]["code"] == "cross_site"
    async with api.socket(NOBODY, origin=api.url) as socket:
        assert (await refused(socket))[0] == 4404


# --- limits and ends --------------------------------------------------------------------------------------


async def test_too_many_streams_are_refused_until_a_client_goes(sqlite_engine: Harness) -> None:
    sqlite_engine.workflow("fan", FAN)
    request_id = await sqlite_engine.submit("fan")

    async def is_let_in(api: Api) -> bool:
        async with api.streaming(request_id) as answer:
            return bool(answer.status_code == 200)

    async with serving(sqlite_engine, max_streams=1) as api:
        for held in (api.streaming(request_id), api.socket(request_id)):
            async with held as open_one:
                if isinstance(open_one, ClientConnection):
                    await open_one.recv()
                answer = await api.http.get(f"/requests/{request_id}/stream")
                assert (answer.status_code, answer.json()["error"]["code"]) == (503, "too_many_streams")
                assert "DOCPROC_MAX_STREAMS" in answer.json()["error"]["remedy"]
                assert int(answer.headers["retry-after"]) > 0
                assert (await api.http.get(f"/status/{request_id}?wait=60")).status_code == 503
                async with api.socket(request_id) as socket:
                    assert (await refused(socket))[0] == 1013
            await sqlite_engine.until(lambda: is_let_in(api), "the one that hung up made room")


async def test_client_that_does_not_read_is_let_go_of(
    sqlite_engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And until then what waits for it stays in the database."""
    monkeypatch.setattr(server, "PEER_SECONDS", 1)
    sqlite_engine.workflow("fan", FAN)
    request_id = await sqlite_engine.submit("fan")
    async with sqlite_engine.app.store.writing() as session:
        data = {"much": "x" * 100_000}
        await events.record(session, [events.Event(request_id, "note", data=data) for _ in range(400)])

    async with serving(sqlite_engine, max_streams=1) as api:
        # Whose the request is, is known then: the idle client comes before those who ask below.
        assert (await api.http.get(f"/status/{request_id}")).status_code == 200
        with socket.create_connection(("127.0.0.1", api.port)) as idle:
            idle.sendall(f"GET /requests/{request_id}/stream HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())

            async def has_room() -> bool:
                answer = await api.http.get(f"/status/{request_id}?wait=0.01")
                return bool(answer.status_code == 200)

            async def is_full() -> bool:
                return not await has_room()

            await sqlite_engine.until(is_full, "the idle client is served")
            await sqlite_engine.until(has_room, "it is let go of", SILENCE_SECONDS)


async def test_server_with_open_streams_stops_at_once(sqlite_engine: Harness) -> None:
    sqlite_engine.workflow("fan", FAN)
    request_id = await sqlite_engine.submit("fan")
    async with (
        serving(sqlite_engine, shutdown_seconds=300) as api,
        api.streaming(request_id) as answer,
        api.socket(request_id) as socket,
    ):
        found = parsed(answer)
        assert (await anext(found))[0] == json.loads(await socket.recv())["kind"] == "status"
        waiting = asyncio.create_task(api.http.get(f"/status/{request_id}?wait=60"))
        await asyncio.wait_for(api.stop(), SILENCE_SECONDS)
        assert [kind async for kind, _, _ in found] == []  # no end: a browser comes again
        assert (await refused(socket))[0] == 1012
        with contextlib.suppress(httpx.TransportError):  # it may not have reached the server in time
            assert (await waiting).status_code in (200, 503)


# --- GET /status?wait= ------------------------------------------------------------------------------------


@BOTH
async def test_long_poll_returns_with_the_answer_and_with_the_next_one(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    request_id = await engine.submit("fan")

    async with serving(engine) as api:

        async def wait(after_version: int, seconds: float = 60) -> tuple[dict[str, Any], float]:
            began = time.monotonic()
            query = {"wait": seconds, "after_version": after_version}
            answer = await api.http.get(f"/status/{request_id}", params=query, timeout=90)
            assert answer.status_code == 200, answer.text
            return answer.json(), time.monotonic() - began

        status, took = await wait(0, seconds=0.3)
        assert (status["answer_version"], status["result"]) == (0, None) and took >= 0.3
        waiting = asyncio.create_task(wait(0))
        await answer_once(engine, request_id, partial=True)
        status, took = await waiting
        assert (status["answer_version"], status["result"]) == (1, {"partial": True}) and took < 30
        assert (await wait(0))[0] == status  # there already
        waiting = asyncio.create_task(wait(1))
        await cancel(engine, request_id)
        status, took = await waiting
        assert (status["status"], status["answer_version"]) == ("failed", 1) and took < 30
        assert (await wait(7))[1] < 30  # over: there is nothing to wait for


async def test_breached_request_is_waited_for_until_it_is_complete(api: Api) -> None:
    api.harness.workflow("fan", FAN)
    request_id = await api.harness.submit("fan")
    async with api.harness.app.store.writing() as session:
        request = await requests.locked(session, request_id)
        assert request is not None
        requests.breach(request, request.created_at)
    late = await api.http.get(f"/status/{request_id}?wait=0.2")
    assert late.json()["status"] == RequestStatus.SLA_BREACHED and late.json()["breached_at"] is not None
    waiting = asyncio.create_task(api.read(request_id, None, most=1000))
    async with api.harness.app.store.writing() as session:
        await requests.finish(session, request_id, {"all": True})
    told, is_over = await asyncio.wait_for(waiting, SILENCE_SECONDS)
    assert is_over and [data["kind"] for _, data in told] == ["status", "answer"]


async def test_long_poll_has_limits(sqlite_client: httpx.AsyncClient) -> None:
    sent = await sqlite_client.post("/process", files={"file": ("a.pdf", b"%PDF-1.4")})
    known = sent.json()["request_id"]
    for query in ("wait=61", "wait=-1", "wait=nan", "wait=soon", "after_version=-1"):
        answer = await sqlite_client.get(f"/status/{known}?{query}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")


async def test_request_that_vanishes_ends_its_stream(api: Api) -> None:
    api.harness.workflow("fan", FAN)
    request_id = await api.harness.submit("fan")
    async with api.streaming(request_id) as answer:
        found = parsed(answer)
        await anext(found)
        async with api.harness.app.store.writing() as session:
            await session.delete(await session.get_one(Request, request_id))
        assert [kind async for kind, _, _ in found] == ["end"]
