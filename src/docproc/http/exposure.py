"""Who can reach a server: what everybody may use listens on this machine only, unless told otherwise."""

from __future__ import annotations

import ipaddress

from docproc.errors import ConfigurationError
from docproc.settings import Settings


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it. Names other than localhost may lead anywhere."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def check_api(settings: Settings, host: str) -> None:
    """Without keys the API asks nobody who they are. Raises ConfigurationError where it would be open to
    others."""
    if not (settings.auth == "on" or settings.allow_open or is_loopback(host)):
        raise ConfigurationError(
            f"the API would be open to everybody who reaches {host}",
            remedy="Set DOCPROC_AUTH=on so that clients need keys, DOCPROC_HOST=127.0.0.1 and let a proxy "
            "that knows its clients forward to it, or DOCPROC_ALLOW_OPEN=true if the network is closed",
        )


def check_station(settings: Settings, host: str) -> None:
    """The same for the review station, where people sign in if authentication is on."""
    if not (settings.auth == "on" or settings.allow_open or is_loopback(host)):
        raise ConfigurationError(
            f"the review station would be open to everybody who reaches {host}",
            remedy="Set DOCPROC_AUTH=on so that people sign in, DOCPROC_HOST=127.0.0.1 to keep it to this "
            "machine, or DOCPROC_ALLOW_OPEN=true if the network itself is closed",
        )


def is_unencrypted(settings: Settings, host: str) -> bool:
    """Whether passwords would travel to the review station so that others can read them."""
    is_https = (settings.backoffice_url or "").startswith("https://")
    return settings.auth == "on" and not is_https and not is_loopback(host)
