"""Children without a network and with a limit of CPU, seen from the pool that uses them."""

from __future__ import annotations

import asyncio
import platform
import socket
import subprocess
import sys

import pytest

from docproc.engine.running.child import Limits
from docproc.engine.running.pools import Pools
from docproc.errors import ChildDiedError

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="no filter here"
)


def refused() -> list[str]:
    """Which kinds of sockets this process cannot have."""
    found = []
    for name in ("AF_INET", "AF_INET6", "AF_NETLINK", "AF_UNIX"):
        try:
            socket.socket(getattr(socket, name), socket.SOCK_DGRAM).close()
        except OSError:
            found.append(name)
    return found


def refused_below() -> str:
    """The same of a program that this process starts."""
    code = "import socket\ntry: socket.socket()\nexcept PermissionError: print('refused')"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip()


def compute() -> None:
    while True:
        pass


async def test_children_and_what_they_start_have_no_network() -> None:
    pools = Pools(workers=1)
    try:
        assert await pools.run_in_process(refused) == ["AF_INET", "AF_INET6", "AF_NETLINK"]
        assert await pools.run_in_process(refused_below) == "refused"
        assert refused() == []  # here nothing changed
    finally:
        pools.close()


async def test_network_can_be_left_to_children() -> None:
    pools = Pools(workers=1, limits=Limits(has_network=True))
    try:
        assert await pools.run_in_process(refused) == []
    finally:
        pools.close()


async def test_child_that_computes_for_ever_is_ended_and_the_next_call_has_time_again() -> None:
    pools = Pools(workers=1, limits=Limits(cpu_seconds=1))
    try:
        with pytest.raises(ChildDiedError, match="-24"):
            async with asyncio.timeout(60):
                await pools.run_in_process(compute)
        assert await pools.run_in_process(len, "abc") == 3
    finally:
        pools.close()
