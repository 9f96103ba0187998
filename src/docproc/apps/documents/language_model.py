"""Asks a language model at any OpenAI-compatible address; a failure is a missing answer, not an error."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import structlog

from docproc.apps.documents.settings import DocumentsSettings

log = structlog.get_logger()

Messages = Sequence[Mapping[str, str]]

PAUSE_SECONDS = 30.0  # after a failure nobody waits for the same server again
_LONGEST_PAUSE = 600.0
_PATH = "/chat/completions"


class LanguageModel:
    """One server and model. Answers come or they do not: whoever asks must be able to go on without."""

    def __init__(
        self, settings: DocumentsSettings, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        assert settings.llm_url is not None
        self._url = address(settings.llm_url)
        self._model = settings.llm_model
        self._timeout_seconds = settings.llm_timeout_seconds
        key = settings.llm_api_key
        headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
        self._client = httpx.AsyncClient(headers=headers, timeout=self._timeout_seconds, transport=transport)
        self._paused_until = 0.0

    async def answer(self, messages: Messages) -> str | None:
        """The text of the answer; None while the server cannot be asked, which the log says once a pause."""
        if time.monotonic() < self._paused_until:
            return None
        try:
            async with asyncio.timeout(self._timeout_seconds):
                response = await self._post(messages)
            return _content(response.json())
        except (httpx.HTTPError, TimeoutError, ValueError) as error:
            self._pause(error)
            return None

    async def close(self) -> None:
        await self._client.aclose()

    async def _post(self, messages: Messages) -> httpx.Response:
        body: dict[str, Any] = {"model": self._model, "messages": list(messages), "temperature": 0}
        wanting_json = body | {"response_format": {"type": "json_object"}}
        response = await self._client.post(self._url, json=wanting_json)
        if response.status_code == httpx.codes.BAD_REQUEST:  # a server that knows no response_format
            response = await self._client.post(self._url, json=body)
        return response.raise_for_status()

    def _pause(self, error: Exception) -> None:
        seconds = min(_wait_asked_for(error) or PAUSE_SECONDS, _LONGEST_PAUSE)
        if time.monotonic() >= self._paused_until:  # of several calls under way, one says it
            problem = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            log.warning("language_model_unavailable", url=self._url, problem=problem, pause_seconds=seconds)
        self._paused_until = time.monotonic() + seconds


def address(url: str) -> str:
    """`http://host:11434`, `https://host/v1` and the whole address mean the same."""
    url = url.rstrip("/")
    if url.endswith(_PATH):
        return url
    return url + (_PATH if httpx.URL(url).path.strip("/") else f"/v1{_PATH}")


def _content(answer: Any) -> str:
    """The text of the first choice; raises ValueError for what is no chat completion."""
    try:
        content = answer["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError("the server's answer is no chat completion") from error
    if not isinstance(content, str):
        raise ValueError("the server's answer holds no text")
    return content


def _wait_asked_for(error: Exception) -> float | None:
    if not isinstance(error, httpx.HTTPStatusError):
        return None
    written = error.response.headers.get("retry-after", "")
    return float(written) if written.isdecimal() else None
