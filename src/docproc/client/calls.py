"""What both clients share: how calls are made, when they are repeated, and what their errors are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx

# A path, an open binary file, or (name, content).
File = str | Path | IO[bytes] | tuple[str, bytes]
JSON = dict[str, Any]

ATTEMPTS = 5
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
# Worth trying again: the server is busy, restarting, or behind a proxy that lost it.
PASSING = (408, 429, 500, 502, 503, 504)
# How long one call waits for an answer; longer waits are several calls.
WAIT_SECONDS = 30.0
ENDED = ("completed", "failed")


class Refused(Exception):  # what happened, in the words of who catches it
    """The server said no, and would again: `code` is for programs, `remedy` for people."""

    def __init__(self, status: int, code: str, message: str, remedy: str = "") -> None:
        super().__init__(f"{message}. {remedy}" if remedy else message)
        self.status = status
        self.code = code
        self.remedy = remedy


class Unreachable(Exception):
    """Nobody answered, however often it was tried."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that may be made several times: it means the same each time."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    fields: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[File] = ()

    def options(self, opened: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        """As httpx takes it; `opened` are the files, at their beginning."""
        said: dict[str, Any] = {"params": dict(self.params), "headers": dict(self.headers)}
        if self.json is not None:
            said["json"] = self.json
        if opened:
            parts: list[tuple[str, Any]] = [(name, (None, text)) for name, text in self.fields.items()]
            said["files"] = [*parts, *(("file", one) for one in opened)]
        return said


def headers_of(key: str | None) -> dict[str, str]:
    said = {"User-Agent": f"docproc-client/{version('docproc')}"}
    return {**said, "Authorization": f"Bearer {key}"} if key else said


def submission(
    files: Sequence[File],
    *,
    url: str | None,
    workflow: str | None,
    channel: str | None,
    external_id: str | None,
    metadata: Mapping[str, Any] | None,
    callback_url: str | None,
    idempotency_key: str | None,
) -> Call:
    """With a key of its own, so that a submission whose answer was lost can be repeated."""
    if bool(files) == bool(url):
        raise ValueError("give one or more files, or a url")
    texts = {
        "workflow": workflow,
        "channel": channel,
        "external_id": external_id,
        "callback_url": callback_url,
    }
    said = {name: text for name, text in texts.items() if text}
    headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
    if url:
        return Call(
            "POST", "/process", headers=headers, json={"url": url, "metadata": dict(metadata or {}), **said}
        )
    fields = {**said, "metadata": json.dumps(dict(metadata or {}))}
    return Call("POST", "/process", headers=headers, fields=fields, files=files)


def status(request_id: UUID | str, wait: float = 0.0, after_version: int = 0) -> Call:
    params = {"wait": wait, "after_version": after_version} if wait else {}
    return Call("GET", f"/status/{_id(request_id)}", params)


def cancel(request_id: UUID | str) -> Call:
    return Call("POST", f"/requests/{_id(request_id)}/cancel")


def erase(request_id: UUID | str) -> Call:
    return Call("DELETE", f"/requests/{_id(request_id)}")


def workflows() -> Call:
    return Call("GET", "/workflows")


def requests(**filters: Any) -> Call:
    return Call("GET", "/requests", {name: value for name, value in filters.items() if value is not None})


def _id(request_id: UUID | str) -> str:
    return quote(str(request_id), safe="")


def is_over(said: JSON) -> bool:
    """Nothing more will happen to a request; a breached one goes on until it is complete."""
    return said["status"] in ENDED or bool(said["status"] == "sla_breached" and said["completed_at"])


def opened(file: File) -> tuple[str, Any]:
    """A file at its beginning, and its name; one that was opened here is closed by `close`."""
    if isinstance(file, tuple):
        return file
    if isinstance(file, str | Path):
        return Path(file).name, Path(file).open("rb")
    file.seek(0)
    return Path(str(getattr(file, "name", "file"))).name, file


def close(given: File, made: tuple[str, Any]) -> None:
    if isinstance(given, str | Path):
        made[1].close()


def pause_seconds(attempt: int, response: httpx.Response | None) -> float:
    """Before the next attempt, counted from 1: as the server asks, else twice as long each time."""
    said = response.headers.get("retry-after", "") if response is not None else ""
    if said.isdecimal():
        return min(float(said), LONGEST_PAUSE)
    return float(min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE))


def understood(response: httpx.Response) -> Any:
    """What the server said. Raises Refused."""
    if response.is_success:
        return response.json() if response.content else None
    try:
        error = response.json()["error"]
        raise Refused(response.status_code, error["code"], error["message"], error.get("remedy", ""))
    except (ValueError, KeyError, TypeError):
        raise Refused(
            response.status_code, "unknown", f"the server answered {response.status_code}"
        ) from None
