"""Signatures as the Standard Webhooks specification says: HMAC-SHA256 over id, moment and body."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

from docproc.engine.store.tenants import DEFAULT

PREFIX = "whsec_"
_SHORTEST, _LONGEST = 24, 64


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def key_of(secret: str) -> bytes:
    """The key a secret stands for. Raises ValueError, which never repeats the secret."""
    if not secret.startswith(PREFIX):
        raise ValueError(f"it must begin with {PREFIX}")
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        raise ValueError(f"what follows {PREFIX} is no base64") from None
    if not _SHORTEST <= len(key) <= _LONGEST:
        raise ValueError(f"it must stand for {_SHORTEST} to {_LONGEST} bytes, not {len(key)}")
    return key


def secret_for(key: bytes) -> str:
    """A key as receivers are told it."""
    return PREFIX + base64.b64encode(key).decode()


def key_of_tenant(key: bytes, tenant_id: str) -> bytes:
    """Each tenant's own, made from the installation's: whoever can verify a tenant's answers could forge
    them, and must not be able to forge another's. `default` has the installation's."""
    if tenant_id == DEFAULT:
        return key
    return hmac.new(key, b"docproc callbacks of " + tenant_id.encode(), hashlib.sha256).digest()


def headers(key: bytes, delivery_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The three headers of an attempt; `timestamp` in seconds, so that receivers can refuse old ones."""
    signed = b".".join((delivery_id.encode(), str(timestamp).encode(), body))
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return {
        "webhook-id": delivery_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
