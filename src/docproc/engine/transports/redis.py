"""RedisTransport: copies of message rows through streams of Redis, with consumer groups."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import structlog
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError, ResponseError
from sqlalchemy.exc import SQLAlchemyError

from docproc.engine.ending import end
from docproc.engine.fair_order import AGING_EVERY
from docproc.engine.store.session import Store
from docproc.engine.transport import Copy, Delivery, QueueState, Topology, Transport, TransportContext
from docproc.engine.transports import redis_scripts as scripts
from docproc.engine.transports import redis_streams
from docproc.engine.transports.redis_audit import Audit
from docproc.engine.transports.redis_streams import Entry, Streams
from docproc.errors import DatabaseDownError, TransportError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

TIMEOUT_SECONDS = 5.0
# Of one process; whoever finds none free waits for one.
CONNECTIONS = 16
# A consumer that has not been heard of for so long is dead: what it was given goes to others.
BEAT_SECONDS = 1.0
STALE_SECONDS = 4.0
# How long an idle consumer trusts in news before it looks by itself.
IDLE_SECONDS = 1.0
FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 1.0
# Redis does nothing else during a script: so many copies or acknowledgements at once, and no more.
CHUNK = 500
CHUNK_BYTES = 4 << 20

_LOST = (RedisError, OSError, TimeoutError)


@dataclass(slots=True, eq=False)
class Hand:
    """What one iterator of `consume` has given out and nobody settled yet."""

    open: set[Entry] = field(default_factory=set)
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class RedisTransport(Transport):
    """Each entry is delivered to one worker and stays in its stream until it is acknowledged.

    A worker that is not heard of for four seconds loses its entries to others. Redis may forget everything:
    the rows say what is to be done, and copies that are missing are published again.
    """

    has_broker = True

    def __init__(
        self,
        url: str,
        topology: Topology,
        store: Store,
        worker_id: str,
        *,
        ttl_ms: int,
        aging_seconds: float = 60.0,
    ) -> None:
        self.topology = topology
        self.consumer = f"{worker_id}-{secrets.token_hex(2)}"
        self.streams = Streams(topology.streams, ttl_ms)
        self._aging_ms = int(aging_seconds * 1000)
        # By queue: how many were taken since what waits longest had its turn.
        self._since_aged: Counter[str] = Counter()
        self._redis = _client(url)
        self._digests: dict[str, str] = {}
        self._audit = Audit(store, self._run)
        self._up = asyncio.Event()
        self._listens = False
        self._stopped = asyncio.Event()
        self._is_closing = False
        self._tasks: list[asyncio.Task[None]] = []
        # Have the keeper look now, not in a second.
        self._look_now = asyncio.Event()
        self._news: dict[str, asyncio.Event] = {}
        self._hands: set[Hand] = set()
        # Settled, and Redis does not know yet.
        self._settled: set[Entry] = set()
        self._acknowledging: asyncio.Task[None] | None = None
        # A reply got lost: entries may count as delivered to us that we know nothing of.
        self._is_doubtful = False
        self._epoch: bytes | None = None
        self._lost_queues: dict[str, float] = {}
        self._refused_until = 0.0

    @classmethod
    def create(cls, context: TransportContext) -> Self:
        settings = context.settings
        return cls(
            settings.effective_redis_url,
            context.topology,
            context.store,
            context.worker_id,
            ttl_ms=settings.message_ttl_ms,
            aging_seconds=settings.aging_seconds,
        )

    @property
    def is_connected(self) -> bool:
        return self._up.is_set() and self._listens

    @property
    def can_publish(self) -> bool:
        """Redis has not just said that it takes nothing (no memory, or a replica)."""
        return self._up.is_set() and time.monotonic() >= self._refused_until

    def take_lost_queues(self) -> dict[str, float]:
        lost, self._lost_queues = self._lost_queues, {}
        return lost

    # --- connection -----------------------------------------------------------------------------------

    async def open(self) -> None:
        try:
            await self._beat()
        except _LOST as error:
            raise TransportError(
                f"Redis is out of reach: {error}", remedy="Check DOCPROC_REDIS_URL and the server"
            ) from error
        self._up.set()
        listening = asyncio.Event()
        self._tasks = [
            asyncio.create_task(self._keep_alive(), name="redis"),
            asyncio.create_task(self._listen(listening), name="redis news"),
            asyncio.create_task(self._keep_complete(), name="redis audit"),
        ]
        await _wait(listening, TIMEOUT_SECONDS)

    async def close(self) -> None:
        self.stop()
        self._is_closing = True
        await end(list(self._tasks))
        with contextlib.suppress(*_LOST):
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await self._acknowledge()
                await self._run(scripts.LEAVE, self.consumer)
        self._up.clear()
        with contextlib.suppress(*_LOST):
            await self._redis.aclose()

    def stop(self) -> None:
        self._stopped.set()
        self._wake_all()

    async def _keep_alive(self) -> None:
        """Say "alive", and look whether Redis is still the one it was."""
        pause = FIRST_PAUSE_SECONDS
        while not self._is_closing:
            self._look_now.clear()
            try:
                await self._beat()
                if not self._up.is_set():
                    log.info("redis_connected")
                    self._up.set()
                    self._wake_all()
                pause = FIRST_PAUSE_SECONDS
            except _LOST as error:
                self._lose(error)
                # Those that lie idle were lost with it: each would fail whoever takes it next.
                await self._redis.connection_pool.disconnect(inuse_connections=False)
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
                continue
            await _wait(self._look_now, BEAT_SECONDS)

    async def _beat(self) -> None:
        name = secrets.token_hex(8)
        epoch, now, is_new = await self._run(
            scripts.BEAT, self.consumer, int(STALE_SECONDS * 1000), name, *self._news
        )
        if self._is_doubtful:
            await self._give_back_unknown()
        if self._settled:
            await self._acknowledge()
        if is_new or self._epoch not in (None, epoch):
            # Everything that was sent before the epoch began is gone, whoever noticed first.
            age = (int(now) - int(epoch.rpartition(b":")[2])) / 1000
            seen_at = time.monotonic() - age
            self._lost_queues.update(dict.fromkeys(self.topology.bindings, seen_at))
            self._wake_all()
        self._epoch = epoch

    async def _keep_complete(self) -> None:
        """Have copies published again that got lost in Redis.

        In a task of its own: the database may keep it waiting, and a consumer that says nothing for so long
        would lose its entries to others.
        """
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            if not self._up.is_set() or not self._audit.is_due:
                continue
            try:
                # One of all processes: what it finds is everybody's.
                if await self._redis.set(scripts.AUDITOR, self.consumer, nx=True, px=int(BEAT_SECONDS * 900)):
                    await self._audit.look()
            except (SQLAlchemyError, DatabaseDownError) as error:
                log.warning("audit_waits", error=text_for_logs(error))
            except _LOST as error:
                self._lose(error)

    def _lose(self, error: BaseException) -> None:
        if self._up.is_set():
            self._up.clear()
            log.warning("redis_reconnecting", error=text_for_logs(error))
        self._look_now.set()

    async def _listen(self, listening: asyncio.Event) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                async with self._redis.pubsub(ignore_subscribe_messages=True) as news:
                    await news.subscribe(scripts.NEWS)
                    self._listens = True
                    listening.set()
                    self._wake_all()  # whatever was said before
                    pause = FIRST_PAUSE_SECONDS
                    while True:
                        told = await news.get_message(timeout=TIMEOUT_SECONDS)
                        if told is not None:
                            self._woken(told["data"].decode())
            except _LOST as error:
                self._listens = False
                self._lose(error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def _run(self, script: str, *arguments: str | bytes | int) -> Any:
        """A script by its digest; told in full where Redis does not know it (it was started anew)."""
        digest = self._digests.setdefault(script, hashlib.sha1(script.encode()).hexdigest())
        try:
            return await self._redis.evalsha(digest, 0, *arguments)
        except NoScriptError:
            return await self._redis.eval(script, 0, *arguments)

    # --- publishing -----------------------------------------------------------------------------------

    async def publish(self, copies: Sequence[Copy]) -> None:
        if not self.can_publish:
            raise TransportError("Redis takes nothing now", remedy="It is published when it does")
        for chunk in _chunks(copies):
            try:
                epoch = await self._run(scripts.PUBLISH, *self.streams.arguments(chunk))
            except ResponseError as error:
                # No memory, a replica, a full disk: not gone, and not to be asked again at once.
                self._refused_until = time.monotonic() + LONGEST_PAUSE_SECONDS
                raise TransportError(f"Redis did not take copies: {error}") from error
            except _LOST as error:
                self._lose(error)
                raise TransportError(f"Redis did not take copies in time: {error}") from error
            self._saw(epoch)

    async def look(self, queue: str) -> QueueState | None:
        try:
            waiting, consumers = await self._run(scripts.LOOK, queue)
        except _LOST:
            return None
        return QueueState(max(0, waiting), consumers)

    def _saw(self, epoch: bytes | None) -> None:
        if epoch != self._epoch:
            self._look_now.set()

    # --- consuming ------------------------------------------------------------------------------------

    async def consume(self, queue: str, *, batch: int, slots: int) -> AsyncIterator[list[Delivery]]:
        if queue not in self._news:
            self._news[queue] = asyncio.Event()
            self._look_now.set()  # so that others know who consumes it
        news = self._news[queue]
        hand = Hand()
        self._hands.add(hand)
        try:
            while not self._stopped.is_set():
                hand.changed.clear()
                number = min(batch, batch * slots - len(hand.open))
                if number <= 0:
                    await _wait(hand.changed, IDLE_SECONDS)
                    continue
                news.clear()  # before looking: what comes while looking is news again
                taken = await self._take(queue, number)
                if taken:
                    hand.open.update(_entry(one) for one in taken)
                    yield taken
                if len(taken) < number and not self._stopped.is_set():
                    await _wait(news, IDLE_SECONDS)
        finally:
            self._hands.discard(hand)
            if hand.open and not self._stopped.is_set():
                with contextlib.suppress(*_LOST):
                    await self._give_back(hand.open)

    async def _take(self, queue: str, number: int) -> list[Delivery]:
        if not self._up.is_set():
            return []
        aged = self._aged_turns(queue, number)
        try:
            epoch, *taken = await self._run(scripts.TAKE, queue, self.consumer, number, aged, self._aging_ms)
        except _LOST as error:
            self._is_doubtful = True
            if isinstance(error, ResponseError):
                log.warning("redis_refuses", queue=queue, error=text_for_logs(error))
            else:
                self._lose(error)
            return []
        self._saw(epoch)
        self._since_aged[queue] = len(taken) + (0 if aged else self._since_aged[queue])
        return [redis_streams.delivery(queue, one) for one in taken]

    def _aged_turns(self, queue: str, number: int) -> int:
        """How many of so many entries may be of a lower band, as in the fair order of other transports.

        With several tenants rows are released in fair order; with one everything lies in Redis at once.
        """
        return max(number // AGING_EVERY, 1 if self._since_aged[queue] >= AGING_EVERY else 0)

    async def settle(self, deliveries: Sequence[Delivery]) -> None:
        """Redis is told a moment later, together with others: nobody has to wait for that."""
        entries = {_entry(delivery) for delivery in deliveries}
        self._settled |= entries
        for hand in self._hands:
            if not hand.open.isdisjoint(entries):
                hand.open -= entries
                hand.changed.set()
        if self._acknowledging is None or self._acknowledging.done():
            self._acknowledging = asyncio.create_task(self._acknowledge_quietly())

    async def _acknowledge_quietly(self) -> None:
        try:
            await self._acknowledge()
        except _LOST as error:
            self._lose(error)  # told again when it is back

    async def _acknowledge(self) -> None:
        while self._settled:
            entries = set(list(self._settled)[:CHUNK])
            await self._run(scripts.ACKNOWLEDGE, *_by_stream(entries))
            self._settled -= entries

    async def _give_back(self, entries: Iterable[Entry]) -> None:
        left = list(entries)
        for at in range(0, len(left), CHUNK):
            await self._run(scripts.GIVE_BACK, *_by_stream(left[at : at + CHUNK]))

    async def _give_back_unknown(self) -> None:
        """Entries that were delivered to this consumer in a reply that never came."""
        self._is_doubtful = False
        try:
            held = {Entry(*one) for one in await self._run(scripts.HELD, self.consumer)}
            known = self._settled.union(*(hand.open for hand in self._hands))
            await self._give_back(held - known)
        except _LOST:
            self._is_doubtful = True
            raise

    # --- news -----------------------------------------------------------------------------------------

    def wake(self, queues: Iterable[str]) -> None:
        for queue in queues:
            self._woken(queue)

    def _woken(self, queue: str) -> None:
        if queue in self._news:
            self._news[queue].set()

    def _wake_all(self) -> None:
        for news in self._news.values():
            news.set()
        for hand in self._hands:
            hand.changed.set()


def _client(url: str) -> Redis:
    """Without the library's own retries: whoever calls knows better what to do then."""
    pool: BlockingConnectionPool = BlockingConnectionPool.from_url(
        url,
        max_connections=CONNECTIONS,
        timeout=TIMEOUT_SECONDS,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        socket_keepalive=True,
        health_check_interval=int(TIMEOUT_SECONDS),
        retry=Retry(NoBackoff(), 0),
    )
    return Redis.from_pool(pool)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Not by `wait_for`: in Python 3.11 it swallows a cancellation that comes together with the event."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def _entry(delivery: Delivery) -> Entry:
    assert isinstance(delivery.handle, Entry)
    return delivery.handle


def _by_stream(entries: Iterable[Entry]) -> list[str | bytes | int]:
    ids: dict[bytes, list[bytes]] = {}
    for entry in entries:
        ids.setdefault(entry.stream, []).append(entry.id)
    arguments: list[str | bytes | int] = []
    for stream, found in ids.items():
        arguments += (stream, len(found), *found)
    return arguments


def _chunks(copies: Sequence[Copy]) -> Iterable[list[Copy]]:
    chunk: list[Copy] = []
    size = 0
    for copy in copies:
        if chunk and (len(chunk) == CHUNK or size + len(copy.body) > CHUNK_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(copy)
        size += len(copy.body)
    if chunk:
        yield chunk
