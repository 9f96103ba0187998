"""Signatures as the Standard Webhooks specification says, checked by its own library."""

from __future__ import annotations

import base64
import time

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from docproc.http.callbacks import signature

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
BODY = '{"answer_version": 1, "name": "ñandú"}'.encode()


def _headers(secret: str = SECRET) -> dict[str, str]:
    return signature.headers(signature.key_of(secret), "id-1", int(time.time()), BODY)


def test_receivers_library_accepts_the_signature() -> None:
    assert Webhook(SECRET).verify(BODY, _headers())["answer_version"] == 1


@pytest.mark.parametrize("changed", ["webhook-id", "webhook-timestamp", "body", "secret"])
def test_whatever_is_changed_on_the_way_is_noticed(changed: str) -> None:
    headers, body, secret = _headers(), BODY, SECRET
    if changed == "body":
        body = BODY.replace(b"1", b"2")
    elif changed == "secret":
        secret = signature.new_secret()
    else:
        headers[changed] = str(int(headers["webhook-timestamp"]) + 1)
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, headers)


def test_signature_is_the_specifications_example() -> None:
    key = signature.key_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    found = signature.headers(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert found["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_new_secrets_are_usable_and_differ() -> None:
    one, other = signature.new_secret(), signature.new_secret()
    assert one != other
    assert len(signature.key_of(one)) == 32


@pytest.mark.parametrize(
    ("secret", "problem"),
    [
        ("", "whsec_"),
        ("abcd", "whsec_"),
        ("whsec_", "bytes"),
        ("whsec_not base64!", "base64"),
        ("whsec_" + base64.b64encode(b"short").decode(), "24 to 64"),
        ("whsec_" + base64.b64encode(bytes(65)).decode(), "24 to 64"),
    ],
)
def test_unusable_secrets_are_refused_without_repeating_them(secret: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as caught:
        signature.key_of(secret)
    assert secret.removeprefix("whsec_") not in str(caught.value) or len(secret) < 8
