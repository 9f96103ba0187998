"""The SLA monitor: an answer by the deadline, always. It warns, escalates, answers and marks breaches."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import prometheus_client
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.deadlines.checks import Due, due_now
from docproc.engine.deadlines.margin import Margin
from docproc.engine.deadlines.node import Node
from docproc.engine.deadlines.partials import Partials
from docproc.engine.message import utc_now
from docproc.engine.running import bands
from docproc.engine.store import answers, events, requests, tasks, watch
from docproc.engine.store.session import is_passing
from docproc.engine.store.tables import Request
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

CHECKPOINTS = prometheus_client.Counter(
    "docproc_checkpoints_total", "Requests that reached a checkpoint or their deadline unfinished", ["action"]
)
MARGIN = prometheus_client.Gauge(
    "docproc_answer_margin_seconds", "How long before the deadline answers are made", multiprocess_mode="max"
)

# The specified sweep: whatever happens, everything is looked at this often.
SWEEP_SECONDS = 5.0
# How often the next moment is asked for: requests that arrive meanwhile may have an earlier one.
LOOK_SECONDS = 0.25
# How soon a database that went away is tried again: deadlines do not wait for it.
RETRY_SECONDS = 0.2
BATCH = 50


@dataclass(frozen=True, slots=True)
class Done:
    """What was done for a request, to be told after the commit."""

    request: Request
    due: Due
    # The moment it was due at.
    scheduled_at: datetime


class SlaMonitor:
    """Any number may run: what each does is claimed in the database, so it happens once."""

    def __init__(self, application: Node, now: Callable[[], datetime] = utc_now) -> None:
        self.application = application
        self.store = application.store
        self.partials = Partials(application)
        self.margin = Margin()
        self.now = now
        self._looked_at: float | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it has seen the database within the last sweep."""
        loop = asyncio.get_running_loop()
        return self._looked_at is not None and loop.time() - self._looked_at < SWEEP_SECONDS

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            wait = RETRY_SECONDS
            try:
                wait = await self.look()
                self._looked_at = asyncio.get_running_loop().time()
            except Exception as error:
                if not is_passing(error):
                    raise
                log.warning("monitor_waits", error=text_for_logs(error))
            await asyncio.sleep(wait)

    async def look(self) -> float:
        """Deal with everything that is due; returns how long nothing else will be."""
        while await self.sweep():
            pass
        async with self.store.reading() as session:
            following = await watch.next_check(session)
        if following is None:
            return LOOK_SECONDS
        return min(max((following - self.now()).total_seconds(), 0.0), LOOK_SECONDS)

    async def sweep(self) -> bool:
        """One group of due requests; True when there may be more."""
        now = self.now()
        async with self.store.reading() as session:
            found = await watch.due(session, now, BATCH)
            if not found:
                return False
            made = await self._make_partials(session, found, now)
        began = time.monotonic()
        async with self.store.writing() as session:
            done = await self._act(session, found, made, now)
        self.margin.wrote(time.monotonic() - began)
        await self._after(done)
        return len(found) == BATCH

    async def _make_partials(
        self, session: AsyncSession, found: Sequence[Request], now: datetime
    ) -> dict[UUID, dict[str, Any]]:
        """Before anything is locked: putting an answer together takes longer than storing it."""
        wanted = [r for r in found if due_now(r, now, self.margin.seconds).needs_answer]
        return {request.id: await self.partials.make(session, request) for request in wanted}

    async def _act(
        self,
        session: AsyncSession,
        found: Sequence[Request],
        made: dict[UUID, dict[str, Any]],
        now: datetime,
    ) -> list[Done]:
        versions = {request.id: request.answer_version for request in found}
        done = []
        for request in await watch.lock_due(session, [request.id for request in found], now):
            due = due_now(request, now, self.margin.seconds)
            if due.answer and (request.answer_version != versions[request.id] or request.id not in made):
                continue  # it was answered while we put ours together: ours is old, the next look decides
            done.append(Done(request, due, request.next_check_at or now))
            _move(request, due, now)
        await _store(session, done, made)
        await events.record(session, [note for one in done for note in _notes(one)])
        return done

    async def _after(self, done: Sequence[Done]) -> None:
        """What is told, and the order of work, once the database has it."""
        committed = self.now()
        for one in done:
            if one.due.answer and not one.due.breach:
                self.margin.observe((committed - one.scheduled_at).total_seconds())
            _tell(one)
        MARGIN.set(self.margin.seconds)
        moved = {one.request.id: one.request.band for one in done if one.due.escalate or one.due.breach}
        await bands.apply(self.application.relay, moved)


def _move(request: Request, due: Due, now: datetime) -> None:
    request.next_check_at = due.next_check_at
    if due.warn:
        request.warned_at = now
    if due.escalate:
        request.escalated_at = now
        request.band = bands.when_escalated(request.band, request.priority)
    if due.breach:
        requests.breach(request, now)
        request.band = bands.AFTER_DEADLINE


async def _store(session: AsyncSession, done: Sequence[Done], made: dict[UUID, dict[str, Any]]) -> None:
    """In few statements for all of them: where many are due at once, round trips would make answers late."""
    # Also when answering: questions that came up since the escalation are as urgent.
    urgent = [one.request.id for one in done if one.due.needs_answer]
    if urgent:
        await tasks.escalate(session, urgent, bands.MOST_URGENT)
    given, drafts = [], []
    for one in done:
        payload = made.get(one.request.id)
        if one.due.answer and payload != one.request.result_payload:
            given.append(answers.Given(one.request, payload, True, answers.Reason.DEADLINE))
        elif one.due.escalate and not one.due.breach:
            drafts.append(answers.Given(one.request, payload, True, answers.Reason.DRAFT))
    await answers.give(session, given)
    await answers.keep_drafts(session, drafts)


def _notes(done: Done) -> list[events.Event]:
    said = []
    request, due = done.request, done.due
    if due.warn:
        said.append(_note(request, "sla", "at_risk"))
    if due.escalate:
        said.append(_note(request, "sla", "escalated"))
    if due.breach:
        said.append(_note(request, "status", request.status))
    return said


def _note(request: Request, kind: str, outcome: str) -> events.Event:
    return events.Event(request.id, kind, tenant_id=request.tenant_id, outcome=outcome)


def _tell(done: Done) -> None:
    request, due = done.request, done.due
    about = {
        "request_id": str(request.id),
        "trace_id": str(request.trace_id),
        "workflow": request.workflow_name,
        "status": str(request.status),
        "deadline": request.deadline_utc.isoformat() if request.deadline_utc else None,
    }
    for action in ("warn", "escalate", "answer", "breach"):
        if getattr(due, action):
            CHECKPOINTS.labels(action).inc()
    if due.warn:
        log.warning("sla_at_risk", **about)
    if due.escalate:
        log.warning("sla_escalated", **about)
    if due.answer:
        log.info("answered_at_deadline", version=request.answer_version, **about)
    if due.breach:
        log.error("sla_breached", **about)
