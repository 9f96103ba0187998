"""How often sign-in may be tried: a few times at once, then after waits that grow."""

from __future__ import annotations

import ipaddress
import math
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store.session import Store
from docproc.people.store import sign_ins

# Failures without a wait. An address may be an office of many, a name is one person.
FREE_OF_NAME, FREE_OF_ADDRESS = 4, 19
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 15.0, 900.0
FORGET = timedelta(hours=1)


class TooManyAttempts(Exception):
    """Not looked at: the name or the address must wait."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"wait {seconds} s")
        self.seconds = seconds


def wait_seconds(failures: int, free: int) -> float:
    """After so many failures: nothing at first, then twice as long each time."""
    if failures <= free:
        return 0.0
    doublings = min(failures - free - 1, 20)  # beyond it the longest wait counts anyway
    return min(FIRST_WAIT_SECONDS * 2.0**doublings, LONGEST_WAIT_SECONDS)


def name_key(name: str) -> str:
    return f"name:{name.casefold()}"[:160]


def address_key(address: str) -> str:
    """Of IPv6 the network: whoever has one address has all of it."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return f"address:{address}"[:160]
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return f"address:{ipaddress.ip_network((found, 64), strict=False)}"
    return f"address:{getattr(found, 'ipv4_mapped', None) or found}"


async def take(store: Store, name: str, address: str, now: datetime) -> bool:
    """Count an attempt before it is looked at, so that many at once gain nothing.

    True when this one, if it fails, makes the next wait. Raises TooManyAttempts; then nothing is counted.
    """
    waits = False
    async with store.writing() as session:
        # Addresses before names, everywhere: two attempts never wait for each other.
        for key, free in ((address_key(address), FREE_OF_ADDRESS), (name_key(name), FREE_OF_NAME)):
            wait_of = partial(wait_seconds, free=free)
            failures = await sign_ins.count_attempt(session, key, now, FORGET, wait_of)
            if failures is None:
                until = await sign_ins.blocked_until(session, key) or now
                raise TooManyAttempts(max(1, math.ceil((until - now).total_seconds())))
            waits = waits or failures > free
        await sign_ins.forget_failures(session, now, FORGET)
    return waits


async def give_back(session: AsyncSession, name: str, address: str, now: datetime) -> None:
    """The attempt was right: the name starts anew, the address only gets this one back."""
    await sign_ins.take_back(session, address_key(address), now - FORGET, FREE_OF_ADDRESS)
    await sign_ins.forgive(session, name_key(name))
