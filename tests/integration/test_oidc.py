"""Signing in with an identity provider: a small one, over real HTTP, honest and otherwise."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey
from pydantic import SecretStr

from docproc.errors import ConfigurationError
from docproc.people.sign_in.oidc import provider_of
from docproc.people.store import accounts
from docproc.people.store.accounts import Account
from docproc.settings import Settings
from tests.harness import Harness
from tests.integration.test_sign_in import HTML, SKILLS, browser, guarded_app

SECRET = "the client's secret"
CLIENT = "docproc"
# Of a kind that everybody who checks a signature could sign with.
SHARED = OctKey.generate_key(256, {"kid": "shared"})


class Provider(ThreadingHTTPServer):
    """Vouches for whoever `claims` says; checks what a client must send."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server_address[1]}"
        self.key = ECKey.generate_key("P-256", {"kid": "first", "use": "sig"})
        self.signing: Any = self.key
        self.header: dict[str, Any] = {"alg": "ES256", "kid": "first"}
        self.claims: dict[str, Any] = {}
        self.asked: dict[str, str] = {}
        self.key_requests = 0

    def about(self) -> dict[str, Any]:
        names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        return {"issuer": self.issuer, **{name: f"{self.issuer}/{path}" for name, path in names.items()}}

    def keys(self) -> dict[str, Any]:
        self.key_requests += 1
        public = KeySet([self.key]).as_dict(private=False)
        return {"keys": [*public["keys"], SHARED.as_dict(), {"kty": "AKP"}]}

    def token(self, form: dict[str, str]) -> dict[str, Any]:
        """The code is good once, for whoever began, with the verifier."""
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == self.asked["code_challenge"]
        assert (form["client_id"], form["client_secret"], form["code"]) == (CLIENT, SECRET, "the code")
        assert form["redirect_uri"] == self.asked["redirect_uri"]
        now = int(time.time())
        usual = {"iss": self.issuer, "aud": CLIENT, "sub": "id-1", "iat": now, "exp": now + 300}
        claims = {**usual, "nonce": self.asked["nonce"], **self.claims}
        told = {name: value for name, value in claims.items() if value is not None}
        if self.signing is None:
            return {"id_token": f"{_packed({'alg': 'none'})}.{_packed(told)}."}
        return {"id_token": jwt.encode(self.header, told, self.signing, algorithms=["ES256", "HS256"])}


def _packed(said: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(said).encode()).decode().rstrip("=")


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        known = {"/.well-known/openid-configuration": self.server.about, "/keys": self.server.keys}
        self._answer(known[self.path]())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        try:
            self._answer(self.server.token(form))
        except (AssertionError, KeyError):
            self.send_error(400)

    def _answer(self, said: dict[str, Any]) -> None:
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def combination() -> str:
    return "sqlite+sql"


def with_provider(engine: Harness, provider: Provider, **values: Any) -> Any:
    known = {"oidc_client_id": CLIENT, "oidc_client_secret": SecretStr(SECRET)}
    return guarded_app(engine, **{"oidc_issuer": provider.issuer, **known, **values})


@pytest.fixture
async def client(engine: Harness, provider: Provider) -> AsyncIterator[httpx.AsyncClient]:
    account = Account("ana", SKILLS, oidc_subject="id-1")
    async with engine.app.store.writing() as session:
        await accounts.add(session, account, "test")
    async with browser(with_provider(engine, provider), headers=HTML) as found:
        yield found


async def go(client: httpx.AsyncClient, provider: Provider, next_page: str = "/api/tasks") -> str:
    """To the provider, as the browser does; the state it must bring back."""
    sent = await client.get("/sign-in/oidc", params={"next": next_page})
    assert sent.status_code == 303 and sent.headers["location"].startswith(f"{provider.issuer}/authorize?")
    provider.asked = {n: v[0] for n, v in parse_qs(urlsplit(sent.headers["location"]).query).items()}
    return provider.asked["state"]


async def come_back(client: httpx.AsyncClient, state: str, code: str = "the code") -> httpx.Response:
    return await client.get("/sign-in/oidc/back", params={"code": code, "state": state})


async def test_linked_operator_signs_in_with_the_provider(
    client: httpx.AsyncClient, provider: Provider, engine: Harness
) -> None:
    assert "/sign-in/oidc?next=" in (await client.get("/sign-in")).text
    back = await come_back(client, await go(client, provider))
    assert (back.status_code, back.headers["location"]) == (303, "/api/tasks")
    assert provider.asked["code_challenge_method"] == "S256" and "openid" in provider.asked["scope"]
    assert (await client.get("/api/tasks")).status_code == 200
    (event,) = await engine.query("SELECT outcome, data FROM events WHERE kind = 'sign_in'")
    assert event.outcome == "ok" and "oidc" in str(event.data) and "ana" in str(event.data)


LIES: dict[str, dict[str, Any]] = {
    "another issuer": {"iss": "http://elsewhere"},
    "another client": {"aud": "somebody"},
    "another client among several": {"aud": [CLIENT, "somebody"], "azp": "somebody"},
    "several clients": {"aud": [CLIENT, "somebody"]},
    "an old token": {"exp": 1_700_000_000},
    "no end": {"exp": None},
    "another sign-in": {"nonce": "other"},
    "no nonce": {"nonce": None},
    "nobody": {"sub": None},
    "an empty identity": {"sub": ""},
    "an endless identity": {"sub": "x" * 256},
}


