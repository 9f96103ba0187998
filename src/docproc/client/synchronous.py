"""The client for plain programs. `asynchronous.py` is the same for asyncio."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Self
from uuid import UUID

import httpx

from docproc.client import calls
from docproc.client.calls import JSON, Call, File, Unreachable


class Client:
    """Every method raises Refused when the server says no, and Unreachable when nobody answers.

    Calls that failed on the way are repeated; a repeated submission is the same request.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        key: str | None = None,
        timeout_seconds: float = 60.0,
        attempts: int = calls.ATTEMPTS,
        http: httpx.Client | None = None,
    ) -> None:
        self._attempts = attempts
        self._http = http or httpx.Client(
            base_url=url, headers=calls.headers_of(key), timeout=timeout_seconds
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def submit(
        self,
        *files: File,
        url: str | None = None,
        workflow: str | None = None,
        channel: str | None = None,
        external_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        callback_url: str | None = None,
        idempotency_key: str | None = None,
    ) -> JSON:
        """Send files as one request, or have the server fetch one: `{"request_id", "status", …}`."""
        call = calls.submission(
            files, url=url, workflow=workflow, channel=channel, external_id=external_id,
            metadata=metadata, callback_url=callback_url, idempotency_key=idempotency_key,
        )  # fmt: skip
        found: JSON = self._call(call)
        return found

    def status(self, request_id: UUID | str) -> JSON:
        found: JSON = self._call(calls.status(request_id))
        return found

    def wait(self, request_id: UUID | str, timeout_seconds: float = 600.0) -> JSON:
        """The status once the request is over. Raises TimeoutError."""
        until = time.monotonic() + timeout_seconds
        version = 0
        while True:
            left = max(until - time.monotonic(), 0.0)
            said: JSON = self._call(calls.status(request_id, min(left, calls.WAIT_SECONDS), version))
            if calls.is_over(said):
                return said
            if time.monotonic() >= until:
                raise TimeoutError(f"request {request_id} is {said['status']} after {timeout_seconds:g} s")
            version = said["answer_version"]

    def requests(self, **filters: Any) -> JSON:
        """A page of requests, newest first: `status`, `channel`, `workflow`, `since`, `limit`, `cursor` …"""
        found: JSON = self._call(calls.requests(**filters))
        return found

    def workflows(self) -> list[JSON]:
        found: list[JSON] = self._call(calls.workflows())["workflows"]
        return found

    def cancel(self, request_id: UUID | str) -> JSON:
        found: JSON = self._call(calls.cancel(request_id))
        return found

    def erase(self, request_id: UUID | str) -> None:
        """Everything of it, for good; takes the scope `admin`."""
        self._call(calls.erase(request_id))

    def _call(self, call: Call) -> Any:
        problem = ""
        for attempt in range(1, self._attempts + 1):
            response = None
            made = [calls.opened(file) for file in call.files]
            try:
                response = self._http.request(call.method, call.path, **call.options(made))
                if response.status_code not in calls.PASSING or attempt == self._attempts:
                    return calls.understood(response)
            except httpx.TransportError as error:
                problem = str(error) or type(error).__name__
            finally:
                for given, one in zip(call.files, made, strict=True):
                    calls.close(given, one)
            if attempt < self._attempts:
                time.sleep(calls.pause_seconds(attempt, response))
        raise Unreachable(f"no answer from {self._http.base_url}: {problem}")
