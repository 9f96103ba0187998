"""Names looked up once: what was checked is what is connected to."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from docproc.http.callbacks.addresses import is_public

# As socket.getaddrinfo answers.
LookUp = Callable[[str, int], Sequence[tuple[Any, ...]]]
# As many as are sent at once: looking up must not be the narrower place.
_THREADS = 32


class RefusedAddressError(Exception):
    """The name leads where nothing may be sent."""


def _system(host: str, port: int) -> Sequence[tuple[Any, ...]]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


class Resolver:
    """Threads of its own: a name server that hangs holds up deliveries, not the gateway's other work."""

    def __init__(self, *, allow_private: bool, look_up: LookUp = _system) -> None:
        self.allow_private = allow_private
        self.look_up = look_up
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="callback-names")

    async def addresses(self, host: str, port: int) -> list[str]:
        """All addresses of a host, as the system orders them. Raises OSError or RefusedAddressError."""
        found = await asyncio.get_running_loop().run_in_executor(self._threads, self.look_up, host, port)
        known = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        # One private address spoils the name: else it could be the one that is tried next.
        if not self.allow_private and not all(is_public(ipaddress.ip_address(one)) for one in known):
            raise RefusedAddressError("the host leads to a private address")
        if not known:
            raise OSError("the host has no address")
        return known

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
