"""Who may read /metrics."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.requests import Request

from docproc.engine.running.measuring import MayMeasure
from docproc.settings import Settings

TOKEN = "a token of the scraper"


def asked(address: str, authorization: str = "") -> Request:
    headers = [(b"authorization", authorization.encode())] if authorization else []
    return Request({"type": "http", "client": (address, 1), "headers": headers})


@pytest.mark.parametrize(
    ("said", "address", "authorization", "may"),
    [
        ({}, "192.0.2.1", "", True),
        ({"auth": "on"}, "127.0.0.1", "", True),
        ({"auth": "on"}, "::1", "", True),
        ({"auth": "on"}, "192.0.2.1", "", False),
        ({"auth": "on"}, "192.0.2.1", "Bearer ", False),
        ({"auth": "on", "metrics_token": TOKEN}, "192.0.2.1", f"Bearer {TOKEN}", True),
        ({"auth": "on", "metrics_token": TOKEN}, "192.0.2.1", f"Basic {TOKEN}", False),
        ({"auth": "on", "metrics_token": TOKEN}, "192.0.2.1", "Bearer no", False),
        # A proxy on this machine speaks for others.
        ({"auth": "on", "metrics_token": TOKEN}, "127.0.0.1", "", False),
    ],
)
def test_with_authentication_on_only_this_machine_or_the_token(
    said: dict[str, Any], address: str, authorization: str, may: bool
) -> None:
    assert MayMeasure(Settings.load(_env_file=None, **said))(asked(address, authorization)) is may
