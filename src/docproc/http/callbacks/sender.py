"""The sender: takes versions that are due, sends them outside any transaction, and records the outcome."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

import prometheus_client
import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.engine.message import utc_now
from docproc.engine.store import deliveries
from docproc.engine.store.deliveries import Attempt, Due
from docproc.engine.store.events import Event
from docproc.engine.store.session import Store
from docproc.engine.store.tables import DeliveryState
from docproc.harmless import text_for_logs
from docproc.http.callbacks.addresses import WEB, origin_of
from docproc.http.callbacks.post import Poster
from docproc.http.callbacks.resolver import Resolver
from docproc.http.callbacks.schedule import AttemptOutcome, Decision, Reply, Schedule
from docproc.http.callbacks.secret import key_for
from docproc.settings import Settings

log = structlog.get_logger(__name__)

ATTEMPTS = prometheus_client.Counter(
    "docproc_delivery_attempts_total",
    "Attempts to send an answer to its callback_url, by outcome",
    ["outcome"],
)

AT_ONCE = 32
# A receiver that is slow holds up its own answers only.
AT_ONCE_PER_HOST = 2
IDLE_SECONDS = 0.25
_TROUBLE_SECONDS = 1.0
# A claim outlasts the attempt and a short absence of the database, so that only a crash makes it end.
_LEASE_SLACK_SECONDS = 20.0
# What is under way at an orderly end gets a moment: cut off, it would have to be sent again.
GRACE_SECONDS = 3.0
_LOOKED_AT = 200

_STATES = {
    AttemptOutcome.DELIVERED: DeliveryState.DELIVERED,
    AttemptOutcome.RETRY: DeliveryState.PENDING,
    AttemptOutcome.GIVEN_UP: DeliveryState.GIVEN_UP,
}


class Posts(Protocol):
    """How one version is sent: a signed POST, a file beside its source, a mail."""

    timeout_seconds: float

    async def post(self, due: Due) -> Reply:
        """Sent again under the same id when its outcome could not be recorded: sending twice must do no more
        than sending once. Raises nothing that a receiver or the way to it can cause."""


class Sender:
    """Any number may run: a version is claimed before it is sent, and the next waits until it is settled.

    An attempt whose outcome could not be recorded, because the process died, is repeated with the same id and
    body: receivers drop ids that they know.
    """

    def __init__(
        self,
        store: Store,
        poster: Posts,
        name: str,
        *,
        only: Sequence[str] = WEB,
        schedule: Schedule | None = None,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self.store = store
        self.poster = poster
        self.name = name[:96]
        self.only = only
        self.schedule = schedule or Schedule()
        self.grace_seconds = grace_seconds
        self._sending: dict[UUID, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Until cancelled."""
        try:
            async with asyncio.TaskGroup() as sends:
                try:
                    while True:
                        await self._sleep(await self._start_due(sends))
                except asyncio.CancelledError:
                    if self._tasks:
                        await asyncio.wait(self._tasks, timeout=self.grace_seconds)
                    raise
        finally:
            await self._release()

    async def _start_due(self, sends: asyncio.TaskGroup) -> float:
        """Send what may be sent now; returns how long nothing else can happen, at most."""
        try:
            claimed = await self._claim()
        except (SQLAlchemyError, OSError) as error:
            _database_trouble(error)
            return _TROUBLE_SECONDS
        for due in claimed:
            if due.id in self._sending:  # still not recorded after all that time: the claim was renewed
                continue
            self._sending[due.id] = origin_of(due.url)
            task = sends.create_task(self._send(due))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return IDLE_SECONDS

    async def _claim(self) -> list[Due]:
        full = self._full_receivers()
        if len(self._sending) >= AT_ONCE:
            return []
        async with self.store.reading() as session:
            found = await deliveries.waiting(session, self.store, _LOOKED_AT, full, self.only)
        chosen = self._chosen(found)
        if not chosen:
            return []
        if len(found) == _LOOKED_AT:  # others may wait behind a crowd of one receiver's
            self._wake.set()
        lease = self.poster.timeout_seconds + _LEASE_SLACK_SECONDS
        async with self.store.claiming() as connection:
            return await deliveries.claim(connection, self.store, chosen, self.name, lease)

    def _full_receivers(self) -> list[str]:
        return [one for one, number in Counter(self._sending.values()).items() if number >= AT_ONCE_PER_HOST]

    def _chosen(self, found: Sequence[tuple[UUID, str]]) -> list[UUID]:
        """The first ones for which there is room, altogether and at their receiver."""
        busy = Counter(self._sending.values())
        chosen: list[UUID] = []
        for delivery_id, url in found:
            origin = origin_of(url)
            if len(self._sending) + len(chosen) < AT_ONCE and busy[origin] < AT_ONCE_PER_HOST:
                busy[origin] += 1
                chosen.append(delivery_id)
        return chosen

    async def _send(self, due: Due) -> None:
        try:
            began = utc_now()
            reply = await self._reply(due)
            age = (utc_now() - due.created_at).total_seconds()
            decision = self.schedule.decide(reply, due.attempts + 1, age, random.random())
            await self._record(self._attempt(due, reply, decision, began))
        finally:
            del self._sending[due.id]
            self._wake.set()  # there is room, and perhaps a next version

    async def _reply(self, due: Due) -> Reply:
        try:
            return await self.poster.post(due)
        except Exception as error:  # the boundary: one answer that cannot be sent must not stop the others
            log.exception("delivery_broke", request_id=str(due.request_id), version=due.version)
            return Reply(error=type(error).__name__)

    def _attempt(self, due: Due, reply: Reply, decision: Decision, began: datetime) -> Attempt:
        data: dict[str, Any] = {"version": due.version, "host": origin_of(due.url).partition("://")[2]}
        problem = None
        if reply.is_delivered:
            pass
        elif reply.status is not None:
            data["status_code"] = reply.status
            problem = f"HTTP {reply.status}"
        else:
            data["error"] = problem = reply.error or "unknown"
        if decision.outcome is AttemptOutcome.RETRY:
            data["delay_s"] = round(decision.delay_seconds, 3)
        event = Event(
            due.request_id,
            "delivery",
            tenant_id=due.tenant_id,
            attempt=due.attempts + 1,
            outcome=decision.outcome.value,
            worker_id=self.name,
            started_at=began,
            data=data,
        )
        error = None if decision.outcome is AttemptOutcome.DELIVERED else problem
        return Attempt(due, _STATES[decision.outcome], decision.delay_seconds, error, event)

    async def _record(self, attempt: Attempt) -> None:
        """Until the database takes it: an answer that arrived must not be sent again for its sake."""
        while True:
            try:
                async with self.store.writing() as session:
                    is_ours = await deliveries.record(session, self.store, attempt, self.name)
                break
            except (SQLAlchemyError, OSError) as error:
                _database_trouble(error)
            await asyncio.sleep(_TROUBLE_SECONDS / 4)
        if is_ours:
            _tell(attempt)

    async def _release(self) -> None:
        with suppress(SQLAlchemyError, OSError):  # else the claims end by themselves
            async with asyncio.timeout(_TROUBLE_SECONDS), self.store.claiming() as connection:
                await deliveries.release(connection, self.name)

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        self._wake.clear()


