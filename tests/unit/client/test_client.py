"""The client: what it repeats, what it does not, and whose deliveries it believes."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable

import httpx
import pytest
from standardwebhooks import Webhook

from docproc.client import Client, Refused, Unreachable, WebhookError, calls, verify
from docproc.http.callbacks import signature

Answer = httpx.Response | Exception


def client(*answers: Answer) -> tuple[Client, list[httpx.Request]]:
    """One that gets these answers, one after the other."""
    seen: list[httpx.Request] = []
    left = list(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        request.read()
        seen.append(request)
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    http = httpx.Client(transport=httpx.MockTransport(answer), base_url="http://docproc")
    return Client(http=http, attempts=3), seen


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr("docproc.client.synchronous.time.sleep", slept.append)
    return slept


def accepted() -> httpx.Response:
    return httpx.Response(200, json={"request_id": "r", "status": "received"})


def problem(status: int, code: str, **headers: str) -> httpx.Response:
    body = {"error": {"code": code, "message": "no", "remedy": "Do it differently"}}
    return httpx.Response(status, json=body, headers=headers)


def test_submission_whose_answer_was_lost_is_repeated_whole_and_is_the_same(pauses: list[float]) -> None:
    there, seen = client(
        httpx.ReadError("cut off"), problem(503, "unavailable", **{"Retry-After": "7"}), accepted()
    )
    assert there.submit(io.BytesIO(b"content"))["request_id"] == "r"
    keys = {request.headers["idempotency-key"] for request in seen}
    assert len(seen) == 3 and len(keys) == 1
    assert all(b"content" in request.content for request in seen)
    assert pauses == [calls.FIRST_PAUSE, 7.0]


def test_refusal_is_not_repeated() -> None:
    there, seen = client(problem(422, "missing_file"))
    with pytest.raises(Refused) as refused:
        there.submit(("a.pdf", b"x"))
    assert (refused.value.status, refused.value.code, len(seen)) == (422, "missing_file", 1)
    assert "Do it differently" in str(refused.value)


@pytest.mark.parametrize(
    ("last", "error"),
    [
        (lambda: httpx.ConnectError("refused"), Unreachable),
        (lambda: problem(503, "unavailable"), Refused),
        (lambda: httpx.Response(502, text="<html>"), Refused),
    ],
)
def test_it_gives_up_at_last(last: Callable[[], Answer], error: type[Exception]) -> None:
    there, seen = client(last(), last(), last())
    with pytest.raises(error):
        there.status("r")
    assert len(seen) == 3


def test_files_or_an_address() -> None:
    there, seen = client(accepted())
    with pytest.raises(ValueError, match="files, or a url"):
        there.submit()
    there.submit(url="https://example.com/a.pdf", workflow="default")
    assert seen[0].headers["content-type"] == "application/json"


SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()


def delivery(moment: int, body: bytes = b'{"type": "answer"}') -> dict[str, str]:
    return signature.headers(signature.key_of(SECRET), "d-1", moment, body)


def test_delivery_is_verified_as_others_verify_it() -> None:
    body = b'{"type": "answer"}'
    import time

    now = int(time.time())
    assert verify(SECRET, delivery(now), body) == Webhook(SECRET).verify(body, delivery(now))
    titled = {name.title(): value for name, value in delivery(now).items()}
    titled["Webhook-Signature"] = f"v1,AAAA {titled['Webhook-Signature']}"  # a key that is being replaced
    assert verify(SECRET, titled, body)["type"] == "answer"


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (delivery(1000), b'{"type": "forged"}'),
        (delivery(1000 - 301), b'{"type": "answer"}'),
        ({}, b'{"type": "answer"}'),
        ({**delivery(1000), "webhook-timestamp": "soon"}, b'{"type": "answer"}'),
    ],
)
def test_forged_and_old_deliveries_are_not_believed(headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(WebhookError):
        verify(SECRET, headers, body, now=1000)
