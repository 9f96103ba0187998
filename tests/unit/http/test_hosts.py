"""By which names a server is reached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from docproc.errors import ConfigurationError
from docproc.http.hosts import KnownHosts
from tests.harness import settings_for


async def nothing(*_: Any) -> None: ...


@pytest.mark.parametrize(
    ("listens", "settings", "known", "unknown"),
    [
        (
            "127.0.0.1",
            {},
            ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LOCALHOST", "localhost.", "[::1]:8000", "[::1]"],
            [
                "",
                "evil.example",
                "localhost.evil.example",
                "10.0.0.1",
                "10.0.0.1:80",
                "127.0.0.1:80:80",
                "::",
            ],
        ),
        ("0.0.0.0", {}, ["10.0.0.1:8000", "[2001:db8::1]:8000", "localhost"], ["api:8000", "evil.example"]),
        ("api.lan", {"host": "api.lan"}, ["api.lan:8000", "API.LAN"], ["x.api.lan", "lan"]),
        (
            "127.0.0.1",
            {"backoffice_url": "https://review.example:8443", "allowed_hosts": "api, docs.example"},
            ["review.example", "api:8000", "docs.example"],
            ["example", "evil.example"],
        ),
    ],
)
def test_only_names_of_this_server_are_known(
    tmp_path: Path, listens: str, settings: dict[str, str], known: list[str], unknown: list[str]
) -> None:
    hosts = KnownHosts.on(nothing, settings_for(tmp_path, **settings), listens)
    assert [host for host in known if not hosts.is_known(host)] == []
    assert [host for host in unknown if hosts.is_known(host)] == []


def test_proxy_is_named_by_its_address(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="DOCPROC_TRUSTED_PROXIES"):
        settings_for(tmp_path, trusted_proxies="*")