def _tell(attempt: Attempt) -> None:
    outcome = attempt.event.outcome or ""
    ATTEMPTS.labels(outcome).inc()
    due = attempt.due
    facts = {
        "request_id": str(due.request_id),
        "attempt": attempt.event.attempt,
        **(attempt.event.data or {}),
    }
    if attempt.state is DeliveryState.DELIVERED:
        log.info("answer_delivered", **facts)
    elif attempt.state is DeliveryState.PENDING:
        log.warning("answer_not_delivered", **facts)
    else:
        remedy = "The client can fetch it: GET /status/{request_id}"
        log.error("answer_delivery_given_up", **facts, remedy=remedy)


def _database_trouble(error: Exception) -> None:
    log.warning("deliveries_wait", error=text_for_logs(error))


async def send_answers(settings: Settings, store: Store, worker_id: str) -> None:
    """The sender of a gateway's process, until cancelled. Raises ConfigurationError."""
    key = await asyncio.to_thread(key_for, settings)
    if key is None:
        log.info("callbacks_off", remedy="Set DOCPROC_CALLBACK_SECRET to send answers to a callback_url")
        return
    resolver = Resolver(allow_private=settings.callback_allow_private)
    async with Poster(key, resolver, settings.callback_timeout_seconds) as poster:
        await Sender(store, poster, f"{worker_id[:80]}:callbacks").run()
