"""Keys and tokens: what lets a program in, and everything that does not."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey
from sqlalchemy import select, update

from docproc.console.servers import gateway, station
from docproc.engine.message import utc_now
from docproc.engine.store import requests, tenants
from docproc.errors import ConfigurationError, UsageError
from docproc.http.access import keys
from docproc.http.access.keys import Made
from docproc.http.access.scopes import Scope
from docproc.http.access.tables import ApiKey
from docproc.http.access.tokens import tokens_of
from docproc.people.sign_in import tenancy as switching
from docproc.settings import Settings
from tests import tenancy
from tests.harness import Harness
from tests.papers import pdf
from tests.tenancy import ACME, BETA
from tests.walking import connect

FILES = {"file": ("a.pdf", pdf(["Hello"]))}
ISSUER, AUDIENCE = "https://login.example", "docproc"
SECRET = "a secret that is shared by both of us"
RSA, OTHER_RSA, EC = (
    RSAKey.generate_key(2048, {"kid": "rsa"}),
    RSAKey.generate_key(2048, {"kid": "rsa"}),
    ECKey.generate_key("P-256", {"kid": "ec"}),
)


@pytest.fixture
async def engine(sqlite_engine: Harness) -> Harness:
    sqlite_engine.workflow("default", tenancy.FLOW)
    await tenancy.on(sqlite_engine)
    await tenancy.add_tenant(sqlite_engine, ACME)
    return sqlite_engine


@pytest.fixture
async def api(engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    async with _client(gateway(engine.app)) as client:
        yield client


def _client(app: FastAPI) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, client=("192.0.2.1", 1234))
    return httpx.AsyncClient(transport=transport, base_url="http://docproc")


def bearer(key: Made | str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key if isinstance(key, str) else key.secret}"}


def refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def _change(engine: Harness, key: Made, **values: Any) -> None:
    async with engine.app.store.writing() as session:
        await session.execute(update(ApiKey).where(ApiKey.id == key.id).values(**values))


async def _key(engine: Harness, key: Made) -> ApiKey:
    async with engine.app.store.reading() as session:
        return (await session.scalars(select(ApiKey).where(ApiKey.id == key.id))).one()


# --- keys -----------------------------------------------------------------------------------------------


async def test_key_lets_in_for_its_tenant_and_what_it_sends_belongs_to_it(
    engine: Harness, api: httpx.AsyncClient
) -> None:
    key = await tenancy.make_key(engine, ACME)
    sent = await api.post("/process", files=FILES, headers=bearer(key))
    assert sent.status_code == 200, sent.text
    (row,) = await engine.query("SELECT tenant_id FROM requests")
    assert row.tenant_id == ACME
    (event,) = await engine.query("SELECT data, tenant_id FROM events WHERE kind = 'status'")
    assert json.loads(event.data) == {"by": f"key {key.prefix}"} and event.tenant_id == ACME
    for headers in (bearer(key), {"X-API-Key": key.secret}, {"Authorization": f"bearer  {key.secret} "}):
        assert (await api.get("/requests", headers=headers)).status_code == 200


async def test_only_the_hash_of_a_key_is_kept(engine: Harness) -> None:
    key = await tenancy.make_key(engine)
    assert key.secret.startswith(f"{key.prefix}_") and len(key.secret.rpartition("_")[2]) == 64
    row = await _key(engine, key)
    assert row.hash == keys.hash_of(key.secret)
    content = b"".join(path.read_bytes() for path in engine.settings.home.glob("docproc.db*"))
    assert key.secret.rpartition("_")[2].encode() not in content


async def test_what_is_no_key_of_ours_opens_nothing(engine: Harness, api: httpx.AsyncClient) -> None:
    key = await tenancy.make_key(engine)
    assert refused(await api.get("/requests")) == (401, "no_key")
    other = f"{key.secret[:-1]}{'0' if key.secret[-1] != '0' else '1'}"
    for said in (other, key.prefix, f"{key.secret}0", key.secret.upper(), "dp_", "dp_x' OR 1=1 --", "x.y.z"):
        answer = await api.get("/requests", headers=bearer(said))
        assert refused(answer) == (401, "bad_key"), said
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert (await api.get("/requests", headers={"Authorization": f"Basic {key.secret}"})).status_code == 401
    assert (await api.get(f"/requests?key={key.secret}")).status_code == 401  # never in an address
    assert (await api.get("/health")).status_code == (await api.get("/ready")).status_code == 200


async def test_expired_and_revoked_keys_open_nothing_and_it_is_on_record(
    engine: Harness, api: httpx.AsyncClient
) -> None:
    now = utc_now()
    for values, why in (
        ({"expires_at": now - timedelta(seconds=1)}, "refused_expired"),
        ({"revoked_at": now}, "refused_revoked"),
    ):
        key = await tenancy.make_key(engine, ACME)
        assert (await api.get("/requests", headers=bearer(key))).status_code == 200
        await _change(engine, key, **values)
        assert refused(await api.get("/requests", headers=bearer(key))) == (401, "bad_key")
        told = await engine.query(
            "SELECT data FROM events WHERE tenant_id = 'acme' AND outcome = :why", why=why
        )
        assert [json.loads(row.data) for row in told] == [{"by": f"key {key.prefix}", "address": "192.0.2.1"}]


@pytest.mark.parametrize("scope", list(Scope))
async def test_scope_that_is_too_small_is_refused(
    engine: Harness, api: httpx.AsyncClient, scope: Scope
) -> None:
    operator = await tenancy.add_operator(engine, "ana", ACME, "supervisor")
    key = bearer(await tenancy.make_key(engine, ACME, scope, operator=operator))
    request = await tenancy.send(engine, ACME)
    calls = {
        Scope.READ: ("GET", f"/status/{request}"),
        Scope.SUBMIT: ("POST", f"/requests/{request}/cancel"),
        Scope.ADMIN: ("DELETE", f"/requests/{request}"),
    }
    for wanted, (method, path) in calls.items():
        answer = await api.request(method, path, headers=key)
        expected = (200, 204) if wanted is scope else (403,)
        assert answer.status_code in expected, (scope, path)
    async with _client(station(engine.app)) as desk:
        assert (await desk.get("/api/tasks", headers=key)).status_code == (
            200 if scope is Scope.REVIEW else 403
        )


async def test_tenant_that_is_forged_anywhere_is_refused(engine: Harness, api: httpx.AsyncClient) -> None:
    await tenancy.add_tenant(engine, BETA)
    key = bearer(await tenancy.make_key(engine, ACME))
    asked = {"workflow": "default"}
    for answer in (
        await api.get("/requests", headers={**key, "X-Tenant-Id": BETA}),
        await api.get(f"/requests?tenant_id={BETA}", headers=key),
        await api.post("/process", files=FILES, data={"tenant_id": BETA}, headers=key),
        await api.post("/requests", json={**asked, "tenant_id": BETA}, headers=key),
    ):
        assert refused(answer) == (403, "wrong_tenant")
    assert await engine.query("SELECT 1 FROM requests") == []
    own = await api.post("/requests", json={**asked, "tenant_id": ACME}, headers={**key, "X-Tenant-Id": ACME})
    assert own.status_code == 200


async def test_rotated_key_works_on_for_a_while_and_the_new_one_at_once(
    engine: Harness, api: httpx.AsyncClient
) -> None:
    old = await tenancy.make_key(engine, ACME, Scope.READ)
    now = utc_now()
    async with engine.app.store.writing() as session:
        row = await keys.named(session, old.prefix)
        new = await keys.rotate(session, row, "test", now, timedelta(hours=1))
    for key in (old, new):
        assert (await api.get("/requests", headers=bearer(key))).status_code == 200
    rotated = await _key(engine, new)
    assert (rotated.replaces, rotated.tenant_id, rotated.scopes) == (old.id, ACME, ["read"])
    assert (await _key(engine, old)).expires_at == now + timedelta(hours=1)
    await _change(engine, old, expires_at=now)
    assert (await api.get("/requests", headers=bearer(old))).status_code == 401
    assert (await api.get("/requests", headers=bearer(new))).status_code == 200
    async with engine.app.store.writing() as session:
        with pytest.raises(UsageError, match="works no more"):
            await keys.rotate(session, await keys.named(session, old.prefix), "test", utc_now(), timedelta())


async def test_last_use_and_audit_take_a_write_now_and_then_not_one_per_call(
    engine: Harness, api: httpx.AsyncClient
) -> None:
    key = await tenancy.make_key(engine, ACME)
    await api.get("/requests", headers=bearer(key))
    first = (await _key(engine, key)).last_used_at
    for _ in range(3):
        await api.get("/requests", headers=bearer(key))
    assert first is not None and (await _key(engine, key)).last_used_at == first
    told = await engine.query("SELECT outcome, data FROM events WHERE kind = 'access'")
    assert [(row.outcome, json.loads(row.data)["by"]) for row in told] == [("read", f"key {key.prefix}")]
    await _change(engine, key, last_used_at=first - timedelta(minutes=2))
    await api.get("/requests", headers=bearer(key))
    assert ((await _key(engine, key)).last_used_at or first) > first - timedelta(minutes=1)


async def test_too_many_calls_are_told_when_to_come_again(engine: Harness) -> None:
    await tenancy.on(engine, calls_per_minute=3)
    key, other = await tenancy.make_key(engine), await tenancy.make_key(engine)
    async with _client(gateway(engine.app)) as api:
        answers = [await api.get("/requests", headers=bearer(key)) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert (
            refused(answers[-1])[1] == "too_many_calls" and 1 <= int(answers[-1].headers["retry-after"]) <= 20
        )
        assert (await api.get("/requests", headers=bearer(other))).status_code == 200


async def test_who_is_refused_again_and_again_is_told_to_wait_and_good_keys_are_not(
    engine: Harness, api: httpx.AsyncClient
) -> None:
    key = await tenancy.make_key(engine)
    answers = [await api.get("/requests", headers=bearer("dp_wrong")) for _ in range(62)]
    assert {answer.status_code for answer in answers[:60]} == {401} and answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert (await api.get("/requests", headers=bearer(key))).status_code == 200


async def test_tenant_that_is_switched_off_lets_nobody_in(engine: Harness, api: httpx.AsyncClient) -> None:
    key = await tenancy.make_key(engine, ACME)
    async with engine.app.store.writing() as session:
        await tenants.change(session, ACME, is_active=False)
    engine.app.tenants.forget()
    assert refused(await api.get("/requests", headers=bearer(key))) == (403, "no_tenant")


async def test_key_answers_tasks_as_its_operator_with_no_more_than_its_scopes(engine: Harness) -> None:
    sofia = await tenancy.add_operator(engine, "sofia", ACME, "supervisor")
    review = bearer(await tenancy.make_key(engine, ACME, Scope.REVIEW, operator=sofia))
    admin = bearer(await tenancy.make_key(engine, ACME, Scope.REVIEW, Scope.ADMIN, operator=sofia))
    async with _client(station(engine.app)) as desk:
        assert (await desk.post("/heartbeat", headers=review)).json() == {"holds": True}
        assert (await desk.get("/supervisor/audit", headers=review)).status_code == 403
        assert (await desk.get("/supervisor/audit", headers=admin)).status_code == 200
        as_other = await desk.post("/heartbeat", headers=review, json={"operator": "ana"})
        assert as_other.status_code == 403
        await engine.query("UPDATE operators SET is_active = false")
        assert refused(await desk.post("/heartbeat", headers=review)) == (403, "no_operator")


async def test_keys_that_could_not_be_used_are_not_made(engine: Harness) -> None:
    ana = await tenancy.add_operator(engine, "ana", "default")
    for values, problem in (
        ({"scopes": [Scope.REVIEW]}, "as somebody"),
        ({"scopes": []}, "may do nothing"),
        ({"name": " x"}, "unusable"),
        ({"scopes": [Scope.REVIEW], "operator": ana}, "another tenant"),
    ):
        wanted: dict[str, Any] = {"name": "x", "tenant_id": ACME, "scopes": [Scope.READ], **values}
        async with engine.app.store.writing() as session:
            with pytest.raises(UsageError, match=problem):
                await keys.create(session, keys.NewKey(**wanted), "test")


# --- tokens ---------------------------------------------------------------------------------------------


def claims(**values: Any) -> dict[str, Any]:
    """Of a good token; None leaves one out."""
    said = {
        "iss": ISSUER, "aud": AUDIENCE, "sub": "robot", "exp": int(time.time()) + 60,
        "tenant_id": ACME, "scope": "openid docproc:read submit", **values,
    }  # fmt: skip
    return {name: value for name, value in said.items() if value is not None}


def token(key: Any = RSA, alg: str = "RS256", header: dict[str, Any] | None = None, **values: Any) -> str:
    named = {"kid": key.kid} if key.kid else {}
    return jwt.encode({"alg": alg, **named, **(header or {})}, claims(**values), key, algorithms=[alg])


@pytest.fixture
def jwks(tmp_path: Path) -> Path:
    file = tmp_path / "jwks.json"
    file.write_text(json.dumps(KeySet([RSA, EC]).as_dict(private=False)), encoding="utf-8")
    return file


@pytest.fixture
async def believing(engine: Harness, jwks: Path) -> AsyncIterator[httpx.AsyncClient]:
    """An API that takes tokens of an issuer with public keys."""
    await tenancy.on(engine, jwt_issuer=ISSUER, jwt_audience=AUDIENCE, jwt_jwks=str(jwks))
    async with _client(gateway(engine.app)) as client:
        yield client


async def test_token_lets_in_for_the_tenant_and_scopes_that_it_names(
    engine: Harness, believing: httpx.AsyncClient
) -> None:
    for said in (
        token(),
        token(EC, "ES256"),
        token(aud=[AUDIENCE, "other"]),
        token(scope=["read", "docproc:submit"]),
    ):
        assert (await believing.get("/requests", headers=bearer(said))).status_code == 200
        sent = await believing.post("/process", files=FILES, headers=bearer(said))
        assert sent.status_code == 200, sent.text
    rows = await engine.query("SELECT DISTINCT tenant_id FROM requests")
    assert [row.tenant_id for row in rows] == [ACME]
    await tenancy.add_tenant(engine, BETA)
    request = await tenancy.send(engine, BETA)
    assert (await believing.get(f"/status/{request}", headers=bearer(token()))).status_code == 404
    assert (await believing.delete(f"/requests/{request}", headers=bearer(token()))).status_code == 403


def _none() -> str:
    """Signed by nobody, as the specification allows and nobody should."""
    return f"{_packed({'alg': 'none', 'typ': 'JWT'})}.{_packed(claims())}."


def _confused() -> str:
    """Our public key taken for a shared secret: anybody has it."""
    parts = [_packed({"alg": "HS256", "kid": "rsa"}), _packed(claims())]
    signed = hmac.new(RSA.as_pem(private=False), ".".join(parts).encode(), hashlib.sha256).digest()
    return ".".join([*parts, base64.urlsafe_b64encode(signed).decode().rstrip("=")])


def _packed(said: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(said).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "forged",
    [
        pytest.param(lambda: token(exp=int(time.time()) - 3600), id="expired"),
        pytest.param(lambda: token(exp=None), id="without end"),
        pytest.param(lambda: token(nbf=int(time.time()) + 3600), id="not yet"),
        pytest.param(lambda: token(aud="somebody else"), id="wrong audience"),
        pytest.param(lambda: token(aud=None), id="no audience"),
        pytest.param(lambda: token(iss="https://evil.example"), id="wrong issuer"),
        pytest.param(lambda: token(sub=None), id="nobody"),
        pytest.param(lambda: token(tenant_id=None), id="no tenant"),
        pytest.param(lambda: token(tenant_id=[ACME]), id="several tenants"),
        pytest.param(lambda: token(OTHER_RSA), id="another key"),
        pytest.param(_none, id="none"),
        pytest.param(_confused, id="algorithm confusion"),
        pytest.param(lambda: token(OctKey.import_key(SECRET), "HS256"), id="shared secret"),
        pytest.param(lambda: token()[:-4] + "AAAA", id="signature changed"),
        pytest.param(lambda: "x" * 9000 + ".y.z", id="endless"),
        pytest.param(
            lambda: token(header={"jku": "https://evil.example/keys"}, key=OTHER_RSA), id="own keys"
        ),
    ],
)
async def test_tokens_that_prove_nothing_open_nothing(believing: httpx.AsyncClient, forged: Any) -> None:
    assert refused(await believing.get("/requests", headers=bearer(forged()))) == (401, "bad_key")


async def test_token_of_an_unknown_tenant_or_without_scopes_is_refused(believing: httpx.AsyncClient) -> None:
    for said, code in (
        (token(tenant_id="nobody"), "no_tenant"),
        (token(tenant_id="../acme"), "no_tenant"),
        (token(scope=None), "scope_missing"),
        (token(scope={"read": True}), "scope_missing"),
        (token(scope="docproc:everything"), "scope_missing"),
    ):
        assert refused(await believing.get("/requests", headers=bearer(said))) == (403, code)


async def test_token_by_a_shared_secret_and_no_other_algorithm(engine: Harness, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    await tenancy.on(engine, jwt_issuer=ISSUER, jwt_audience=AUDIENCE, jwt_secret_file=file)
    shared = OctKey.import_key(SECRET)
    async with _client(gateway(engine.app)) as api:
        assert (await api.get("/requests", headers=bearer(token(shared, "HS256")))).status_code == 200
        for forged in (token(), _none(), token(OctKey.import_key(SECRET + "?"), "HS256")):
            assert (await api.get("/requests", headers=bearer(forged))).status_code == 401


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({}, "DOCPROC_JWT_AUDIENCE"),
        ({"jwt_audience": "x"}, "one kind of key"),
        ({"jwt_audience": "x", "jwt_secret": SECRET, "jwt_jwks": "keys.json"}, "one kind of key"),
        ({"jwt_audience": "x", "jwt_secret": "short"}, "32 bytes"),
        ({"jwt_audience": "x", "jwt_secret_file": "/nowhere"}, "cannot be read"),
        ({"jwt_audience": "x", "jwt_jwks": "/nowhere"}, "holds no keys"),
        ({"jwt_audience": "x", "jwt_jwks": "http://login.example/keys"}, "https"),
    ],
)
def test_tokens_set_by_halves_stop_the_server(said: dict[str, Any], problem: str) -> None:
    settings = Settings.load(_env_file=None, auth="on", jwt_issuer=ISSUER, **said)
    with pytest.raises(ConfigurationError, match=problem):
        tokens_of(settings)
    assert tokens_of(Settings.load(_env_file=None, jwt_issuer=ISSUER, **said)) is None


async def test_new_key_of_the_issuer_is_found_and_strangers_do_not_make_us_look_again(
    engine: Harness, jwks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = engine.settings.model_copy(
        update={"auth": "on", "jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_jwks": str(jwks)}
    )
    found = tokens_of(settings)
    assert found is not None
    looks: list[float] = []
    look = found._look

    async def counted() -> Any:
        looks.append(time.monotonic())
        return await look()

    monkeypatch.setattr(found, "_look", counted)
    new = RSAKey.generate_key(2048, {"kid": "new"})
    jwks.write_text(json.dumps(KeySet([new]).as_dict(private=False)), encoding="utf-8")
    assert (await found.read(token(new))).tenant_id == ACME
    strange = RSAKey.generate_key(2048, {"kid": "strange"})
    results = await asyncio.gather(*(found.read(token(strange)) for _ in range(5)), return_exceptions=True)
    assert all(isinstance(one, Exception) for one in results) and len(looks) == 1


# --- sockets and people ---------------------------------------------------------------------------------


async def test_socket_takes_key_or_token_by_header_or_as_a_protocol(engine: Harness, jwks: Path) -> None:
    await tenancy.on(engine, jwt_issuer=ISSUER, jwt_audience=AUDIENCE, jwt_jwks=str(jwks))
    key = await tenancy.make_key(engine, ACME)
    request = await tenancy.send(engine, ACME)
    async with engine.app.store.writing() as session:
        await requests.finish(session, request, {"all": True})
    app, path = gateway(engine.app), f"/ws/requests/{request}"
    good: list[tuple[dict[str, str], tuple[str, ...]]] = [
        (bearer(key), ()),
        ({}, ("docproc", f"docproc.bearer.{key.secret}")),
        ({}, ("docproc", f"docproc.bearer.{token()}")),
    ]
    for headers, protocols in good:
        code, texts = await connect(app, path, headers, protocols)
        assert code == 1000 and len(texts) > 1
    for wrong in (
        (),
        ("docproc",),
        ("docproc", "docproc.bearer.dp_wrong"),
        ("docproc", f"docproc.bearer.{_none()}"),
    ):
        assert await connect(app, path, {}, wrong) == (4401, [])
    assert (await connect(app, f"{path}?token={key.secret}", {}))[0] == 4401
    await app.state.hub.close()


async def test_session_of_a_supervisor_opens_the_api_and_changes_carry_its_token(engine: Harness) -> None:
    sofia = await tenancy.add_operator(engine, "sofia", ACME)
    ana = await tenancy.add_operator(engine, "ana", ACME, "operator")
    headers, of_ana = await tenancy.session_of(engine, sofia), await tenancy.session_of(engine, ana)
    cookie = {"Cookie": headers["Cookie"]}
    page = {"Sec-Fetch-Mode": "navigate"}
    async with _client(gateway(engine.app)) as api:
        shown = await api.get("/", headers={**cookie, **page})
        assert shown.status_code == 200 and f'content="{headers["X-CSRF-Token"]}"' in shown.text
        assert "sofia acme" in shown.text and "/sign-out" not in shown.text
        assert refused(await api.post("/process", files=FILES, headers=cookie)) == (403, "csrf")
        sent = await api.post("/process", files=FILES, headers=headers)
        assert sent.status_code == 200
        path = f"/requests/{sent.json()['request_id']}"
        assert (await api.get(path, headers=cookie)).status_code == 200
        assert (await api.delete(path, headers=headers)).status_code == 403  # that takes an administrator
        assert (await api.get(path, headers=of_ana)).status_code == 403
        away = await api.get("/", headers={"Cookie": of_ana["Cookie"], **page})
        assert (away.status_code, away.headers["location"]) == (303, "http://docproc:8001/")


async def test_administrator_looks_at_one_tenant_after_the_other_and_nobody_else_does(
    engine: Harness,
) -> None:
    await tenancy.add_tenant(engine, BETA)
    root = await tenancy.add_operator(engine, "root", "default", "admin")
    sofia = await tenancy.add_operator(engine, "sofia", ACME, "supervisor")
    await tenancy.add_operator(engine, "beatriz", BETA)
    wide, narrow = await tenancy.session_of(engine, root), await tenancy.session_of(engine, sofia)
    html = {"Accept": "text/html"}
    async with _client(station(engine.app)) as desk:
        listed = await desk.get("/supervisor/tenants", headers={**wide, **html})
        assert all(name in listed.text for name in (ACME, BETA, "default"))
        assert (await desk.get("/supervisor/tenants", headers={**narrow, **html})).status_code == 403
        chosen = await desk.post("/supervisor/tenants/choose", headers=wide, json={"tenant_id": BETA})
        assert chosen.cookies[switching.COOKIE] == BETA
        desk.cookies.clear()
        for headers, names in ((wide, ("beatriz", "sofia")), (narrow, ("sofia", "beatriz"))):
            cookie = {**headers, "Cookie": f"{headers['Cookie']}; {switching.COOKIE}={BETA}", **html}
            shown = (await desk.get("/supervisor/operators", headers=cookie)).text
            assert names[0] in shown and names[1] not in shown
        refused_choice = await desk.post(
            "/supervisor/tenants/choose", headers=narrow, json={"tenant_id": BETA}
        )
        assert refused_choice.status_code == 403
    (row,) = await engine.query("SELECT tenant_id FROM operators WHERE username = 'root'")
    assert row.tenant_id == "default"


async def test_supervisor_makes_replaces_and_revokes_keys_on_a_page_in_either_language(
    engine: Harness,
) -> None:
    sofia = await tenancy.add_operator(engine, "sofia", ACME)
    headers = {**await tenancy.session_of(engine, sofia), "Accept": "text/html"}
    async with _client(station(engine.app)) as desk, _client(gateway(engine.app)) as api:
        for language, word in (("es", "Claves"), ("en", "Keys")):
            assert (
                f"<h1>{word}</h1>"
                in (await desk.get(f"/supervisor/keys?lang={language}", headers=headers)).text
            )
        form = {"name": "shop", "scope.read": "on", "scope.submit": "on", "days": "30"}
        made = await desk.post("/supervisor/keys", headers=headers, data=form)
        secret = made.text.partition('<code class="secret">')[2].partition("<")[0]
        assert (await api.get("/requests", headers=bearer(secret))).status_code == 200
        listed = await desk.get("/supervisor/keys", headers=headers)
        assert "shop" in listed.text and secret not in listed.text
        program = {**headers, "Accept": "application/json"}
        (key,) = (await desk.get("/supervisor/keys", headers=program)).json()["keys"]
        new = (await desk.post(f"/supervisor/keys/{key['id']}/rotate", headers=program)).json()
        assert (await desk.post(f"/supervisor/keys/{key['id']}/revoke", headers=headers)).status_code == 303
        assert (await api.get("/requests", headers=bearer(secret))).status_code == 401
        assert (await api.get("/requests", headers=bearer(new["key"]))).status_code == 200
        wrong = {"name": "all", "scopes": ["admin"]}
        assert (await desk.post("/supervisor/keys", headers=program, json=wrong)).status_code == 403
        for bad in ({"name": ""}, {"name": "x", "scopes": ["read"], "days": "never"}):
            assert (await desk.post("/supervisor/keys", headers=program, json=bad)).status_code == 422
        audit = (await desk.get("/supervisor/audit?lang=en", headers=headers)).text
        assert "made a key" in audit and "replaced a key" in audit and "revoked a key" in audit
    told = await engine.query("SELECT tenant_id FROM events WHERE kind = 'key'")
    assert {row.tenant_id for row in told} == {ACME}
