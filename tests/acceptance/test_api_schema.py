"""The API keeps what its OpenAPI document promises, whatever is thrown at it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck
from schemathesis.specs.openapi.checks import negative_data_rejection

from bench.servers import _free_ports
from docproc.app import App
from docproc.console.servers import gateway
from docproc.http.access import door, keys
from docproc.http.access.keys import NewKey
from docproc.http.access.scopes import Scope
from docproc.http.server import serve
from docproc.settings import Settings
from tests.harness import settings_for
from tests.processes import until

AnyCase = schemathesis.Case[Any]
# One that is open, and one that is over, whose end nobody waits for.
KNOWN: list[str] = []
TURNS = cycle((True, True, False))
# With all scopes, and what the document's endpoints are called with.
KEY: dict[str, str] = {}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server in a thread of its own that asks for keys, with two requests in it."""
    folder: Path = tmp_path_factory.mktemp("api")
    port = _free_ports(1)[0]
    loop = asyncio.new_event_loop()
    stopping = asyncio.Event()

    async def run() -> None:
        # Private addresses, so that a file can be fetched from this very server.
        values = {"auth": "on", "calls_per_minute": 1_000_000, "download_allow_private": True}
        application = App(settings_for(folder, **values))
        await application.prepare_database()
        async with application.store.writing() as session:
            all_of_it = NewKey("all", "default", [Scope.SUBMIT, Scope.READ, Scope.ADMIN])
            made = await keys.create(session, all_of_it, "test")
        KEY["Authorization"] = f"Bearer {made.secret}"
        await serve(application, stopping, host="127.0.0.1", port=port, create=gateway)
        await application.close()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    url = f"http://127.0.0.1:{port}"
    until(lambda: _answers(url), "the server answers")
    for name in ("open", "over"):
        file = {"file": (name, b"%PDF-1.4")}
        sent = httpx.post(f"{url}/process", files=file, headers=KEY, trust_env=False)
        KNOWN.append(sent.json()["request_id"])
    httpx.post(f"{url}/requests/{KNOWN[1]}/cancel", headers=KEY, trust_env=False).raise_for_status()
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(door, "REFUSALS_PER_MINUTE", 1_000_000)  # wrong keys are tried on purpose
        yield url
    loop.call_soon_threadsafe(stopping.set)
    thread.join()
    loop.close()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


# The document needs no database, only the endpoints.
# A stream that never ends, and replies to envelopes, which must have been taken before, cannot be guessed.
WALKED_ELSEWHERE = ["/api/v1/sessions/{session_id}/stream", "/api/v1/services/replies"]
schema = schemathesis.openapi.from_dict(
    gateway(App(Settings.load(_env_file=None, auth="on"))).openapi()
).exclude(path=WALKED_ELSEWHERE)


UNGUESSED = ("flow", "plan", "expires_at", "target_service", "tenant_id", "metadata", "callback_url")


@schema.hook
def map_case(_context: schemathesis.HookContext, case: AnyCase) -> AnyCase:
    """Guesses that never fit are made to: ids of requests that exist, keys that are new, public addresses."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return case
    if case.headers and "idempotency-key" in case.headers:
        case.headers["idempotency-key"] = uuid4().hex
    if isinstance(case.body, dict):
        # Free data must be without NUL, which no schema can say of the names and texts inside it.
        body: dict[str, Any] = json.loads(json.dumps(case.body).replace("\\u0000", ""))
        if body.get("callback_url"):
            body["callback_url"] = "https://example.com/answers"
        if case.path == "/api/v1/tasks":  # names of what is here, and moments to come, cannot be guessed
            body = {name: value for name, value in body.items() if name not in UNGUESSED}
        case.body = body
    if case.path in ("/process", "/requests", "/materials") and "wait" in (case.query or {}):
        case.query["wait"] = 0.01  # nobody works here: it would be waited for in vain
    if KNOWN and "request_id" in (case.path_parameters or {}) and next(TURNS):
        is_waiting = case.path.endswith("/stream") or "wait" in (case.query or {})
        case.path_parameters["request_id"] = KNOWN[is_waiting]
    return case


@schema.parametrize()
@hypothesis.settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_endpoint_keeps_its_promise(case: AnyCase, address: str) -> None:
    """With a key; that it is needed, and that a wrong one is not taken, is part of the promise."""
    is_positive = case.meta is not None and case.meta.generation.mode.is_positive
    if is_positive and case.path == "/process" and isinstance(case.body, dict) and "url" in case.body:
        case.body["url"] = f"{address}/health"  # something that can be fetched
    # Schemathesis takes some texts of forms for violations that are none: a "*" after what may be any text.
    # What forms refuse has tests of its own.
    # A list for a parameter that is one value is sent as several of the same name: the last one counts, and
    # it may be right.
    is_repeated = any(isinstance(value, list) for value in (case.query or {}).values())
    is_unclear = is_repeated or case.media_type == "multipart/form-data"
    unreliable: list[Any] = [negative_data_rejection] if is_unclear else []
    case.call_and_validate(base_url=address, headers=KEY, excluded_checks=unreliable)
