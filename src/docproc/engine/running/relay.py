"""Relay: brings committed rows to a broker, now or when they are due, and again when copies got lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import structlog
from sqlalchemy.exc import DBAPIError

from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.running.releasing import Releasing
from docproc.engine.running.sending import copy_of
from docproc.engine.store import messages, rows
from docproc.engine.store.session import Store, is_passing
from docproc.engine.store.tables import DeadLetter
from docproc.engine.transport import DEAD_LETTER_QUEUE, Copy, Delivery, Topology, Transport
from docproc.errors import MessageError, TransportError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

BATCH = 500
# Looked at when nothing woke the relay: what other processes' crashes left behind.
IDLE_SECONDS = 1.0
# Between two releases, at the least.
RELEASE_PAUSE_SECONDS = 0.005
# How long somebody who waits for an answer waits for a broker's confirmation, too.
PATIENCE_SECONDS = 1.0
# How far this machine's clock may be from the database's, where times of both are compared.
CLOCK_SECONDS = 2.0


class Relay:
    """One per process. Without a broker it only wakes the consumers; with one it also looks after copies."""

    def __init__(
        self,
        transport: Transport,
        store: Store,
        topology: Topology,
        worker_id: str,
        ttl: float,
        releasing: Releasing,
    ) -> None:
        self.transport = transport
        self.releasing = releasing
        releasing.nudge = self._wake_up
        # When delayed messages are to be looked at.
        self._delays_at = 0.0
        self.store = store
        self.topology = topology
        self.worker_id = worker_id
        self.ttl = ttl
        self._unpublished: set[UUID] = set()
        # Publishing that nobody waits for any more.
        self._under_way: set[asyncio.Task[None]] = set()
        # Queues that the broker had forgotten: their copies have to be published again.
        self._lost_queues: dict[str, float] = {}
        # Since when a commit may have gone through without its confirmation.
        self._doubtful_since: float | None = None
        self._wake = asyncio.Event()

    async def publish(self, copies: Sequence[Copy]) -> None:
        """Called after the commit. A broker out of reach costs time only: the rows are published later."""
        if not copies:
            return
        try:
            await self.transport.publish(copies)
        except TransportError as error:
            log.warning("publish_postponed", messages=len(copies), error=text_for_logs(error))
            self._unpublished.update(copy.message_id for copy in copies)
            self._wake.set()
        except asyncio.CancelledError:
            self._unpublished.update(copy.message_id for copy in copies)
            raise

    async def hand_over(self, copies: Sequence[Copy]) -> None:
        """As `publish`, for callers whom somebody waits for: a slow broker does not hold them up.

        The rows are committed, and this process vouches for their copies; what takes longer goes on alone.
        """
        if not copies:
            return
        publishing = asyncio.create_task(self.publish(copies))
        self._under_way.add(publishing)
        publishing.add_done_callback(self._under_way.discard)
        await asyncio.wait({publishing}, timeout=PATIENCE_SECONDS)
        if publishing.done():
            publishing.result()

    def doubt(self, since: float) -> None:
        """A transaction begun then (`time.monotonic`) broke off, perhaps after its commit: then rows say that
        this process has published them, and it does not know of them. They are published again: a copy too
        many finds no row."""
        if self.transport.has_broker:
            earlier = self._doubtful_since
            self._doubtful_since = since if earlier is None else min(earlier, since)
            self._wake.set()

    def nudge(self) -> None:
        """Something was delayed or freed: look again."""
        self._delays_at = 0.0
        self._wake.set()

    def _wake_up(self) -> None:
        self._wake.set()

    async def run(self) -> None:
        """Until cancelled."""
        if not self.transport.has_broker:
            return await self._only_expire_notices()
        next_expiry_check = 0.0
        loop = asyncio.get_running_loop()
        while True:
            wait = IDLE_SECONDS
            started = time.monotonic()
            try:
                await self._give_back()
                wait = await self._publish_due()
                if loop.time() >= next_expiry_check:
                    await self._publish_overdue()
                    next_expiry_check = loop.time() + max(0.5, self.ttl / 4)
            except (TransportError, DBAPIError, OSError) as error:
                if isinstance(error, DBAPIError) and not is_passing(error):
                    raise
                log.warning("relay_waits", error=text_for_logs(error))
                self.doubt(started)
                self._wake.clear()  # not at once: the trouble may last
            await self._sleep(wait)

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    async def flush(self) -> None:
        """Before leaving: what could not be published is left to others."""
        for publishing in self._under_way:
            publishing.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self._give_back()

    async def _give_back(self) -> None:
        """What I vouched for but could not publish is open again, and what the broker has lost."""
        self._lost_queues |= self.transport.take_lost_queues()
        for queue, seen_at in sorted(self._lost_queues.items()):
            age = time.monotonic() - seen_at  # what was sent since then went to the queue that is there now
            async with self.store.claiming_once() as connection:
                lost = await messages.release_queue(connection, self.store, queue, age)
            del self._lost_queues[queue]
            if lost:
                log.warning("copies_lost", queue=queue, messages=lost)
        if self._doubtful_since is not None:
            since = self._doubtful_since
            async with self.store.claiming_once() as connection:
                # A little more: the rows' times are those of this machine's clock.
                age = time.monotonic() - since + CLOCK_SECONDS
                doubtful = await messages.release_mine(connection, self.store, self.worker_id, age)
            if self._doubtful_since == since:
                self._doubtful_since = None
            if doubtful:
                log.info("republished", messages=doubtful, reason="a commit was not confirmed")
        if self._unpublished:
            ids = list(self._unpublished)
            async with self.store.claiming_once() as connection:
                await messages.release(connection, self.store.dialect, ids)
            self._unpublished.difference_update(ids)

    async def _publish_due(self) -> float:
        """Publish what is ready; returns how long until the next delayed message."""
        if not self.transport.can_publish:
            return IDLE_SECONDS
        await self.releasing.look_for_tenants()
        if self.releasing.is_active:
            return await self._release_due()
        wait = await self._publish_all_due()
        async with self.store.claiming_once() as connection:
            due = await messages.seconds_to_next_due(connection, self.store)
        return wait if due is None else min(due, wait)

    async def _publish_all_due(self) -> float:
        while True:
            async with self.store.claiming() as connection:
                await messages.promote_due(connection, self.store)
                taken = await messages.take_unsent(connection, BATCH, self.worker_id)
            await self.publish([copy_of(row, self.topology) for row in taken])
            if len(taken) < BATCH:
                return IDLE_SECONDS

    async def _release_due(self) -> float:
        """As far as the queues at the broker have room; returns how long until there may be more."""
        now = time.monotonic()
        if now >= self._delays_at:
            async with self.store.claiming() as connection:
                await messages.promote_due(connection, self.store)
                due = await messages.seconds_to_next_due(connection, self.store)
            self._delays_at = now + (IDLE_SECONDS if due is None else min(max(due, 0.0), IDLE_SECONDS))
        released = await self.releasing.release()
        await self.publish(released.copies)
        # However many are kept back: a moment later they are released together.
        await asyncio.sleep(RELEASE_PAUSE_SECONDS)
        waits = (IDLE_SECONDS, self._delays_at - time.monotonic(), released.wait_seconds)
        return min(wait for wait in waits if wait is not None)

    async def _only_expire_notices(self) -> None:
        """Without a broker nothing else grows old."""
        while True:
            try:
                await self._expire_notices()
            except (DBAPIError, OSError) as error:
                if isinstance(error, DBAPIError) and not is_passing(error):
                    raise
                log.warning("relay_waits", error=text_for_logs(error))
            await asyncio.sleep(max(0.5, self.ttl / 4))

    async def _expire_notices(self) -> None:
        """As on a broker, whose queues have this lifetime: an expired notice is gone, and no dead letter."""
        async with self.store.claiming() as connection:
            queues = self.topology.notice_queues
            removed = await messages.remove_notices(connection, self.store, queues, self.ttl)
        if removed:
            log.info("notices_expired", messages=removed)

    async def _publish_overdue(self) -> None:
        await self._expire_notices()
        async with self.store.claiming() as connection:
            taken = await messages.take_overdue(connection, self.ttl, BATCH, self.worker_id)
        if taken:
            log.info("republished", messages=len(taken), reason="older than the copies' lifetime")
        await self.publish([copy_of(row, self.topology) for row in taken])

    # --- the dead-letter queue ------------------------------------------------------------------------

    async def consume_returned(self) -> None:
        """Copies the broker gave up on: expired ones are published again, unknown ones recorded."""
        if not self.transport.has_broker:
            return
        async for deliveries in self.transport.consume(DEAD_LETTER_QUEUE, batch=100, slots=1):
            try:
                await self._handle_returned(deliveries)
            except DBAPIError as error:
                if not is_passing(error):
                    raise
                log.warning("relay_waits", error=text_for_logs(error))
                await asyncio.sleep(IDLE_SECONDS)
                continue  # unsettled: they come again with the next connection
            await self.transport.settle(deliveries)

    async def _handle_returned(self, deliveries: Sequence[Delivery]) -> None:
        known: dict[UUID, datetime | None] = {}
        await self._expire_notices()  # before they could be taken for copies that got lost
        for delivery in deliveries:
            try:
                message_id = PipelineMessage.parse(delivery.body).message_id
                if not delivery.is_own:
                    await self._check_known(delivery, message_id)
                known[message_id] = delivery.published_at
            except MessageError as error:
                await self._record(delivery, error)
        async with self.store.claiming() as connection:
            # A younger row was published again already and this is its older copy, unless the two are of the
            # same time: then the broker's clock was set forward, and copies expired before their time.
            taken = await messages.take_returned(connection, known, self.ttl * 0.9, self.worker_id)
        await self.publish([copy_of(row, self.topology) for row in taken])

    async def _check_known(self, delivery: Delivery, message_id: UUID) -> None:
        """Raises MessageError for what another system wrote to one of our queues, and nobody took."""
        async with self.store.reading() as session:
            if not await messages.pending(session, self.store.dialect, [message_id]):
                raise MessageError("it expired, and nobody here has sent it", raw=delivery.body)

    async def _record(self, delivery: Delivery, error: MessageError) -> None:
        letter = {
            "queue": delivery.queue,
            "reason": str(error),
            "attempts": 0,
            "history": [],
            "body": delivery.body,
            "created_at": utc_now(),
        }
        async with self.store.writing() as session:
            await rows.insert(session, DeadLetter.__table__, [letter])  # type: ignore[arg-type] # is a Table
