"""The server of a language model: an answer or none, whatever it does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from docproc.apps.documents import language_model
from docproc.apps.documents.language_model import LanguageModel, address
from docproc.apps.documents.settings import DocumentsSettings

CHAT = [{"role": "user", "content": "hello"}]


def completion(text: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text}}]}


def model(respond: Callable[[httpx.Request], httpx.Response], **settings: Any) -> LanguageModel:
    given = {"llm_url": "http://model.test/v1", "llm_model": "small", "llm_api_key": "secret"} | settings
    return LanguageModel(DocumentsSettings(_env_file=None, **given), httpx.MockTransport(respond))


async def test_asks_as_openai_does() -> None:
    seen: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=completion("{}"))

    assert await model(respond).answer(CHAT) == "{}"
    (request,) = seen
    assert str(request.url) == "http://model.test/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer secret"
    body = json.loads(request.content)
    assert body["model"] == "small" and body["messages"] == CHAT and body["temperature"] == 0


async def test_server_without_response_format_is_asked_again_without_it() -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        known = "response_format" not in json.loads(request.content)
        return httpx.Response(200, json=completion("yes")) if known else httpx.Response(400)

    assert await model(respond).answer(CHAT) == "yes"


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(500),
        httpx.Response(429, headers={"retry-after": "7"}),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json={"error": "no"}),
        httpx.Response(200, json=completion(None)),
    ],
    ids=["error", "busy", "html", "no choices", "no text"],
)
async def test_failure_is_no_answer_one_warning_and_a_pause(
    response: httpx.Response, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs: list[dict[str, Any]] = []
    said = SimpleNamespace(warning=lambda event, **facts: logs.append({"event": event, **facts}))
    monkeypatch.setattr(language_model, "log", said)
    calls = 0

    def respond(_: httpx.Request) -> httpx.Response:
        nonlocal calls
        calls += 1
        return response

    asked = model(respond)
    assert await asked.answer(CHAT) is None
    assert await asked.answer(CHAT) is None  # nobody waits for it again so soon
    assert calls == 1
    (warning,) = logs
    assert warning["event"] == "language_model_unavailable"
    assert "secret" not in str(warning)
    assert warning["pause_seconds"] == (7 if response.status_code == 429 else 30)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
        ("https://api.example/v1/", "https://api.example/v1/chat/completions"),
        ("https://x.example/openai/v1/chat/completions", "https://x.example/openai/v1/chat/completions"),
    ],
)
def test_address(given: str, meant: str) -> None:
    assert address(given) == meant


@asynccontextmanager
async def server(seconds: float, body: bytes) -> AsyncIterator[str]:
    """A server on a real socket that takes its time."""

    busy: set[asyncio.Task[None]] = set()

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(seconds)
            head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
        finally:
            writer.close()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        busy.add(asyncio.create_task(respond(reader, writer)))

    listening = await asyncio.start_server(begin, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        for task in busy:
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)


@pytest.mark.parametrize(("seconds", "answer"), [(0.0, "here"), (5.0, None)], ids=["quick", "slow"])
async def test_over_a_socket_a_slow_server_is_given_up(seconds: float, answer: str | None) -> None:
    async with server(seconds, json.dumps(completion("here")).encode()) as url:
        asked = LanguageModel(DocumentsSettings(_env_file=None, llm_url=url, llm_timeout_seconds=0.5))
        assert await asked.answer(CHAT) == answer
        await asked.close()


async def test_nobody_listening_is_no_answer() -> None:
    asked = LanguageModel(DocumentsSettings(_env_file=None, llm_url="http://127.0.0.1:9"))
    assert await asked.answer(CHAT) is None
    await asked.close()