async def test_tokens_that_prove_nothing_open_nothing(
    client: httpx.AsyncClient, provider: Provider, engine: Harness
) -> None:
    for lie, claims in LIES.items():
        provider.claims = claims
        await refused(client, provider, engine, lie)
    provider.claims = {}
    assert (await come_back(client, await go(client, provider))).status_code == 303


async def refused(client: httpx.AsyncClient, provider: Provider, engine: Harness, what: str) -> None:
    back = await come_back(client, await go(client, provider))
    assert back.status_code == 403 and 'role="alert"' in back.text, what
    assert await engine.query("SELECT id FROM sign_ins") == [], what


FORGERIES: dict[str, tuple[Any, dict[str, Any]]] = {
    "a stranger's key": (ECKey.generate_key("P-256"), {"alg": "ES256", "kid": "first"}),
    "a shared secret": (SHARED, {"alg": "HS256", "kid": "shared"}),
    "no signature": (None, {}),
    "an unknown key": (ECKey.generate_key("P-256"), {"alg": "ES256", "kid": "unknown"}),
}


async def test_forged_tokens_open_nothing(
    client: httpx.AsyncClient, provider: Provider, engine: Harness
) -> None:
    for forgery, (provider.signing, provider.header) in FORGERIES.items():
        await refused(client, provider, engine, forgery)


async def test_new_key_of_the_provider_is_fetched(client: httpx.AsyncClient, provider: Provider) -> None:
    assert (await come_back(client, await go(client, provider))).status_code == 303
    provider.key = provider.signing = ECKey.generate_key("P-256", {"kid": "second", "use": "sig"})
    provider.header = {"alg": "ES256", "kid": "second"}
    for _ in range(2):
        assert (await come_back(client, await go(client, provider))).status_code == 303
    assert provider.key_requests == 2


async def test_way_back_belongs_to_the_browser_that_set_out(
    client: httpx.AsyncClient, provider: Provider, engine: Harness
) -> None:
    state = await go(client, provider)
    async with browser(with_provider(engine, provider), headers=HTML) as victim:  # sent an attacker's link
        assert (await come_back(victim, state)).status_code == 403
        await go(victim, provider)
        assert (await come_back(victim, state)).status_code == 403
        victim.cookies.set("docproc_oidc", "nonsense", path="/sign-in")
        assert (await come_back(victim, state)).status_code == 403
    for wrong_state, code in (("other", "the code"), (state, ""), (state, "another code")):
        assert (await come_back(client, wrong_state, code)).status_code == 403
    assert await engine.query("SELECT id FROM sign_ins") == []


async def test_identity_nobody_is_linked_with_is_named_and_refused(
    client: httpx.AsyncClient, provider: Provider, engine: Harness
) -> None:
    provider.claims = {"sub": "id-2", "preferred_username": "ana"}
    back = await come_back(client, await go(client, provider))
    assert back.status_code == 403 and "id-2" in back.text
    assert len(await engine.query("SELECT id FROM operators")) == 1


async def test_unknown_identities_become_operators_where_that_is_wanted(
    client: httpx.AsyncClient, provider: Provider, engine: Harness
) -> None:
    provider.claims = {"sub": "id-2", "preferred_username": "eva", "name": "Eva Ruiz"}
    async with browser(with_provider(engine, provider, oidc_create=True), headers=HTML) as newcomer:
        assert (await come_back(newcomer, await go(newcomer, provider))).status_code == 303
        (row,) = await engine.query("SELECT * FROM operators WHERE oidc_subject = 'id-2'")
        assert (row.username, row.display_name, row.role) == ("eva", "Eva Ruiz", "operator")
        provider.claims = {"sub": "id-3", "preferred_username": "ana"}  # never takes over another's account
        assert (await come_back(newcomer, await go(newcomer, provider))).status_code == 403
    assert len(await engine.query("SELECT id FROM operators")) == 2


async def test_who_was_deactivated_is_not_let_in_by_the_provider(
    client: httpx.AsyncClient, provider: Provider, engine: Harness
) -> None:
    await engine.query("UPDATE operators SET is_active = false")
    async with browser(with_provider(engine, provider, oidc_create=True), headers=HTML) as again:
        assert (await come_back(again, await go(again, provider))).status_code == 403


async def test_provider_that_is_away_is_told_as_such(engine: Harness, provider: Provider) -> None:
    app = with_provider(engine, provider, oidc_issuer="http://127.0.0.1:9")
    async with browser(app, headers=HTML) as client:
        gone = await client.get("/sign-in/oidc")
        assert gone.status_code == 403 and 'role="alert"' in gone.text


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"oidc_issuer": "https://id.example"}, "DOCPROC_OIDC_CLIENT_ID"),
        ({"oidc_issuer": "http://id.example", "oidc_client_id": "x"}, "https"),
        ({"oidc_issuer": "id.example", "oidc_client_id": "x"}, "https"),
    ],
)
def test_provider_set_by_halves_stops_the_station(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        provider_of(Settings.load(_env_file=None, auth="on", **values))


def test_without_a_provider_there_is_no_way_over_it() -> None:
    assert provider_of(Settings.load(_env_file=None, auth="on")) is None
    unused = {"oidc_issuer": "https://id.example", "oidc_client_id": "x"}
    assert provider_of(Settings.load(_env_file=None, auth="off", **unused)) is None
