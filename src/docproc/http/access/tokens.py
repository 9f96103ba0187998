"""JSON Web Tokens of an identity provider, or of whoever shares a secret with us: who it is, whose, what for.

Keys of one family only: with a provider's public keys no token signed by a shared secret is looked at, nor
the other way round, so nobody can pass a public key off as a secret. `none` is in neither family.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from docproc.errors import ConfigurationError
from docproc.http.access.scopes import Scope, known_scopes
from docproc.http.exposure import is_loopback
from docproc.settings import Settings

if TYPE_CHECKING:
    from joserfc.jwk import KeySet, OctKey

# Signatures by a key that only the provider has.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
KEY_TYPES = ("RSA", "EC", "OKP")
SHARED_ALGORITHMS = ("HS256", "HS384", "HS512")
# Of the secret: as long as the shortest signature.
SHORTEST_SECRET = 32
TIMEOUT_SECONDS = 10.0
# How far the other clock may be off.
LEEWAY_SECONDS = 60
# A token signed by an unknown key makes us look for new ones, but not again and again.
LOOK_AGAIN_SECONDS = 30.0
LONGEST_TOKEN = 8192
# A client sends its token with every call: a signature that was right is not computed again for so long.
BELIEVED_SECONDS = 10.0
MOST_BELIEVED = 10_000


class TokenError(Exception):
    """The token proves nothing. The text is for the log: clients are told no reason."""


class NoKeysError(Exception):
    """The provider's keys cannot be had now."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a token vouches for."""

    subject: str
    tenant_id: str
    scopes: frozenset[Scope]


def tokens_of(settings: Settings) -> Tokens | None:
    """As set; None: no tokens are taken. Raises ConfigurationError."""
    if settings.auth == "off" or settings.jwt_issuer is None:
        return None
    if settings.jwt_audience is None:
        raise ConfigurationError(
            "DOCPROC_JWT_ISSUER is set and DOCPROC_JWT_AUDIENCE is not",
            remedy="Set it to what the provider writes into `aud` for this installation",
        )
    given = [settings.jwt_jwks, settings.jwt_secret, settings.jwt_secret_file]
    if sum(one is not None for one in given) != 1:
        raise ConfigurationError(
            "tokens need one kind of key",
            remedy="Set one of DOCPROC_JWT_JWKS, DOCPROC_JWT_SECRET and DOCPROC_JWT_SECRET_FILE",
        )
    try:
        import joserfc  # noqa: F401 # only whether it is there
    except ImportError as error:
        raise ConfigurationError("tokens need joserfc", remedy="pip install 'docproc[oidc]'") from error
    return Tokens(settings, settings.jwt_issuer, settings.jwt_audience)


