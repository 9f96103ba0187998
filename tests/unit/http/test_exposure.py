"""What everybody may use listens on this machine only, unless somebody says otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from docproc.errors import ConfigurationError
from docproc.http.exposure import check_api, check_station, is_loopback, is_unencrypted
from docproc.settings import Settings


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost"])
def test_loopback_may_be_open(host: str) -> None:
    assert is_loopback(host)
    check_api(Settings.load(_env_file=None), host)
    check_station(Settings.load(_env_file=None), host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "localhost.example.org", ""])
def test_other_addresses_are_refused_with_a_remedy(host: str) -> None:
    settings = Settings.load(_env_file=None)
    with pytest.raises(ConfigurationError, match=r"API would be open.*DOCPROC_ALLOW_OPEN=true"):
        check_api(settings, host)
    with pytest.raises(ConfigurationError, match=r"review station would be open.*DOCPROC_AUTH=on"):
        check_station(settings, host)


@pytest.mark.parametrize("said", [{"allow_open": True}, {"auth": "on"}])
def test_what_opens_them(said: dict[str, Any]) -> None:
    settings = Settings.load(_env_file=None, **said)
    check_station(settings, "0.0.0.0")
    check_api(settings, "0.0.0.0")


@pytest.mark.parametrize(
    ("host", "url", "unencrypted"),
    [
        ("127.0.0.1", None, False),
        ("0.0.0.0", None, True),
        ("0.0.0.0", "http://review", True),
        ("0.0.0.0", "https://review", False),
    ],
)
def test_passwords_that_others_could_read_are_noticed(host: str, url: str | None, unencrypted: bool) -> None:
    settings = Settings.load(_env_file=None, auth="on", backoffice_url=url)
    assert is_unencrypted(settings, host) == unencrypted
    assert not is_unencrypted(settings.model_copy(update={"auth": "off"}), host)


def test_station_s_address_needs_a_scheme() -> None:
    with pytest.raises(ConfigurationError, match="DOCPROC_BACKOFFICE_URL"):
        Settings.load(_env_file=None, backoffice_url="review.example.org")
