"""Deliveries to a `callback_url`: whether they come from DocProc, by the Standard Webhooks specification."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

PREFIX = "whsec_"
# A delivery that is older, or from the future, may be one that somebody recorded and plays again.
TOLERANCE_SECONDS = 300


class WebhookError(Exception):
    """The delivery is not DocProc's, or too old: answer 400 and do nothing."""


def verify(
    secret: str, headers: Mapping[str, str], body: bytes, *, now: float | None = None
) -> dict[str, Any]:
    """The answer that was delivered. Raises WebhookError.

    `secret` is what whoever runs DocProc says, `whsec_…` (`docproc tenants show TENANT --callback-secret`);
    `body` the bytes as they came. A delivery may come twice: its `delivery_id` is then the same.
    """
    said = {name.lower(): value for name, value in headers.items()}
    try:
        delivery, moment = said["webhook-id"], said["webhook-timestamp"]
        signatures = said["webhook-signature"].split()
        age = abs((time.time() if now is None else now) - int(moment))
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (KeyError, ValueError, binascii.Error) as error:
        raise WebhookError("the delivery has no usable signature") from error
    if age > TOLERANCE_SECONDS:
        raise WebhookError("the delivery is too old")
    digest = hmac.new(key, f"{delivery}.{moment}.".encode() + body, hashlib.sha256).digest()
    expected = f"v1,{base64.b64encode(digest).decode()}"
    if not any(hmac.compare_digest(expected.encode(), one.encode()) for one in signatures):
        raise WebhookError("the signature is not DocProc's")
    answer: dict[str, Any] = json.loads(body)
    return answer
