"""Where answers may be sent, and where not."""

from __future__ import annotations

import ipaddress

import pytest

from docproc.errors import CallbackError
from docproc.http.callbacks.addresses import LONGEST_URL, checked_url, is_public, origin_of


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://example.com/answers?key=1", "https://example.com/answers?key=1"),
        ("HTTP://Example.COM:8080/A", "http://example.com:8080/A"),
        ("https://example.com", "https://example.com"),
        ("https://8.8.8.8/x", "https://8.8.8.8/x"),
        ("https://[2606:4700::1111]/x", "https://[2606:4700::1111]/x"),
        ("https://xn--bcher-kva.example/x", "https://xn--bcher-kva.example/x"),
    ],
)
def test_public_web_addresses_are_taken(url: str, kept: str) -> None:
    assert checked_url(url, allow_private=False) == kept
    assert checked_url(kept, allow_private=False) == kept


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://example.com/x", "http or https"),
        ("file:///etc/passwd", "http or https"),
        ("example.com/x", "http or https"),
        ("https:///x", "http or https"),
        ("javascript:alert(1)", "http or https"),
        ("https://user:secret@example.com/", "user or password"),
        ("https://user@example.com/", "user or password"),
        ("https://example.com/" + "x" * LONGEST_URL, "longer"),
        ("https://example.com/a b", "spaces"),
        ("https://example.com\\@evil.example/", "backslashes"),
        ("https://bücher.example/", "ASCII"),
        ("https://example.com:0/", "port"),
        ("https://example.com:99999/", "port"),
        ("https://example.com:web/", "cannot be read"),
        ("https://exa%20mple.com/", "host"),
        ("https://[::1/", "cannot be read"),
        ("https://xn--a/", "cannot be read"),
    ],
)
def test_what_is_no_usable_web_address_is_refused_with_a_remedy(url: str, problem: str) -> None:
    with pytest.raises(CallbackError, match=problem) as caught:
        checked_url(url, allow_private=True)
    assert caught.value.remedy
    assert "secret" not in str(caught.value)


PRIVATE = [
    "http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/", "http://0/",
    "http://0.0.0.0/", "http://10.1.2.3/", "http://172.16.0.1/", "http://192.168.1.1/", "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data", "http://224.0.0.1/", "http://255.255.255.255/",
    "http://[::1]/", "http://[::]/", "http://[fe80::1]/", "http://[fd00:ec2::254]/", "http://[fec0::1]/",
    "http://[ff02::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:a9fe:a9fe]/",
    "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
    "http://localhost/", "http://LOCALHOST./", "http://api.localhost/",
]  # fmt: skip


@pytest.mark.parametrize("url", PRIVATE)
def test_private_addresses_are_refused_in_every_spelling_unless_allowed(url: str) -> None:
    with pytest.raises(CallbackError, match="private") as caught:
        checked_url(url, allow_private=False)
    assert "DOCPROC_CALLBACK_ALLOW_PRIVATE" in caught.value.remedy
    assert checked_url(url, allow_private=True)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://a.example/x?y=1", "https://a.example"),
        ("https://a.example:8443?y=/1", "https://a.example:8443"),
        ("https://a.example#f", "https://a.example"),
        ("http://[::1]:80/", "http://[::1]:80"),
    ],
)
def test_receivers_are_told_apart_by_scheme_host_and_port(url: str, origin: str) -> None:
    assert origin_of(url) == origin
