"""Nothing of a tenant is seen or changed with another's key, session or none: on every route of every server.

The walk knows no list of routes: it goes over those that there are, so a new one is part of it. Routes that
forget their check are shown to be found.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, WebSocket
from sqlalchemy import select
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse

from docproc.console.servers import gateway, station
from docproc.engine.store.purging import tables
from docproc.engine.store.tables import Request
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import Application
from tests import tenancy
from tests.harness import Harness
from tests.tenancy import ACME, BETA, MARK, Tenancy
from tests.walking import Walker, connect

SERVERS = {"api": gateway, "station": station}
# Some that the OpenAPI documents do not tell of.
HIDDEN = {
    "api": {"/", "/ws/requests/{request_id}"},
    "station": {"/", "/tasks/{task_id}", "/supervisor/keys", "/supervisor/requests/{request_id}"},
}


@pytest.fixture
async def both(sqlite_engine: Harness) -> Tenancy:
    await tenancy.on(sqlite_engine)
    return await tenancy.two_tenants(sqlite_engine)


async def _contents(engine: Harness, tenant: str) -> dict[str, list[Any]]:
    """Every row of a tenant, but for the audit of who looked and when a key was used."""
    async with engine.app.store.reading() as session:
        found = {}
        for table in tables():
            columns = [column for column in table.c if column.name != "last_used_at"]
            rows = await session.execute(select(*columns).where(table.c.tenant_id == tenant))
            found[table.name] = sorted(map(repr, rows))
    return found


async def _headers(engine: Harness, both: Tenancy, way: str, tenant: str) -> dict[str, str]:
    if way == "key":
        return both.key(tenant)
    return await tenancy.session_of(engine, both.operators[tenant])


@pytest.mark.parametrize("way", ["key", "session"])
@pytest.mark.parametrize("server", SERVERS)
async def test_no_route_shows_or_changes_what_is_another_tenants(
    sqlite_engine: Harness, both: Tenancy, server: str, way: str
) -> None:
    app = SERVERS[server](sqlite_engine.app)
    before = await _contents(sqlite_engine, ACME)
    headers = await _headers(sqlite_engine, both, way, BETA)
    walker = Walker(app, both.values, both.marks, headers, by_scope=server == "api")
    assert await walker.findings() == []
    assert walker.undocumented() == [] and HIDDEN[server] <= walker.paths()
    assert await _contents(sqlite_engine, ACME) == before


@pytest.mark.parametrize("server", SERVERS)
async def test_no_route_answers_who_says_nothing(sqlite_engine: Harness, both: Tenancy, server: str) -> None:
    app = SERVERS[server](sqlite_engine.app)
    before = await _contents(sqlite_engine, ACME)
    walker = _Strangers(app, both.values, both.marks, by_scope=server == "api")
    assert await walker.findings() == []
    assert await _contents(sqlite_engine, ACME) == before


class _Strangers(Walker):
    """Who is nobody is refused before anything is looked up."""

    def _judged(self, answer: httpx.Response, named: Collection[str]) -> str:
        is_public = answer.request.url.path == "/openapi.json"
        return super()._judged(answer, ()) or (
            "" if answer.status_code == 401 or is_public else answer.text[:80]
        )

    def _judged_socket(self, said: tuple[int, list[str]], named: Collection[str]) -> str:
        return "" if said == (4401, []) else str(said)


@pytest.mark.parametrize("way", ["key", "session"])
async def test_its_own_tenant_sees_all_of_it(sqlite_engine: Harness, both: Tenancy, way: str) -> None:
    """Else the walk would prove nothing: it would be refused for another reason."""
    headers = await _headers(sqlite_engine, both, way, ACME)
    request = both.values["request_id"]
    seen = {
        "api": (
            "/requests", f"/status/{request}", f"/requests/{request}", f"/requests/{request}/result",
            f"/materials/{both.values['material_id']}", f"/library/{both.values['material_id']}",
            f"/library/{both.values['material_id']}/quiz",
        ),
        "station": ("/", "/api/tasks", "/supervisor", f"/supervisor/requests/{request}", "/supervisor/keys"),
    }  # fmt: skip
    for server, paths in seen.items():
        transport = httpx.ASGITransport(SERVERS[server](sqlite_engine.app))
        async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
            for path in paths:
                answer = await client.get(path, headers={**headers, "Accept": "text/html"})
                assert answer.status_code == 200, (path, answer.text)
                assert any(mark in answer.text for mark in both.marks), path
            if server == "api":
                picture = await client.get(f"/requests/{request}/pages/0.png", headers=headers)
                assert picture.headers["content-type"] == "image/png"
    app = gateway(sqlite_engine.app)
    code, texts = await connect(app, f"/ws/requests/{request}", headers)
    await app.state.hub.close()
    assert code == 1000 and texts


# --- routes that forget ---------------------------------------------------------------------------------


def forgetful(app: FastAPI) -> None:
    """What a hurried author might write."""

    @app.get("/all-of-them")
    @needs(Scope.READ)
    async def every_tenants(application: Application) -> list[str]:
        async with application.store.reading() as session:
            return [str(row) for row in await session.scalars(select(Request.external_id))]

    @app.get("/undeclared")
    async def undeclared() -> str:
        return "nobody said who may see this"

    @app.get("/parcels/{parcel_id}")
    @needs(Scope.READ)
    async def parcel(parcel_id: str) -> str:
        return parcel_id

    @app.get("/documents/{document_id}")
    @needs(Scope.READ)
    async def document(document_id: str) -> dict[str, str]:
        return {"amount": "12.50"}

    @app.websocket("/ws/documents/{document_id}")
    @needs(Scope.READ)
    async def followed(websocket: WebSocket, document_id: str) -> None:
        await websocket.accept()
        await websocket.send_text("12.50")
        await websocket.close()

    async def raw(_request: HttpRequest) -> PlainTextResponse:
        return PlainTextResponse(MARK)

    app.add_route("/raw", raw)
    app.mount("/elsewhere", FastAPI())


async def test_walk_finds_every_route_that_forgets_its_check(sqlite_engine: Harness, both: Tenancy) -> None:
    app = gateway(sqlite_engine.app)
    forgetful(app)
    found = await Walker(app, both.values, both.marks, both.key(BETA)).findings()
    assert found == [
        f"GET /all-of-them: 200 tells {MARK}, {both.values['request_id']}",
        "ANY /undeclared: it does not say which scope it takes",
        "ANY /parcels/{parcel_id}: the test does not know what to fill in for parcel_id",
        "GET /documents/{document_id}: 200, not 403 or 404",
        "WS /ws/documents/{document_id}: 1000, not 4403 or 4404",
        "ANY /raw: it is not behind the gate",
        f"GET /raw: 200 tells {MARK}",
        "MOUNT /elsewhere/{path}: it is not behind the gate",
    ]


async def test_route_that_declares_no_scope_is_refused_while_authentication_is_on(
    sqlite_engine: Harness, both: Tenancy
) -> None:
    app = gateway(sqlite_engine.app)
    forgetful(app)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://docproc") as client:
        answer = await client.get("/undeclared", headers=both.key(ACME))
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "no_scope")


async def test_route_that_names_a_request_cannot_forget_whose_it_is(
    sqlite_engine: Harness, both: Tenancy
) -> None:
    app = gateway(sqlite_engine.app)

    @app.get("/summaries/{request_id}")
    @needs(Scope.READ)
    async def summary(request_id: str) -> str:
        return MARK

    assert await Walker(app, both.values, both.marks, both.key(BETA)).findings() == []


async def test_another_tenants_request_looks_like_none(sqlite_engine: Harness, both: Tenancy) -> None:
    """Word for word: nobody learns which ids exist."""
    app, request = gateway(sqlite_engine.app), both.values["request_id"]
    nobody = "00000000-0000-0000-0000-000000000000"
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://docproc") as client:
        for path in ("/status/{}", "/requests/{}/pages/0.png", "/status/{}?wait=nonsense"):
            answers = [
                await client.get(path.format(one), headers=both.key(BETA)) for one in (request, nobody)
            ]
            texts = {answer.text.replace(request, nobody) for answer in answers}
            assert len(texts) == 1 and {answer.status_code for answer in answers} == {404}
