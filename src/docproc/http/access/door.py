"""The door: lets programs in by key or token, and whoever another part of the server can vouch for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import HTTPConnection

from docproc.app import App
from docproc.engine.message import utc_now
from docproc.errors import ConfigurationError
from docproc.harmless import text_for_logs
from docproc.http.access import keys
from docproc.http.access.caller import ANYBODY, Caller
from docproc.http.access.pace import Pace
from docproc.http.access.scopes import Scope, known_scopes
from docproc.http.access.tables import ApiKey
from docproc.http.access.tokens import Claims, NoKeysError, TokenError, Tokens, tokens_of
from docproc.http.access.use import Use
from docproc.http.problems import PROTOCOL, RETRY_SECONDS, Problem

# How else somebody can be known: a session, say. None: not this way. Raises Problem where it is tried badly.
Way = Callable[[HTTPConnection], Awaitable[Caller | None]]

# Browsers can give a WebSocket no header, but names of protocols: `docproc`, and this with the key or token.
PROTOCOL_PREFIX = f"{PROTOCOL}.bearer."
# Refusals of one address in a minute until it is told to wait: nobody guesses 256 bits, but logs fill up.
REFUSALS_PER_MINUTE = 60
_HOW = "Send a key as `Authorization: Bearer dp_…`"


class Door:
    """One per server. Raises ConfigurationError where tokens are set incompletely."""

    def __init__(self, application: App) -> None:
        self._application = application
        self._tokens: Tokens | None = tokens_of(application.settings)
        self._pace = Pace()
        self._use: Use | None = None
        # Asked in turn when neither key nor token came.
        self.ways: list[Way] = []

    @property
    def is_on(self) -> bool:
        return self._application.settings.auth == "on"

    async def caller(self, connection: HTTPConnection) -> Caller:
        """Who it is, of an active tenant and not too often. Raises Problem 401, 403, 429 or 503."""
        if not self.is_on:
            return ANYBODY
        said = credential(connection)
        found = await self._by_credential(connection, said) if said else await self._otherwise(connection)
        tenant = await self._application.tenants.find(found.tenant_id)
        if tenant is None or not tenant.is_active:
            await self.refuse(connection, found, "tenant")
            raise Problem(403, "no_tenant", "this tenant is not known here, or switched off")
        self._check_pace(found, tenant.settings.quotas.calls_per_minute)
        return found

    async def check_scope(self, connection: HTTPConnection, caller: Caller, scope: Scope) -> None:
        """Raises Problem 403."""
        if scope not in caller.scopes:
            await self.refuse(connection, caller, f"scope_{scope}")
            raise Problem(
                403,
                "scope_missing",
                f"this takes the scope {str(scope)!r}",
                "Use a key that has it, or ask for one",
            )
        if self.is_on:
            await self._used.allowed(caller, scope, address_of(connection))

    async def refuse(self, connection: HTTPConnection, caller: Caller | None, why: str) -> None:
        """Note that somebody was turned away."""
        await self._used.refused(caller, why, address_of(connection))

    @property
    def _used(self) -> Use:
        """Not before it is needed: the database is opened then."""
        if self._use is None:
            self._use = Use(self._application.store)
        return self._use

    async def _by_credential(self, connection: HTTPConnection, said: str) -> Caller:
        if keys.looks_like_key(said):
            return await self._by_key(connection, said)
        if self._tokens is None:
            raise await self._unknown(connection, None, "no_tokens")
        try:
            claims = await self._tokens.read(said)
        except TokenError as error:
            raise await self._unknown(connection, None, f"token: {text_for_logs(error)}") from error
        except (NoKeysError, ConfigurationError) as error:
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise Problem(
                503, "unavailable", "tokens cannot be checked now", "Try again", headers=headers
            ) from error
        return caller_of_token(claims)

    async def _by_key(self, connection: HTTPConnection, said: str) -> Caller:
        store, now = self._application.store, utc_now()
        async with store.reading() as session:
            key = await keys.find(session, said)
        if key is None:
            raise await self._unknown(connection, None, "unknown_key")
        found = caller_of_key(key)
        stands = keys.standing(key, now)
        if stands != "active":
            raise await self._unknown(connection, found, stands)
        if keys.is_due(key, now):
            async with store.writing() as session:
                await keys.touch(session, key, now)
        return found

    async def _otherwise(self, connection: HTTPConnection) -> Caller:
        for way in self.ways:
            found = await way(connection)
            if found is not None:
                return found
        raise Problem(401, "no_key", "nobody said who is asking", _HOW, headers=_BEARER)

    async def _unknown(self, connection: HTTPConnection, caller: Caller | None, why: str) -> Problem:
        """Clients are not told what is wrong with what they sent: whoever has the right one knows."""
        await self.refuse(connection, caller, why)
        wait = self._pace.take(f"refused {address_of(connection)}", REFUSALS_PER_MINUTE)
        if wait:
            return _too_many("too many refused attempts", wait)
        return Problem(401, "bad_key", "the key or token is not valid here", _HOW, headers=_BEARER)

    def _check_pace(self, caller: Caller, of_tenant: int | None) -> None:
        most = of_tenant or self._application.settings.calls_per_minute
        wait = self._pace.take(f"{caller.tenant_id} {caller.kind} {caller.name}", most)
        if wait:
            raise _too_many(f"more than {most} calls a minute", wait)


_BEARER = {"WWW-Authenticate": 'Bearer realm="docproc"'}


def credential(connection: HTTPConnection) -> str | None:
    """The key or token of a request; of a WebSocket also as a protocol's name."""
    scheme, _, said = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return said.strip() or None
    if key := connection.headers.get("x-api-key", "").strip():
        return key
    if connection.scope["type"] == "websocket":
        for name in connection.scope.get("subprotocols", ()):
            if name.startswith(PROTOCOL_PREFIX):
                return str(name).removeprefix(PROTOCOL_PREFIX) or None
    return None


def caller_of_key(key: ApiKey) -> Caller:
    return Caller(
        tenant_id=key.tenant_id,
        scopes=known_scopes(key.scopes),
        kind="key",
        name=key.prefix,
        operator_id=key.operator_id,
    )


def caller_of_token(claims: Claims) -> Caller:
    return Caller(tenant_id=claims.tenant_id, scopes=claims.scopes, kind="token", name=claims.subject)


def address_of(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else "unknown"


def _too_many(told: str, seconds: int) -> Problem:
    return Problem(429, "too_many_calls", told, f"Wait {seconds} s", headers={"Retry-After": str(seconds)})