class Tokens:
    """One per process."""

    def __init__(self, settings: Settings, issuer: str, audience: str) -> None:
        self._issuer, self._audience = issuer, audience
        self._tenant_claim, self._scope_claim = settings.jwt_tenant_claim, settings.jwt_scope_claim
        self._place = settings.jwt_jwks
        self._secret = None if self._place else _secret(settings)
        self._keys: KeySet | None = None
        self._looked_at = 0.0
        self._looking = asyncio.Lock()
        # By a token's hash: what it vouches for, and until when it is not looked at again.
        self._believed: dict[bytes, tuple[Claims, float]] = {}
        if self._place and not _is_address(self._place):
            self._keys = _read_file(Path(self._place))  # a missing file is told before start
        elif self._place and not _is_safe(self._place):
            raise ConfigurationError("DOCPROC_JWT_JWKS is no https:// address", remedy="Correct it")

    async def read(self, token: str) -> Claims:
        """Raises TokenError, or NoKeysError."""
        from joserfc import jwt
        from joserfc.errors import JoseError

        if len(token) > LONGEST_TOKEN:
            raise TokenError("it is too long")
        name = hashlib.sha256(token.encode()).digest()
        known, until = self._believed.get(name, (None, 0.0))
        if known is not None and time.monotonic() < until:
            return known
        registry = jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": self._issuer},
            aud={"essential": True, "value": self._audience},
            exp={"essential": True},
            sub={"essential": True},
        )
        try:
            claims = await self._signed(token)
            registry.validate(claims)
        except (JoseError, ValueError, TypeError) as error:
            raise TokenError(f"{type(error).__name__}: {error}"[:200]) from error
        meant = self._meant(claims)
        self._believe(name, meant, claims["exp"])
        return meant

    def _believe(self, name: bytes, meant: Claims, expires_at: float) -> None:
        """Not for longer than it lasts, nor so long that a key which was taken back would matter."""
        if len(self._believed) >= MOST_BELIEVED:
            self._believed.clear()
        left = expires_at + LEEWAY_SECONDS - time.time()
        self._believed[name] = meant, time.monotonic() + min(left, BELIEVED_SECONDS)

    async def _signed(self, token: str) -> dict[str, Any]:
        """What a token says, if somebody signed it whose key we have."""
        from joserfc import jwt
        from joserfc.errors import InvalidKeyIdError

        if self._secret is not None:
            return jwt.decode(token, self._secret, algorithms=list(SHARED_ALGORITHMS)).claims
        try:
            return jwt.decode(token, await self._provided(), algorithms=list(ALGORITHMS)).claims
        except InvalidKeyIdError:  # the provider may have a new key
            return jwt.decode(token, await self._provided(anew=True), algorithms=list(ALGORITHMS)).claims

    def _meant(self, claims: Mapping[str, Any]) -> Claims:
        subject, tenant_id = claims["sub"], claims.get(self._tenant_claim)
        if not isinstance(subject, str) or not subject.isprintable() or not 0 < len(subject) <= 255:
            raise TokenError("its subject cannot be told")
        if not isinstance(tenant_id, str):
            raise TokenError(f"it names no tenant: {self._tenant_claim}")
        said = claims.get(self._scope_claim, ())
        scopes = said.split() if isinstance(said, str) else said if isinstance(said, list) else ()
        return Claims(subject, tenant_id, known_scopes(scopes))

    async def _provided(self, *, anew: bool = False) -> KeySet:
        async with self._looking:
            is_fresh = time.monotonic() - self._looked_at < LOOK_AGAIN_SECONDS and self._looked_at > 0
            if self._keys is None or (anew and not is_fresh):
                self._keys = await self._look()
                self._looked_at = time.monotonic()
            return self._keys

    async def _look(self) -> KeySet:
        place = str(self._place)
        if not _is_address(place):
            return await asyncio.to_thread(_read_file, Path(place))
        trust = not is_loopback(httpx.URL(place).host)  # a proxy does not lead to this machine
        try:
            async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=trust) as client:
                answer = await client.get(place, headers={"Accept": "application/json"})
            answer.raise_for_status()
            return _key_set(answer.json())
        except (httpx.HTTPError, ValueError) as error:
            raise NoKeysError(f"the keys of tokens cannot be had: {error}") from error


def is_for_signatures(key: Any) -> bool:
    """Whether a key of a provider's set can have signed something."""
    return isinstance(key, dict) and key.get("kty") in KEY_TYPES and key.get("use", "sig") == "sig"


def _secret(settings: Settings) -> OctKey:
    from joserfc.jwk import OctKey

    if settings.jwt_secret is not None:
        secret, where = settings.jwt_secret.get_secret_value(), "DOCPROC_JWT_SECRET"
    else:
        where = str(settings.jwt_secret_file)
        try:
            secret = Path(where).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                f"{where} cannot be read: {error}", remedy="Check DOCPROC_JWT_SECRET_FILE"
            ) from error
    if len(secret.encode()) < SHORTEST_SECRET:
        raise ConfigurationError(
            f"{where}: a secret has at least {SHORTEST_SECRET} bytes", remedy="openssl rand -hex 32 makes one"
        )
    return OctKey.import_key(secret)


def _read_file(path: Path) -> KeySet:
    try:
        return _key_set(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{path} holds no keys: {error}", remedy="Check DOCPROC_JWT_JWKS: a file with a JWK set"
        ) from error


def _key_set(said: Any) -> KeySet:
    """Raises ValueError where there is no key that could have signed."""
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet

    keys = said.get("keys") if isinstance(said, dict) else None
    usable = [key for key in keys if is_for_signatures(key)] if isinstance(keys, list) else []
    if not usable:
        raise ValueError("no public keys for signatures are in it")
    try:
        return KeySet.import_key_set({"keys": usable})
    except JoseError as error:
        raise ValueError(str(error)) from error


def _is_address(place: str) -> bool:
    return "://" in place


def _is_safe(place: str) -> bool:
    """Whether nobody between can change the keys."""
    try:
        parsed = httpx.URL(place)
    except httpx.InvalidURL:
        return False
    return parsed.scheme == "https" or (parsed.scheme == "http" and is_loopback(parsed.host))
