"""RedisWire: envelopes to services through streams of Redis, and their answers back."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self
from uuid import UUID

import structlog
from redis.exceptions import RedisError, ResponseError

from docproc.apps.orchestrator.services.port import LEASE_SECONDS
from docproc.apps.orchestrator.services.wire import Incoming, Outgoing, WireContext, WireError
from docproc.apps.orchestrator.services.wires import redis_protocol as protocol
from docproc.apps.orchestrator.services.wires.redis_port import RedisPort
from docproc.apps.orchestrator.settings import redis_address
from docproc.harmless import text_for_logs
from docproc.settings import SPECIFIED_REDIS_URL

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

log = structlog.get_logger(__name__)

__all__ = ["RedisPort", "RedisWire"]

# In one transaction: whoever else has something to do in this process waits for it.
BATCH = 40
# How long a read waits for answers; between two of them it is looked whether Redis is still the one it was.
WAIT_SECONDS = 1.0
FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 1.0
# Who closes the wire waits so long for what is being taken back.
WITHDRAW_SECONDS = 1.0
# Redis does nothing else during a script.
CHUNK = 200
# Readers of answers that ended so long ago, and left nothing behind, are forgotten.
FORGET_SECONDS = 3600

_LOST = (RedisError, OSError, TimeoutError)


class RedisWire:
    """Sending twice is harmless: an envelope that is still in its queue, or in work, is not added again."""

    is_table: ClassVar[bool] = False

    def __init__(self, url: str, worker_id: str, *, lease_seconds: float = LEASE_SECONDS) -> None:
        """`lease_seconds`: how long services keep what they took without a word."""
        self.consumer = worker_id
        self.lease_seconds = lease_seconds
        self._redis = protocol.client(url)
        # Not the same connections: a read waits.
        self._reader = protocol.client(url)
        self._scripts = {text: self._redis.register_script(text) for text in _SCRIPTS}
        self._closed = False
        self._epoch: bytes | None = None
        self._loss: float | None = None
        # When to look again whether Redis is the one it was, and for answers that others left.
        self._look_at = 0.0
        self._withdrawing: set[asyncio.Task[None]] = set()

    @classmethod
    def create(cls, context: WireContext) -> Self:
        return cls(redis_address(context.settings) or SPECIFIED_REDIS_URL, context.worker_id)

    async def open(self) -> None:
        try:
            await self._make_group()
            await self._look()
            await self._forget_old_readers()
        except _LOST as error:
            raise WireError(
                f"Redis is out of reach: {error}",
                remedy="Check DOCPROC_ORCHESTRATOR_REDIS_URL or DOCPROC_REDIS_URL, and the server",
            ) from error

    async def close(self) -> None:
        """What was read and not settled is read by another orchestrator four seconds later."""
        self._closed = True
        if self._withdrawing:
            await asyncio.wait(self._withdrawing, timeout=WITHDRAW_SECONDS)
        for task in self._withdrawing:
            task.cancel()
        await asyncio.gather(*self._withdrawing, return_exceptions=True)
        for one in (self._redis, self._reader):
            with contextlib.suppress(*_LOST):
                await one.aclose()

    # --- to services ----------------------------------------------------------------------------------

    async def write(self, session: AsyncSession, outgoing: Sequence[Outgoing]) -> None:
        """The rows of the calls say all."""

    async def publish(self, outgoing: Sequence[Outgoing]) -> None:
        lease, lifetime = int(self.lease_seconds * 1000), protocol.QUEUE_SECONDS * 1000
        for at in range(0, len(outgoing), CHUNK):
            arguments: list[Any] = [lease, lifetime]
            for one in outgoing[at : at + CHUNK]:
                expires = int(one.expires_at.timestamp() * 1000)
                arguments += (one.queue, str(one.call_id), one.fencing, expires, one.body)
            try:
                await self._scripts[protocol.SEND](args=arguments)
            except _LOST as error:
                raise WireError(f"Redis did not take envelopes: {error}") from error

    async def withdraw(self, session: AsyncSession, outgoing: Sequence[Outgoing]) -> None:
        """Nobody waits for it, least of all the transaction: an envelope that stays is expired or fenced."""
        task = asyncio.create_task(self._withdraw([(one.call_id, one.fencing) for one in outgoing]))
        self._withdrawing.add(task)
        task.add_done_callback(self._withdrawing.discard)

    async def _withdraw(self, calls: Sequence[tuple[UUID, int]]) -> None:
        with contextlib.suppress(*_LOST):
            for at in range(0, len(calls), CHUNK):
                chunk = calls[at : at + CHUNK]
                arguments: list[Any] = [part for call, fencing in chunk for part in (str(call), fencing)]
                await self._scripts[protocol.WITHDRAW](args=arguments)

    async def depth(self, queue: str) -> int:
        """How many envelopes of a queue are not answered; raises WireError."""
        try:
            return int(await self._redis.xlen(queue))
        except _LOST as error:
            raise WireError(f"Redis did not say how long {queue} is: {error}") from error

    # --- from services --------------------------------------------------------------------------------

    async def answers(self) -> AsyncIterator[Sequence[Incoming]]:
        pause = FIRST_PAUSE_SECONDS
        while not self._closed:
            try:
                found = await self._read()
                pause = FIRST_PAUSE_SECONDS
            except _LOST as error:
                if self._closed:
                    return
                self._look_at = 0.0
                if isinstance(error, ResponseError) and "NOGROUP" in str(error):
                    # Flushed. Whatever lay there may be lost, and is asked for again.
                    with contextlib.suppress(*_LOST):
                        await self._make_group()
                        await self._look()
                    continue
                log.warning("wire_reconnecting", error=text_for_logs(error))
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
                # It may have come back without its latest writes: sending again what is there adds nothing.
                self._loss = time.monotonic()
                continue
            if found:
                yield found

    async def _read(self) -> list[Incoming]:
        """New answers, and those that an orchestrator has had for too long: it is gone, or cannot write."""
        if time.monotonic() >= self._look_at:
            await self._look()
            idle = int(protocol.ANSWER_LEASE_SECONDS * 1000)
            _, claimed, *_ = await self._reader.xautoclaim(
                protocol.ANSWERS, protocol.ORCHESTRATORS, self.consumer, idle, count=BATCH
            )
            if claimed:
                return _incoming(claimed)
            self._look_at = time.monotonic() + WAIT_SECONDS
        found: Any = await self._reader.xreadgroup(
            protocol.ORCHESTRATORS,
            self.consumer,
            {protocol.ANSWERS: ">"},
            count=BATCH,
            block=int(WAIT_SECONDS * 1000),
        )
        return [one for _, entries in protocol.streams(found) for one in _incoming(entries)]

    async def settle(self, incoming: Sequence[Incoming]) -> None:
        ids: list[Any] = [one.handle for one in incoming]
        if not ids:
            return
        with contextlib.suppress(*_LOST):  # delivered again, and without effect then
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.xack(protocol.ANSWERS, protocol.ORCHESTRATORS, *ids)
                pipe.xdel(protocol.ANSWERS, *ids)
                await pipe.execute()

    # --- losses ---------------------------------------------------------------------------------------

    def take_loss(self) -> float | None:
        loss, self._loss = self._loss, None
        return loss

    async def _look(self) -> None:
        epoch, age = await self._scripts[protocol.LOOK](args=[secrets.token_hex(8)])
        if epoch != self._epoch:
            # At the first look, too: who flushed it before this process began was perhaps seen by nobody.
            self._loss = time.monotonic() - int(age) / 1000
        self._epoch = epoch

    async def _make_group(self) -> None:
        try:
            await self._redis.xgroup_create(protocol.ANSWERS, protocol.ORCHESTRATORS, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    async def _forget_old_readers(self) -> None:
        readers: Any = await self._redis.xinfo_consumers(protocol.ANSWERS, protocol.ORCHESTRATORS)
        for one in readers:
            if not one["pending"] and one["idle"] > FORGET_SECONDS * 1000:
                await self._redis.xgroup_delconsumer(protocol.ANSWERS, protocol.ORCHESTRATORS, one["name"])


_SCRIPTS = (protocol.SEND, protocol.WITHDRAW, protocol.LOOK)


def _incoming(entries: Any) -> list[Incoming]:
    return [Incoming(fields.get(b"envelope", b""), entry_id) for entry_id, fields in entries if fields]
