"""Sign-in: passwords, sessions, roles, limits; and what changes nothing while authentication is off."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute
from sqlalchemy import select

from docproc.console.servers import station as create_app
from docproc.engine.message import utc_now
from docproc.people.sign_in import door, gate, limits, passwords, sessions
from docproc.people.station.context import Admin, Supervisor
from docproc.people.store import accounts
from docproc.people.store.accounts import Account
from docproc.people.tables import SignIn
from tests.harness import Harness

PASSWORD = "correct horse battery"
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
HASH = passwords.hashed(PASSWORD)
SKILLS = ("classification", "extraction")


# Where SQL decides.
BOTH = pytest.mark.parametrize("combination", ["sqlite+sql", "postgresql+sql"])


@pytest.fixture
def combination() -> str:
    return "sqlite+sql"


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where many passwords are tried, and it is not about how they are compared."""

    async def fits(_hash: str | None, password: str) -> bool:
        return _hash is not None and password == PASSWORD

    monkeypatch.setattr(passwords, "fits", fits)


def guarded_app(engine: Harness, **settings: Any) -> FastAPI:
    """The station with authentication on, and a page for each role."""
    engine.app.settings = engine.settings.model_copy(update={"auth": "on", **settings})
    app = create_app(engine.app)

    @app.get("/for-supervisors", dependencies=[Depends(gate.guarded)])
    async def supervisors(operator: Supervisor) -> str:
        return operator.username

    @app.post("/for-admins", dependencies=[Depends(gate.guarded)])
    async def admins(operator: Admin) -> str:
        return operator.username

    return app


