"""RedisPort: the service's end of the wire over Redis."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any, Self

from redis.exceptions import RedisError, ResponseError

from docproc.apps.orchestrator.services.port import LEASE_SECONDS, Taken
from docproc.apps.orchestrator.services.wire import WireError
from docproc.apps.orchestrator.services.wires import redis_protocol as protocol
from docproc.apps.orchestrator.settings import redis_address
from docproc.settings import SPECIFIED_REDIS_URL, Settings

# A read that waits longer would not notice a server that is gone.
LONGEST_WAIT_SECONDS = 2.0
# How often it is looked for what others had and do not renew any more.
CLAIM_SECONDS = 1.0
# Longer than any lease: what is given back is anybody's at once.
_GIVEN_BACK_MS = 24 * 3600 * 1000

_LOST = (RedisError, OSError, TimeoutError)


class RedisPort:
    """One process of a service, by a name that no other has."""

    def __init__(self, url: str, name: str, *, lease_seconds: float = LEASE_SECONDS) -> None:
        self.name = name
        self.lease_ms = int(lease_seconds * 1000)
        self._redis = protocol.client(url)
        self._claim_at = 0.0

    @classmethod
    def create(cls, settings: Settings, name: str) -> Self:
        return cls(redis_address(settings) or SPECIFIED_REDIS_URL, name)

    async def open(self) -> None:
        async with _told("Redis is out of reach"):
            await self._redis.ping()

    async def close(self) -> None:
        with contextlib.suppress(*_LOST):
            await self._redis.aclose()

    async def take(self, queues: Sequence[str], limit: int, wait_seconds: float) -> Sequence[Taken]:
        """What others do not renew any more, else what is new, in the order of sending.

        The group is made where it is missing, as after a flush.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + wait_seconds
        while True:
            try:
                if loop.time() >= self._claim_at:
                    if claimed := await self._claim(queues, limit):
                        return claimed
                    self._claim_at = loop.time() + CLAIM_SECONDS
                wait = min(until - loop.time(), LONGEST_WAIT_SECONDS, CLAIM_SECONDS)
                if found := await self._read(queues, limit, max(wait, 0.001)):
                    return found
            except ResponseError as error:
                if "NOGROUP" not in str(error) and "UNBLOCKED" not in str(error):
                    raise WireError(f"Redis refuses: {error}") from error
                await self._make_groups(queues)
            except _LOST as error:
                raise WireError(f"Redis is out of reach: {error}") from error
            if loop.time() >= until:
                return ()

    async def _claim(self, queues: Sequence[str], limit: int) -> list[Taken]:
        for queue in queues:
            found: Any = await self._redis.xautoclaim(
                queue, protocol.SERVICES, self.name, self.lease_ms, count=limit
            )
            if found[1]:
                return _taken(queue, found[1])
        return []

    async def _read(self, queues: Sequence[str], limit: int, seconds: float) -> list[Taken]:
        """A queue after the other where there are several: the limit is for each."""
        found: Any = await self._redis.xreadgroup(
            protocol.SERVICES,
            self.name,
            dict.fromkeys(queues, ">"),
            count=max(1, limit // len(queues)),
            block=max(1, int(seconds * 1000)),
        )
        return [one for queue, entries in protocol.streams(found) for one in _taken(queue.decode(), entries)]

    async def renew(self, taken: Sequence[Taken]) -> None:
        for queue, ids in _by_queue(taken).items():
            async with _told("Redis did not hear of it", ignoring="NOGROUP"):  # flushed: they are sent again
                await self._redis.xclaim(queue, protocol.SERVICES, self.name, 0, ids, justid=True)

    async def say(self, bodies: Sequence[bytes]) -> None:
        await self.answer(bodies, ())

    async def settle(self, taken: Sequence[Taken]) -> None:
        await self.answer((), taken)

    async def answer(self, bodies: Sequence[bytes], taken: Sequence[Taken]) -> None:
        """In one transaction: an envelope is gone from its queue if, and only if, its answer is there."""
        async with _told("Redis did not take what was said"), self._pipeline() as pipe:
            for body in bodies:
                pipe.xadd(protocol.ANSWERS, {"envelope": body})
            for queue, ids in _by_queue(taken).items():
                pipe.xack(queue, protocol.SERVICES, *ids)
                pipe.xdel(queue, *ids)
            await pipe.execute()

    async def give_back(self, taken: Sequence[Taken]) -> None:
        """As if nobody had renewed them for long."""
        for queue, ids in _by_queue(taken).items():
            async with _told("Redis did not hear of it", ignoring="NOGROUP"):
                await self._redis.xclaim(
                    queue, protocol.SERVICES, self.name, 0, ids, idle=_GIVEN_BACK_MS, justid=True
                )

    def _pipeline(self) -> Any:
        return self._redis.pipeline(transaction=True)

    async def _make_groups(self, queues: Sequence[str]) -> None:
        for queue in queues:
            async with _told("Redis refuses", ignoring="BUSYGROUP"):
                await self._redis.xgroup_create(queue, protocol.SERVICES, id="0", mkstream=True)


@contextlib.asynccontextmanager
async def _told(problem: str, ignoring: str | None = None) -> AsyncIterator[None]:
    try:
        yield
    except _LOST as error:
        if ignoring is None or ignoring not in str(error):
            raise WireError(f"{problem}: {error}") from error


def _by_queue(taken: Sequence[Taken]) -> dict[str, list[Any]]:
    ids: dict[str, list[Any]] = {}
    for one in taken:
        ids.setdefault(one.queue, []).append(one.handle)
    return ids


def _taken(queue: str, entries: Any) -> list[Taken]:
    return [Taken(queue, fields.get(b"envelope", b""), entry) for entry, fields in entries if fields]
