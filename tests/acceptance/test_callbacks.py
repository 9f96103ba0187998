"""Answers sent to the client: the form field, the tenant's address, and the whole way to a receiver."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from standardwebhooks import Webhook

from docproc.engine.store import requests
from docproc.errors import ConfigurationError
from docproc.http.app import create_app
from docproc.http.callbacks import signature
from docproc.http.callbacks.secret import FILE
from docproc.http.callbacks.signature import new_secret
from docproc.http.reception import Arrival, reception_of
from tests.acceptance.conftest import client_of
from tests.harness import Harness, opened, settings_for
from tests.receiver import receiving

PDF = b"%PDF-1.4\n1 0 obj <<>> endobj\ntrailer <<>>\n%%EOF\n"
PUBLIC = "https://example.com/answers"


async def send(client: httpx.AsyncClient, **fields: str) -> httpx.Response:
    return await client.post("/process", files={"file": ("a.pdf", PDF)}, data=fields)


async def accepted(client: httpx.AsyncClient, **fields: str) -> UUID:
    answer = await send(client, **fields)
    assert answer.status_code == 200, answer.text
    return UUID(answer.json()["request_id"])


@asynccontextmanager
async def api(folder: Path, **values: Any) -> AsyncIterator[tuple[Harness, httpx.AsyncClient]]:
    """The API with all that runs beside its endpoints."""
    async with opened(settings_for(folder, **values)) as harness:
        app = create_app(harness.app)
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://docproc") as client,
        ):
            yield harness, client


async def test_answers_reach_the_address_signed_and_the_timeline_tells(tmp_path: Path) -> None:
    async with receiving() as receiver, api(tmp_path, callback_allow_private=True) as (engine, client):
        receiver.answers(500, 200)
        request_id = await accepted(client, callback_url=receiver.url, external_id="order-7731")
        async with engine.app.store.writing() as session:
            await requests.finish(session, request_id, {"documents": [], "partial": False})
        await engine.until(lambda: len(receiver.received) == 2, "the answer was sent again", 30)
        secret = (tmp_path / FILE).read_text().strip()
        first, again = receiver.received
        assert first.body == again.body
        said = Webhook(secret).verify(again.body, again.headers)

        async def told() -> list[Any]:
            answer = await client.get(f"/requests/{request_id}/events")
            return [event for event in answer.json()["events"] if event["kind"] == "delivery"]

        async def is_told() -> bool:
            return len(await told()) == 2

        await engine.until(is_told, "both attempts are in the timeline", 30)
        found = [(event["outcome"], event["data"]["status_code"]) for event in await told()]
    assert said["type"] == "answer" and said["external_id"] == "order-7731"
    assert (said["answer_version"], said["partial"], said["status"]) == (1, False, "completed")
    assert said["result"] == {"documents": [], "partial": False}
    assert found == [("retry", 500), ("delivered", 200)]


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://example.com/", "http or https"),
        ("https://user:secret@example.com/", "user or password"),
        ("http://169.254.169.254/", "private"),
        ("https://example.com/a b", "spaces"),
    ],
)
async def test_unusable_address_is_refused_before_the_file_is_taken(
    sqlite_engine: Harness, sqlite_client: httpx.AsyncClient, url: str, problem: str
) -> None:
    answer = await send(sqlite_client, callback_url=url)
    assert answer.status_code == 422, answer.text
    error = answer.json()["error"]
    assert error["code"] == "invalid_callback_url"
    assert problem in error["message"] and error["remedy"]
    assert "secret" not in answer.text
    assert await sqlite_engine.query("SELECT 1 FROM requests") == []


async def test_endless_address_is_refused(sqlite_client: httpx.AsyncClient) -> None:
    answer = await send(sqlite_client, callback_url=PUBLIC + "x" * 2048)
    assert answer.status_code == 422
    assert "callback_url is longer" in answer.json()["error"]["message"]


async def test_request_keeps_its_own_address_and_else_its_tenants(tmp_path: Path) -> None:
    settings = settings_for(
        tmp_path, callback_urls="default=https://tenant.example/in,other=https://o.example/"
    )
    async with opened(settings) as engine, client_of(engine) as client:
        own = await accepted(client, callback_url=PUBLIC)
        tenants = await accepted(client, callback_url="")
        assert (await engine.request(own)).callback_url == PUBLIC
        assert (await engine.request(tenants)).callback_url == "https://tenant.example/in"
        # A command that shows its own progress asked for nothing to be sent.
        assert await reception_of(engine.app).callback_url(Arrival(is_watched=False)) is None


async def test_request_without_any_address_has_none(
    sqlite_engine: Harness, sqlite_client: httpx.AsyncClient
) -> None:
    assert (await sqlite_engine.request(await accepted(sqlite_client))).callback_url is None


async def test_distributed_without_a_secret_refuses_addresses_with_the_remedy(
    tmp_path: Path, postgres_url: str
) -> None:
    async with (
        opened(settings_for(tmp_path, database_url=postgres_url)) as engine,
        client_of(engine) as client,
    ):
        error = (await send(client, callback_url=PUBLIC)).json()["error"]
        assert error["code"] == "invalid_callback_url"
        assert "DOCPROC_CALLBACK_SECRET" in error["remedy"]
        await accepted(client)
    settings = settings_for(tmp_path, database_url=postgres_url, callback_secret=new_secret())
    async with opened(settings) as engine, client_of(engine) as client:
        assert (await engine.request(await accepted(client, callback_url=PUBLIC))).callback_url == PUBLIC


async def test_receiver_of_the_how_to_takes_what_is_signed_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret = new_secret()
    monkeypatch.setenv("CALLBACK_SECRET", secret)
    page = (Path(__file__).parents[2] / "docs/how-to/receive-answers.md").read_text(encoding="utf-8")
    found = re.search(r"^```python file=receive.py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found
    receiver: dict[str, Any] = {}
    exec(found[1], receiver)
    body, now = b'{"answer_version": 1}', int(time.time())
    headers = signature.headers(signature.key_of(secret), "id-1", now, body)
    old = signature.headers(signature.key_of(secret), "id-2", now - 3600, body)
    transport = httpx.ASGITransport(receiver["app"])
    async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as client:
        for _ in range(2):
            assert (await client.post("/answers", content=body, headers=headers)).status_code == 204
        assert (await client.post("/answers", content=body + b" ", headers=headers)).status_code == 401
        assert (await client.post("/answers", content=body, headers=old)).status_code == 401
    assert receiver["answers"] == {"id-1": {"answer_version": 1}}


async def test_settings_that_cannot_work_stop_the_api_before_it_starts(tmp_path: Path) -> None:
    async with opened(settings_for(tmp_path, callback_secret="whsec_short")) as engine:
        with pytest.raises(ConfigurationError, match="DOCPROC_CALLBACK_SECRET"):
            create_app(engine.app)
