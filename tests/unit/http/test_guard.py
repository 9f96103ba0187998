"""Which WebSockets are opened: a program's, and those of our own page."""

from __future__ import annotations

import pytest
from starlette.types import Message, Receive, Scope, Send

from docproc.http.guard import Guard


async def is_opened(headers: dict[str, str]) -> bool:
    reached: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        reached.append(scope["path"])

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    sent: list[Message] = []
    scope = {
        "type": "websocket",
        "path": "/ws/requests/1",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "extensions": {"websocket.http.response": {}},
    }
    await Guard(app)(scope, receive, send)
    assert bool(reached) != bool(sent)
    assert [message.get("status") for message in sent[:1]] == ([] if reached else [403])
    return bool(reached)


@pytest.mark.parametrize(
    ("headers", "opened"),
    [
        ({"Host": "here:8000"}, True),
        ({"Host": "here:8000", "Origin": "http://here:8000"}, True),
        ({"Host": "HERE:8000", "Origin": "http://here:8000"}, True),
        ({"Host": "here:8000", "Origin": "http://here:9000"}, False),
        ({"Host": "here:8000", "Origin": "https://elsewhere.example"}, False),
        ({"Host": "here:8000", "Origin": "null"}, False),
        ({"Host": "here:8000", "Origin": "http://[", "Sec-Fetch-Site": "cross-site"}, False),
        ({"Origin": "null"}, False),
        ({"Host": "inner", "X-Forwarded-Host": "docs.example", "Origin": "https://docs.example"}, True),
        ({"Host": "inner", "Origin": "https://docs.example", "Sec-Fetch-Site": "same-origin"}, True),
    ],
)
async def test_socket_of_a_foreign_page_is_refused(headers: dict[str, str], opened: bool) -> None:
    assert await is_opened(headers) == opened


async def test_error_in_a_socket_is_logged_and_the_process_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("docproc.http.guard.log.exception", lambda event, **_: said.append(event))

    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise KeyError("unexpected")

    async def nothing(*_: object) -> Message:
        return {}

    scope = {"type": "websocket", "path": "/ws", "headers": []}
    await Guard(app)(scope, nothing, nothing)  # type: ignore[arg-type]
    assert said == ["http_request_failed"]
