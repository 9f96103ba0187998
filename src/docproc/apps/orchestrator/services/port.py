"""The contract of a port: the service's end of a wire, for the SDK and for services that come over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Taken:
    """An envelope that this process works on, until it is settled or the process is gone."""

    queue: str
    body: bytes
    # Whatever the port needs to renew and settle it.
    handle: object = None


class ServicePort(Protocol):
    """One per service process. An envelope is given to one process at a time, and to another when that one
    has not renewed it for `LEASE_SECONDS`: so it may come twice, and its fencing number tells them apart."""

    async def open(self) -> None:
        """Connect. Raises WireError when out of reach."""

    async def close(self) -> None:
        """Disconnect; what was not settled is given to others."""

    async def take(self, queues: Sequence[str], limit: int, wait_seconds: float) -> Sequence[Taken]:
        """Envelopes of these queues, the most urgent first; none when nothing came in time."""

    async def renew(self, taken: Sequence[Taken]) -> None:
        """This process still works on them; to be said more often than every `LEASE_SECONDS`."""

    async def say(self, bodies: Sequence[bytes]) -> None:
        """Bring these envelopes (progress, tool requests, answers) to the orchestrator. When it returns, they
        are kept. Raises WireError."""

    async def settle(self, taken: Sequence[Taken]) -> None:
        """Their answers were brought: nobody else needs to work on them."""

    async def answer(self, bodies: Sequence[bytes], taken: Sequence[Taken]) -> None:
        """`say` the answers, then `settle` the envelopes that they answer; together where the wire can."""

    async def give_back(self, taken: Sequence[Taken]) -> None:
        """They were not begun, or not finished: let any process have them at once."""


# How long a process that says nothing keeps what it took.
LEASE_SECONDS = 15.0
