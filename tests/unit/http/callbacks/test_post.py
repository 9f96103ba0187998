"""One attempt against a receiver on this machine: pinned, signed, bounded."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from standardwebhooks import Webhook

from docproc.engine.message import utc_now
from docproc.engine.store.deliveries import Due
from docproc.http.callbacks import signature
from docproc.http.callbacks.post import Poster
from docproc.http.callbacks.resolver import Resolver
from docproc.http.callbacks.schedule import Reply
from tests.receiver import Answer, Received, receiving

SECRET = signature.new_secret()
CERTIFICATE = Path(__file__).parents[3] / "certificates/receiver.test.pem"


class Names:
    """A name server that answers as the test says, and counts."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> list[tuple[Any, ...]]:
        self.asked.append(host)
        return [(0, 0, 0, "", (address, port)) for address in self.answers.pop(0)]


def _due(url: str, body: str = '{"answer_version": 1}') -> Due:
    return Due(uuid4(), uuid4(), "default", 1, url, body, 0, utc_now())


def _poster(names: Names | None = None, *, allow_private: bool = True, timeout_seconds: float = 30) -> Poster:
    resolver = Resolver(allow_private=allow_private, **({"look_up": names} if names else {}))
    return Poster(signature.key_of(SECRET), resolver, timeout_seconds)


async def test_receiver_gets_the_very_body_signed() -> None:
    async with receiving() as receiver, _poster() as poster:
        due = _due(receiver.url + "?key=1", '{"name": "ñandú"}')
        assert await poster.post(due) == Reply(204)
    (got,) = receiver.received
    assert (got.path, got.body) == ("/answers?key=1", due.body.encode())
    assert got.headers["webhook-id"] == str(due.id)
    assert got.headers["content-type"] == "application/json"
    assert Webhook(SECRET).verify(got.body, got.headers) == {"name": "ñandú"}


async def test_address_that_was_checked_is_the_one_connected_to() -> None:
    """The name means something else by the second question: there must be none."""
    names = Names(["127.0.0.1"], ["192.0.2.1"])
    async with receiving() as receiver, _poster(names) as poster:
        url = f"http://receiver.test:{receiver.port}/x"
        assert (await poster.post(_due(url))).status == 204
    assert names.asked == ["receiver.test"]
    assert receiver.received[0].headers["host"] == f"receiver.test:{receiver.port}"


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::ffff:127.0.0.1"]])
async def test_name_with_any_private_address_is_not_connected_to(addresses: list[str]) -> None:
    async with receiving() as receiver, _poster(Names(addresses), allow_private=False) as poster:
        reply = await poster.post(_due(f"http://receiver.test:{receiver.port}/x"))
    assert (reply.status, reply.error) == (None, "the host leads to a private address")
    assert receiver.received == []


async def test_next_address_is_tried_when_one_does_not_answer() -> None:
    async with receiving() as receiver, _poster(Names(["::1", "127.0.0.1"])) as poster:
        reply = await poster.post(_due(f"http://receiver.test:{receiver.port}/x"))
    assert reply.status == 204
    assert len(receiver.received) == 1


async def test_certificate_is_checked_against_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTIFICATE)
    names = Names(["127.0.0.1"], ["127.0.0.1"])
    async with receiving(tls) as receiver, _poster(names) as poster:
        right = await poster.post(_due(f"https://receiver.test:{receiver.port}/x"))
        wrong = await poster.post(_due(f"https://other.test:{receiver.port}/x"))
    assert right.status == 204
    assert wrong.status is None and "certificate" in (wrong.error or "").lower()
    assert len(receiver.received) == 1


async def test_redirects_are_not_followed() -> None:
    async with receiving() as receiver, _poster() as poster:
        receiver.answers((302, {"Location": f"http://127.0.0.1:{receiver.port}/elsewhere"}))
        assert (await poster.post(_due(receiver.url))).status == 302
    assert [got.path for got in receiver.received] == ["/answers"]


async def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with receiving() as receiver, _poster() as poster:
        assert (await poster.post(_due(receiver.url))).status == 204


async def test_what_the_receiver_asks_for_is_told() -> None:
    async with receiving() as receiver, _poster() as poster:
        receiver.answers((503, {"Retry-After": "120"}))
        assert await poster.post(_due(receiver.url)) == Reply(503, wait_seconds=120)


async def test_head_of_an_endless_answer_is_enough() -> None:
    async with receiving() as receiver, _poster() as poster:
        receiver.answers((200, {"Content-Length": "1000000000"}))
        assert (await poster.post(_due(receiver.url))).status == 200


async def test_silent_receiver_ends_the_attempt() -> None:
    async def never(_received: Received) -> Answer:
        await asyncio.Event().wait()
        return 200

    async with receiving() as receiver, _poster(timeout_seconds=0.2) as poster:
        receiver.answer = never
        assert await poster.post(_due(receiver.url)) == Reply(error="no answer within 0.2 s")


@contextmanager
def _free_port() -> Iterator[int]:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens, and nobody else can
        yield taken.getsockname()[1]


async def test_receiver_that_is_down_is_an_error_in_one_line() -> None:
    with _free_port() as port:
        async with _poster() as poster:
            reply = await poster.post(_due(f"http://127.0.0.1:{port}/x"))
    assert reply.status is None
    assert reply.error and "\n" not in reply.error


async def test_name_that_does_not_exist_is_an_error() -> None:
    def unknown(_host: str, _port: int) -> list[tuple[Any, ...]]:
        raise OSError("Name or service not known")

    resolver = Resolver(allow_private=False, look_up=unknown)
    async with Poster(signature.key_of(SECRET), resolver, 30) as poster:
        reply = await poster.post(_due("http://nobody.test/"))
    assert reply == Reply(error="Name or service not known")
