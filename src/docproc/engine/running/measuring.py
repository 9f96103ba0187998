"""Who may read `/metrics`: it tells of every tenant, so with authentication on it is not for everybody."""

from __future__ import annotations

import ipaddress
import secrets

from starlette.requests import Request

from docproc.settings import Settings


class MayMeasure:
    """With authentication on: whoever is on this machine, or has the token."""

    def __init__(self, settings: Settings) -> None:
        self._is_open = settings.auth == "off"
        token = settings.metrics_token
        self._token = token.get_secret_value() if token else ""

    def __call__(self, request: Request) -> bool:
        if self._is_open or (not self._token and _is_local(request)):
            return True
        scheme, _, said = request.headers.get("authorization", "").partition(" ")
        return (
            bool(self._token)
            and scheme.lower() == "bearer"
            and secrets.compare_digest(said.strip().encode(), self._token.encode())
        )


def _is_local(request: Request) -> bool:
    try:
        return request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
