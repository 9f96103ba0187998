"""OpenID Connect: the authorization-code flow with PKCE, against whatever provider is set."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import httpx

from docproc.errors import ConfigurationError
from docproc.http.access.tokens import ALGORITHMS, is_for_signatures
from docproc.http.exposure import is_loopback
from docproc.settings import Settings

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

SCOPE = "openid profile email"
TIMEOUT_SECONDS = 10.0
# How far the provider's clock may be off.
LEEWAY_SECONDS = 60
LONGEST_SUBJECT = 255


class IdentityError(Exception):
    """The provider did not answer, or what came does not prove who somebody is."""


@dataclass(frozen=True, slots=True)
class Pending:
    """What the browser keeps in a cookie while the person is at the provider's."""

    state: str
    nonce: str
    verifier: str
    next: str

    @classmethod
    def new(cls, next_page: str) -> Pending:
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        return cls(state, nonce, verifier, next_page)

    def packed(self) -> str:
        return base64.urlsafe_b64encode(json.dumps(asdict(self)).encode()).decode()

    @classmethod
    def unpacked(cls, text: str) -> Pending:
        """Raises IdentityError when it is no cookie of ours."""
        try:
            said = json.loads(base64.urlsafe_b64decode(text))
            found = cls(**said)
        except (ValueError, TypeError, RecursionError) as error:
            raise IdentityError("the sign-in was not begun here, or too long ago") from error
        if not all(isinstance(value, str) for value in asdict(found).values()):
            raise IdentityError("the sign-in was not begun here")
        return found

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def provider_of(settings: Settings) -> Provider | None:
    """As set; None: people sign in with passwords only. Raises ConfigurationError."""
    if settings.auth == "off" or settings.oidc_issuer is None:
        return None
    if settings.oidc_client_id is None:
        raise ConfigurationError(
            "DOCPROC_OIDC_ISSUER is set and DOCPROC_OIDC_CLIENT_ID is not",
            remedy="Set it to the id under which the provider knows the review station",
        )
    if not _is_safe(settings.oidc_issuer):
        raise ConfigurationError("DOCPROC_OIDC_ISSUER is no https:// address", remedy="Correct it")
    try:
        import joserfc  # noqa: F401 # only whether it is there
    except ImportError as error:
        raise ConfigurationError(
            "signing in with an identity provider needs joserfc", remedy="pip install 'docproc[oidc]'"
        ) from error
    return Provider(settings)


def _is_safe(url: object) -> bool:
    """Whether nobody between can read or change what is sent."""
    try:
        parsed = httpx.URL(str(url))
    except httpx.InvalidURL:
        return False
    return parsed.scheme == "https" or (parsed.scheme == "http" and is_loopback(parsed.host))


class Provider:
    """One per process; what it says of itself is asked for once, its keys again when a new one is used."""

    def __init__(self, settings: Settings) -> None:
        self.issuer = settings.oidc_issuer or ""
        self.client_id = settings.oidc_client_id or ""
        self._secret = settings.oidc_client_secret
        self._about: Mapping[str, Any] | None = None
        self._keys: KeySet | None = None

    async def address(self, pending: Pending, back: str) -> str:
        """Where the browser goes; `back` is where it returns to."""
        wanted = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": back,
            "scope": SCOPE,
            "state": pending.state,
            "nonce": pending.nonce,
            "code_challenge": pending.challenge,
            "code_challenge_method": "S256",
        }
        endpoint = str((await self._describe())["authorization_endpoint"])
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(wanted)}"

    async def claims(self, code: str, pending: Pending, back: str) -> dict[str, Any]:
        """What the provider vouches for. Raises IdentityError."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "client_id": self.client_id,
            "code_verifier": pending.verifier,
        }
        if self._secret is not None:
            form["client_secret"] = self._secret.get_secret_value()
        endpoint = str((await self._describe())["token_endpoint"])
        token = (await _ask("POST", endpoint, form)).get("id_token")
        if not isinstance(token, str):
            raise IdentityError("the provider sent no id token")
        return await self._verified(token, pending.nonce)

    async def _describe(self) -> Mapping[str, Any]:
        if self._about is None:
            place = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
            about = await _ask("GET", place)
            if about.get("issuer") != self.issuer:
                raise IdentityError(f"the provider calls itself {about.get('issuer')!r}, not {self.issuer!r}")
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                if not _is_safe(about.get(name)):
                    raise IdentityError(f"the provider's {name} is no https:// address")
            self._about = about
        return self._about

    async def _verified(self, token: str, nonce: str) -> dict[str, Any]:
        from joserfc import jwt
        from joserfc.errors import InvalidKeyIdError, JoseError

        registry = jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": self.issuer},
            aud={"essential": True, "value": self.client_id},
            exp={"essential": True},
            iat={"essential": True},
            sub={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        try:
            try:
                found = jwt.decode(token, await self._known_keys(), algorithms=list(ALGORITHMS))
            except InvalidKeyIdError:  # the provider has a new key
                self._keys = None
                found = jwt.decode(token, await self._known_keys(), algorithms=list(ALGORITHMS))
            registry.validate(found.claims)
        except (JoseError, ValueError) as error:
            raise IdentityError(f"the id token is not to be believed: {error}") from error
        return self._checked(found.claims)

    def _checked(self, claims: dict[str, Any]) -> dict[str, Any]:
        """What the library does not look at."""
        if claims.get("azp", self.client_id) != self.client_id:
            raise IdentityError("the id token is another client's")
        if isinstance(claims["aud"], list) and len(claims["aud"]) > 1 and "azp" not in claims:
            raise IdentityError("the id token is for several clients and does not say whose it is")
        if not 0 < len(claims["sub"]) <= LONGEST_SUBJECT or not claims["sub"].isprintable():
            raise IdentityError("the identity cannot be stored")
        return claims

    async def _known_keys(self) -> KeySet:
        from joserfc.jwk import KeySet

        if self._keys is None:
            said = (await _ask("GET", str((await self._describe())["jwks_uri"]))).get("keys")
            usable = [key for key in said if is_for_signatures(key)] if isinstance(said, list) else []
            self._keys = KeySet.import_key_set({"keys": usable})
        return self._keys


async def _ask(method: str, url: str, form: Mapping[str, str] | None = None) -> dict[str, Any]:
    """JSON of the provider. Raises IdentityError."""
    trust = not is_loopback(httpx.URL(url).host)  # a proxy of the environment does not lead to this machine
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=trust) as client:
            answer = await client.request(
                method, url, data=dict(form) if form else None, headers={"Accept": "application/json"}
            )
        answer.raise_for_status()
        said = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise IdentityError(f"the identity provider does not answer as it should: {error}") from error
    if not isinstance(said, dict):
        raise IdentityError("the identity provider did not send a JSON object")
    return said
