"""Where answers may be sent: web addresses of the public internet, unless private ones are allowed."""

from __future__ import annotations

import ipaddress
import re
import socket
from ipaddress import IPv4Address, IPv6Address

import httpx

from docproc.errors import CallbackError

LONGEST_URL = 2048
# How addresses begin that answers are posted to. Others are those of doors (docproc.doors): a folder, say.
WEB = ("http://", "https://")
_SHAPE = "Write it as https://host/path"
# Translates IPv4 addresses into IPv6 ones: what is behind it counts.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Address = IPv4Address | IPv6Address


def checked_url(
    url: str,
    *,
    allow_private: bool,
    what: str = "callback_url",
    allow: str = "DOCPROC_CALLBACK_ALLOW_PRIVATE",
) -> str:
    """The address as it is kept, scheme and host in lower case. Raises CallbackError, saying what is wrong.

    A name is only looked up when something is sent: what it means by then is what counts. `what` is how the
    client calls the address, `allow` the setting that lets private ones be named.
    """
    if len(url) > LONGEST_URL:
        raise CallbackError(f"{what} is longer than {LONGEST_URL} characters", remedy="Shorten it")
    parsed = _parsed(url, what)
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise CallbackError(f"{what} is no http or https address", remedy=_SHAPE)
    if parsed.userinfo:
        raise CallbackError(
            f"{what} contains a user or password",
            remedy="Leave them out: deliveries are signed, so check the signature instead",
        )
    if not allow_private and is_private_by_itself(host_of(parsed)):
        remedy = f"Name a public address, or have {allow} set to true"
        raise CallbackError(f"{what} is a private address", remedy=remedy)
    return str(parsed)


def _parsed(url: str, what: str) -> httpx.URL:
    """By the parser of what sends: a second one could find another host in the same text."""
    if any(not "!" <= character <= "~" for character in url) or "\\" in url:
        raise CallbackError(
            f"{what} contains spaces, backslashes or characters that are not ASCII",
            remedy="Encode them as %20 and the like, and names of hosts as xn--…",
        )
    try:
        parsed = httpx.URL(url)
        host = parsed.host  # decoded only now
    except (httpx.InvalidURL, ValueError) as error:
        raise CallbackError(f"{what} cannot be read: {error}", remedy=_SHAPE) from error
    if "%" in host or (parsed.port is not None and not 0 < parsed.port < 65536):
        raise CallbackError(f"{what} names a host or port that cannot exist", remedy=_SHAPE)
    return parsed


def host_of(url: httpx.URL) -> str:
    """The host as it is looked up, and as its certificate names it."""
    return url.raw_host.decode("ascii").rstrip(".").lower()


def origin_of(url: str) -> str:
    """Who receives: scheme, host and port, as `checked_url` writes them."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{re.split('[/?#]', rest, maxsplit=1)[0]}"


def is_private_by_itself(host: str) -> bool:
    """Whether nobody has to be asked to know: an address as such, in any spelling, or `localhost`."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    literal = _literal(host)
    return literal is not None and not is_public(literal)


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:  # 127.1, 2130706433 and 0x7f.0.0.1 are addresses, too
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def is_public(address: Address) -> bool:
    """Whether it is somebody's on the internet, seen through every way to write an IPv4 address as IPv6."""
    if isinstance(address, IPv6Address):
        inner = _inside(address)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    special = address.is_multicast or address.is_reserved or address.is_unspecified or address.is_loopback
    return address.is_global and not special


def _inside(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)