@asynccontextmanager
async def browser(app: FastAPI, **client: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client with cookies of its own."""
    transport = httpx.ASGITransport(app, client=(client.pop("address", "192.0.2.1"), 1234))
    base = client.pop("base_url", "http://station")
    async with httpx.AsyncClient(transport=transport, base_url=base, **client) as found:
        yield found


@pytest.fixture
def app(engine: Harness) -> FastAPI:
    return guarded_app(engine)


async def add(engine: Harness, name: str = "ana", **values: Any) -> None:
    account = Account(name, SKILLS, **{"password_hash": HASH, **values})
    async with engine.app.store.writing() as session:
        assert await accounts.add(session, account, "test")


async def enter(client: httpx.AsyncClient, name: str = "ana", password: str = PASSWORD) -> httpx.Response:
    return await client.post("/sign-in", data={"name": name, "password": password})


async def enter_with_token(client: httpx.AsyncClient, name: str = "ana") -> dict[str, str]:
    """Signed in; what a change must carry."""
    said = (await enter(client, name)).json()
    assert said["operator"] == name
    return {"X-CSRF-Token": said["csrf"]}


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def outcomes(engine: Harness) -> list[str]:
    found = await engine.query("SELECT outcome FROM events WHERE kind = 'sign_in' ORDER BY id")
    return [row.outcome for row in found]


# --- nobody gets past the gate --------------------------------------------------------------------------


async def test_without_a_session_pages_lead_to_the_sign_in_and_programs_read_401(app: FastAPI) -> None:
    async with browser(app) as client:
        page = await client.get("/?operator=ana&x=1", headers=HTML)
        assert (page.status_code, page.headers["location"]) == (
            303,
            "/sign-in?next=%2F%3Foperator%3Dana%26x%3D1",
        )
        script = await client.get("/", headers={**HTML, "Sec-Fetch-Mode": "cors"})
        unencrypted = await client.get("/", headers={"Accept": "text/html"})
        for answer in (
            unencrypted,
            script,
            await client.get("/api/tasks?operator=ana"),
            await client.post("/next?operator=ana"),
        ):
            assert code(answer) == (401, "not_signed_in")
        assert (await client.get("/health")).status_code == 200
        assert (await client.get("/static/station.css")).status_code == 200


def routes_of(router: Any) -> Iterator[tuple[str, set[str]]]:
    """Those of included routers, too, whether the OpenAPI schema tells of them or not."""
    for route in router.routes:
        included = getattr(route, "original_router", None)
        if included is not None:
            yield from routes_of(included)
        elif isinstance(route, APIRoute):
            yield route.path, route.methods or set()


async def test_every_route_is_guarded_but_the_sign_in_and_health(app: FastAPI) -> None:
    routes = list(routes_of(app))
    assert {"/health", "/sign-out", "/next", "/api/tasks"} <= {path for path, _ in routes}
    async with browser(app) as client:
        for path, methods in routes:
            for method in methods:
                answer = await client.request(method, re.sub(r"{\w+(:\w+)?}", "x", path))
                is_open = path.startswith("/sign-in") or path == "/health"
                assert is_open or answer.status_code == 401, f"{method} {path} is open"


@BOTH
async def test_password_opens_a_session_and_signing_out_ends_it(app: FastAPI, engine: Harness) -> None:
    await add(engine)
    async with browser(app, headers=HTML) as client:
        form = {"name": "ana", "password": PASSWORD, "next": "/api/tasks"}
        entered = await client.post("/sign-in", data=form)
        assert (entered.status_code, entered.headers["location"]) == (303, "/api/tasks")
        cookie = entered.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "Secure" not in cookie
        assert (await client.get("/api/tasks")).status_code == 200
        token = client.cookies[sessions.PLAIN_COOKIE]
        (row,) = await engine.query("SELECT id, csrf FROM sign_ins")
        assert row.id == sessions.key_of(token) and token not in (row.id, row.csrf)
        assert (await client.post("/sign-out", data={"csrf": row.csrf})).headers[
            "location"
        ] == "/sign-in?ended"
        assert await engine.query("SELECT id FROM sign_ins") == []
        client.cookies.set(sessions.PLAIN_COOKIE, token)  # a copy of the cookie opens nothing
        assert (await client.get("/api/tasks")).status_code == 303
    assert await outcomes(engine) == ["ok", "ended"]


async def test_cookie_is_for_https_alone_where_that_is_spoken(engine: Harness) -> None:
    await add(engine)
    for url, base_url in (("https://review.example", "http://station"), (None, "https://station")):
        async with browser(guarded_app(engine, backoffice_url=url), base_url=base_url) as client:
            cookie = (await enter(client)).headers["set-cookie"]
            assert cookie.startswith("__Host-docproc=") and "Secure" in cookie and "Domain" not in cookie


async def test_wrong_passwords_and_unknown_names_look_alike(app: FastAPI, engine: Harness) -> None:
    await add(engine)
    await add(engine, "oscar", password_hash=None)
    await add(engine, "left")
    await engine.query("UPDATE operators SET is_active = false WHERE username = 'left'")
    async with browser(app) as client:
        tried = [await enter(client, name, word) for name, word in WRONG]
        assert {(answer.status_code, answer.text) for answer in tried} == {(401, tried[0].text)}
        page = await client.post("/sign-in", data={"name": "<b>", "password": "x"}, headers=HTML)
        assert page.status_code == 401 and "&lt;b&gt;" in page.text and "<b>" not in page.text
    assert set(await outcomes(engine)) == {"refused"}


WRONG = [("ana", "wrong"), ("ana", ""), ("nobody", PASSWORD), ("oscar", ""), ("left", PASSWORD), ("", "")]


async def test_nobody_elses_page_signs_a_browser_in(app: FastAPI, engine: Harness) -> None:
    await add(engine)
    form = {"name": "ana", "password": PASSWORD}
    async with browser(app) as client:
        foreign = await client.post("/sign-in", data=form, headers={"Origin": "http://elsewhere"})
        assert code(foreign) == (403, "cross_site")
        own = await client.post("/sign-in", data=form, headers={"Origin": "http://station"})
        assert own.status_code == 200


ELSEWHERE = ("https://elsewhere/", "//elsewhere", "/\\elsewhere", "elsewhere", "/a\nb", "/" + "x" * 1000)


async def test_after_the_sign_in_nobody_is_led_elsewhere(app: FastAPI, engine: Harness, fast: None) -> None:
    await add(engine)
    async with browser(app, headers=HTML) as client:
        for wanted in ELSEWHERE:
            form = {"name": "ana", "password": PASSWORD, "next": wanted}
            assert (await client.post("/sign-in", data=form)).headers["location"] == "/"
            assert 'name="next" value="/"' in (await client.get("/sign-in", params={"next": wanted})).text


async def test_sign_in_page_speaks_both_languages(app: FastAPI) -> None:
    async with browser(app, headers={**HTML, "Accept-Language": "es"}) as client:
        spanish, english = await client.get("/sign-in"), await client.get("/sign-in?lang=en")
        assert "Contraseña" in spanish.text and 'lang="es"' in spanish.text
        assert "Password" in english.text and 'for="password"' in english.text


# --- sessions -------------------------------------------------------------------------------------------


@BOTH
async def test_sessions_end_by_age_idleness_and_with_the_account(
    app: FastAPI, engine: Harness, fast: None
) -> None:
    await add(engine)

    async def ends(statement: str, **values: Any) -> None:
        async with browser(app) as client:
            await enter(client)
            assert (await client.get("/api/tasks")).status_code == 200
            await engine.query(statement, **values)
            assert code(await client.get("/api/tasks")) == (401, "not_signed_in")

    now = utc_now()
    await ends("UPDATE sign_ins SET expires_at = :at", at=now - timedelta(seconds=1))
    await ends("UPDATE sign_ins SET seen_at = :at", at=now - timedelta(minutes=61))
    await ends("UPDATE operators SET is_active = false")


async def test_use_keeps_a_session_and_a_polling_script_does_not(
    app: FastAPI, engine: Harness, fast: None
) -> None:
    await add(engine)
    async with browser(app) as client:
        await enter(client)
        old = utc_now() - timedelta(minutes=50)
        await engine.query("UPDATE sign_ins SET seen_at = :at", at=old)
        await client.get("/api/tasks", headers={"Sec-Fetch-Mode": "cors"})
        assert await _seen(engine) == old
        await client.get("/api/tasks", headers={"Sec-Fetch-Mode": "navigate"})
        assert await _seen(engine) > old


async def _seen(engine: Harness) -> Any:
    async with engine.app.store.reading() as session:
        return await session.scalar(select(SignIn.seen_at))


@BOTH
async def test_new_password_ends_every_session(app: FastAPI, engine: Harness, fast: None) -> None:
    await add(engine)
    await add(engine, "eva")
    async with browser(app) as first, browser(app) as second, browser(app) as other:
        await asyncio.gather(enter(first), enter(second), enter(other, "eva"))
        async with engine.app.store.writing() as session:
            await accounts.set_password(session, await accounts.find(session, "ana"), HASH, "test")
        codes = [(await client.get("/api/tasks")).status_code for client in (first, second, other)]
        assert codes == [401, 401, 200]


@BOTH
async def test_session_begun_while_the_password_changes_does_not_survive(
    app: FastAPI, engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add(engine)

    async def fits(_hash: str | None, _password: str) -> bool:
        async with engine.app.store.writing() as session:
            await accounts.set_password(session, await accounts.find(session, "ana"), "other", "test")
        return True

    monkeypatch.setattr(passwords, "fits", fits)
    async with browser(app) as client:
        assert (await enter(client)).status_code == 401
    assert await engine.query("SELECT id FROM sign_ins") == []


async def test_signing_in_again_leaves_no_old_session(app: FastAPI, engine: Harness, fast: None) -> None:
    await add(engine)
    async with browser(app) as client:
        await enter(client)
        first = client.cookies[sessions.PLAIN_COOKIE]
        await enter(client)
        assert client.cookies[sessions.PLAIN_COOKIE] != first
    assert len(await engine.query("SELECT id FROM sign_ins")) == 1


# --- changes carry the session's token ------------------------------------------------------------------


async def test_changes_need_the_sessions_token(app: FastAPI, engine: Harness, fast: None) -> None:
    await add(engine)
    await add(engine, "eva")
    async with browser(app) as client, browser(app) as other:
        right, others = await enter_with_token(client), await enter_with_token(other, "eva")
        for headers in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "ñ"}, others):
            sent = {name.encode(): value.encode() for name, value in headers.items()}
            assert code(await client.post("/heartbeat", headers=sent)) == (403, "csrf")
        assert code(await client.post("/heartbeat", json={"csrf": right["X-CSRF-Token"]})) == (403, "csrf")
        assert (await client.post("/heartbeat", headers=right)).status_code == 200
        assert (await client.post("/heartbeat", json={}, headers=right)).status_code == 200
        form = {"csrf": right["X-CSRF-Token"], "operator": "ana"}
        assert (await client.post("/heartbeat", data=form)).status_code == 200


async def test_who_is_signed_in_counts_not_who_is_named(app: FastAPI, engine: Harness, fast: None) -> None:
    await add(engine)
    await add(engine, "eva")
    async with browser(app) as client:
        token = await enter_with_token(client)
        assert (await client.post("/heartbeat?operator=eva", headers=token)).status_code == 200
        refused = await client.post("/heartbeat", data={"operator": "eva"}, headers=token)
        assert code(refused) == (403, "not_allowed")
    seen = await engine.query("SELECT username FROM operators WHERE last_seen_at IS NOT NULL")
    assert [row.username for row in seen] == ["ana"]
    assert len(await engine.query("SELECT id FROM operators")) == 2  # nobody is made by being named


# --- roles ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "allowed"), [("operator", [403, 403]), ("supervisor", [200, 403]), ("admin", [200, 200])]
)
async def test_roles_open_what_they_should(
    engine: Harness, role: str, allowed: list[int], fast: None
) -> None:
    await add(engine, role=role)
    async with browser(guarded_app(engine)) as client:
        token = await enter_with_token(client)
        answers = [await client.get("/for-supervisors"), await client.post("/for-admins", headers=token)]
        assert [answer.status_code for answer in answers] == allowed


async def test_authentication_off_asks_nobody_and_knows_no_roles(engine: Harness) -> None:
    app = guarded_app(engine, auth="off")
    async with browser(app) as client:
        assert (await client.get("/for-supervisors?operator=ana")).json() == "ana"
        assert (await client.post("/for-admins", json={"operator": "ana"})).json() == "ana"
        assert (await client.get("/for-supervisors")).status_code == 403
        assert (await client.get("/sign-in")).headers["location"] == "/"
        assert code(await enter(client)) == (404, "no_sign_in")


# --- limits ---------------------------------------------------------------------------------------------


@BOTH
async def test_after_some_failures_a_name_waits_from_every_address(
    app: FastAPI, engine: Harness, fast: None
) -> None:
    await add(engine)
    async with browser(app) as client, browser(app, address="198.51.100.7") as other:
        tried = [(await enter(client, password="wrong")).status_code for _ in range(6)]
        assert tried == [401] * 5 + [429]
        right = await enter(other)
        assert code(right) == (429, "too_many_attempts") and 1 <= int(right.headers["retry-after"]) <= 15
        page = await other.post("/sign-in", data={"name": "ana", "password": "x"}, headers=HTML)
        assert page.status_code == 429 and page.headers["retry-after"] in page.text
        await engine.query("UPDATE sign_in_failures SET blocked_until = :at", at=utc_now())
        assert (await enter(other)).status_code == 200
        assert [(await enter(client, password="wrong")).status_code for _ in range(5)] == [401] * 5
    # The fifth makes the next wait; what is not looked at is not told, or anybody could fill the table.
    assert await outcomes(engine) == ["refused"] * 4 + ["locked", "ok"] + ["refused"] * 4 + ["locked"]


async def test_waits_grow_with_every_failure(app: FastAPI, engine: Harness, fast: None) -> None:
    waits = []
    async with browser(app) as client:
        for _ in range(8):
            await engine.query("UPDATE sign_in_failures SET blocked_until = :at", at=utc_now())
            await enter(client, "nobody", "wrong")
            blocked = await enter(client, "nobody", "wrong")
            waits.append(int(blocked.headers.get("retry-after", 0)))
    assert waits[:2] == [0, 0] and sorted(waits[2:]) == waits[2:] and waits[-1] > 2 * waits[3] > 0


@BOTH
async def test_many_attempts_at_once_gain_nothing(app: FastAPI, engine: Harness, fast: None) -> None:
    await add(engine)
    async with browser(app) as client:
        answers = await asyncio.gather(*(enter(client, password="wrong") for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [401] * 5 + [429] * 15


@BOTH
async def test_right_attempts_at_once_all_succeed(
    app: FastAPI, engine: Harness, fast: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the clocks of the machines they come to say."""
    now = utc_now()
    clocks = itertools.cycle([now, now - timedelta(seconds=3), now + timedelta(seconds=2)])
    monkeypatch.setattr(door, "utc_now", lambda: next(clocks))
    names = [f"person{n}" for n in range(8)]
    for name in names:
        await add(engine, name)
    async with browser(app) as client:
        answers = await asyncio.gather(*(enter(client, name) for name in names))
    assert [answer.status_code for answer in answers] == [200] * 8


async def test_address_that_tries_many_names_waits(app: FastAPI, engine: Harness, fast: None) -> None:
    await add(engine)
    async with browser(app) as client, browser(app, address="198.51.100.7") as other:
        tried = [(await enter(client, f"name{n}", "wrong")).status_code for n in range(21)]
        assert tried == [401] * 20 + [429]
        assert (await enter(client)).status_code == 429
        assert (await enter(other)).status_code == 200


@BOTH
async def test_people_who_sign_in_well_never_block_their_office(
    app: FastAPI, engine: Harness, fast: None
) -> None:
    await add(engine)
    for _ in range(limits.FREE_OF_ADDRESS + 3):
        async with browser(app) as client:
            assert (await enter(client)).status_code == 200


@BOTH
async def test_old_failures_are_forgotten(app: FastAPI, engine: Harness, fast: None) -> None:
    async with browser(app) as client:
        for _ in range(4):
            await enter(client, "nobody", "wrong")
        long_ago = utc_now() - limits.FORGET - timedelta(seconds=1)
        await engine.query("UPDATE sign_in_failures SET last_at = :at, blocked_until = :at", at=long_ago)
        await enter(client, "somebody", "wrong")
        left = await engine.query("SELECT key FROM sign_in_failures ORDER BY key")
        assert [row.key for row in left] == ["address:192.0.2.1", "name:somebody"]
        (count,) = await engine.query("SELECT failures FROM sign_in_failures WHERE key = 'address:192.0.2.1'")
        assert count.failures == 1


# --- one's own password ---------------------------------------------------------------------------------

NEW = "otras cuatro palabras"


def wanted(old: str = PASSWORD, new: str = NEW, again: str | None = None) -> dict[str, str]:
    return {"old": old, "new": new, "again": new if again is None else again}


async def test_people_change_their_own_password(app: FastAPI, engine: Harness) -> None:
    await add(engine)
    async with browser(app) as client, browser(app) as other:
        token = await enter_with_token(client)
        await enter(other)
        assert 'for="old"' in (await client.get("/account/password", headers=HTML)).text
        assert code(await client.post("/account/password", json=wanted())) == (403, "csrf")
        changed = await client.post("/account/password", json=wanted(), headers=token)
        assert changed.status_code == 200
        new = {"X-CSRF-Token": changed.json()["csrf"]}
        assert (await client.post("/heartbeat", headers=new)).status_code == 200
        assert (await other.get("/api/tasks")).status_code == 401
        assert (await enter(other)).status_code == 401 and (await enter(other, "ana", NEW)).status_code == 200


async def test_passwords_that_cannot_be_changed_stay(app: FastAPI, engine: Harness, fast: None) -> None:
    await add(engine)
    async with browser(app) as client:
        token = await enter_with_token(client)
        for said, status in (
            (wanted(old="wrong"), 403),
            (wanted(new="short"), 422),
            (wanted(again="other"), 422),
        ):
            page = await client.post("/account/password", data=said, headers={**HTML, **token})
            assert page.status_code == status and 'role="alert"' in page.text
            assert (await client.post("/account/password", json=said, headers=token)).status_code == status
        (row,) = await engine.query("SELECT password_hash FROM operators")
        assert row.password_hash == HASH
        tried = [
            await client.post("/account/password", json=wanted(old="x"), headers=token) for _ in range(4)
        ]
        assert tried[-1].status_code == 429 and int(tried[-1].headers["retry-after"]) > 0


# --- accounts -------------------------------------------------------------------------------------------


@BOTH
async def test_who_is_deactivated_holds_nothing(app: FastAPI, engine: Harness, fast: None) -> None:
    await add(engine)
    async with browser(app) as client:
        await enter(client)
        async with engine.app.store.writing() as session:
            await accounts.deactivate(session, await accounts.find(session, "ana"), "boss")
        assert await engine.query("SELECT id FROM sign_ins") == []
        assert (await enter(client)).status_code == 401
    told = await engine.query("SELECT outcome, data FROM events WHERE kind = 'account' ORDER BY id")
    assert [row.outcome for row in told] == ["added", "deactivated"]


@BOTH
async def test_names_and_identities_are_taken_once(engine: Harness) -> None:
    await add(engine, oidc_subject="id-1")
    async with engine.app.store.writing() as session:
        assert not await accounts.add(session, Account("ana", SKILLS), "test")
        assert not await accounts.add(session, Account("eva", SKILLS, oidc_subject="id-1"), "test")


async def test_password_hashed_with_old_parameters_is_hashed_anew(app: FastAPI, engine: Harness) -> None:
    from argon2 import PasswordHasher

    weak = PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash(PASSWORD)
    await add(engine, password_hash=weak)
    async with browser(app) as client:
        assert (await enter(client)).status_code == 200
        (row,) = await engine.query("SELECT password_hash FROM operators")
        assert row.password_hash != weak and not passwords.is_outdated(row.password_hash)
        assert (await enter(client)).status_code == 200
