"""Accepting a task: envelope and plan are checked, then request, task and session are written together."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import App
from docproc.apps.orchestrator import tenants
from docproc.apps.orchestrator.calls import adopting
from docproc.apps.orchestrator.envelope import reading
from docproc.apps.orchestrator.envelope.errors import Code, refuse
from docproc.apps.orchestrator.envelope.models import Envelope, MessageType
from docproc.apps.orchestrator.plans import building
from docproc.apps.orchestrator.plans.building import Plan
from docproc.apps.orchestrator.services.catalogue import catalogue_of
from docproc.apps.orchestrator.settings import OrchestratorSettings
from docproc.apps.orchestrator.tables import Task
from docproc.engine.message import utc_now
from docproc.engine.running.crowding import Crowding
from docproc.engine.running.grouping import Grouping
from docproc.engine.running.intake import Submission
from docproc.engine.store import rows
from docproc.engine.workflow.loader import WorkflowLoader
from docproc.errors import RequestConflictError

# A session's end is moved at most this often by one process, which remembers so many of them.
TOUCH_SECONDS = 30.0
MOST_TOUCHED = 10_000
# Plans of single operations that a process remembers.
MOST_OPERATIONS = 1000
# What a client may say beside the envelope's own fields.
FLOW, PLAN, CALLBACK = "flow", "plan", "callback_url"


@dataclass(frozen=True, slots=True)
class Accepted:
    envelope: Envelope
    task_id: UUID
    # False: the same task came before, and stands.
    is_new: bool


@dataclass(frozen=True, slots=True)
class _Entry:
    """A task on its way in."""

    submission: Submission
    envelope: Envelope
    plan: Plan

    @property
    def session_key(self) -> tuple[str, str]:
        return self.envelope.tenant_id, self.envelope.session_id or ""


class Acceptance:
    """One per API process."""

    def __init__(self, application: App) -> None:
        self._app = application
        self._catalogue = catalogue_of(application.settings)
        self._most_steps = application.settings.section(OrchestratorSettings).orchestrator_max_steps
        # Sessions whose end this process moved a moment ago: moving it again could wait.
        self._touched: dict[tuple[str, str], float] = {}
        self._grouping = Grouping(self._commit)
        self._crowding = Crowding(application.store, application.outbox.releasing)
        self._operations: dict[tuple[str, str | None], Plan] = {}

    async def accept(
        self, said: Mapping[str, Any], tenant_id: str, *, by: str | None, idempotency_key: str | None = None
    ) -> Accepted:
        """Raises EnvelopeError, and whatever the engine's intake does; then nothing is written."""
        message = dict(said)
        flow, plan_said = message.pop(FLOW, None), message.pop(PLAN, None)
        callback_url = message.pop(CALLBACK, None)
        if flow is not None or plan_said is not None:
            message.setdefault("type", {"domain": "workflow", "action": "start"})
        envelope = reading.complete(message, tenant_id=tenant_id)
        plan = self._plan(envelope, message, flow, plan_said)
        key = envelope.metadata.deduplication_key or idempotency_key
        submission = Submission(
            workflow=plan.name,
            definition=plan.definition,
            # The engine's 9 is the most urgent, the envelope's 0 is.
            priority=9 - envelope.priority,
            channel="orchestrator",
            metadata={"correlation_id": str(envelope.correlation_id)},
            tenant_id=tenant_id,
            request_id=envelope.task_id,
            trace_id=envelope.correlation_id,
            content_hash=_content(envelope, flow, plan_said) if key else None,
            idempotency_key=key,
            callback_url=callback_url,
            by=by,
        )
        return await self._submit(submission, envelope, plan)

    def _plan(self, envelope: Envelope, said: Mapping[str, Any], flow: Any, plan_said: Any) -> Plan:
        if flow is not None and plan_said is not None:
            raise refuse(Code.PLAN, "plan", "a task has a flow or a plan, not both", "Leave one of them out")
        loader = self._app.loader.of(envelope.tenant_id)
        if flow is not None:
            return building.named(str(flow), loader, self._catalogue)
        if plan_said is not None:
            plan = building.from_body(plan_said, self._catalogue, loader.model, self._most_steps)
            building.check(plan, loader)
            return plan
        named = envelope.target_service if "target_service" in said else None
        named = None if named == reading.ORCHESTRATOR else named
        return self._operation(envelope.type, named, loader)

    def _operation(self, wanted: MessageType, service: str | None, loader: WorkflowLoader) -> Plan:
        """There are few, and most tasks are one: made and checked once. Raises EnvelopeError."""
        key = (wanted.name, service)
        if key not in self._operations:
            plan = building.operation(wanted, service, self._catalogue, loader.model)
            building.check(plan, loader)
            if len(self._operations) >= MOST_OPERATIONS:
                self._operations.clear()
            self._operations[key] = plan
        return self._operations[key]

    async def _submit(self, submission: Submission, envelope: Envelope, plan: Plan) -> Accepted:
        intake = self._app.intake
        if known := await intake.known(submission):
            return Accepted(envelope, known, is_new=False)
        await self._crowding.wait(adopting.QUEUE, submission.tenant_id)
        try:
            publishing = await self._grouping.add(_Entry(submission, envelope, plan))
        except IntegrityError as error:
            # Two of the same at the same moment: the unique index let one in.
            if known := await intake.known(submission):
                return Accepted(envelope, known, is_new=False)
            raise RequestConflictError(
                "there is a task of that id already", remedy="Leave task_id out, or send a new one"
            ) from error
        await asyncio.wait({publishing})
        publishing.result()
        return Accepted(envelope, envelope.task_id, is_new=True)

    async def _commit(self, entries: Sequence[_Entry]) -> asyncio.Task[None]:
        """Tasks that came at the same time, in one transaction; the next need not wait for the publishing."""
        # In one order everywhere: processes that lock the same rows wait for each other, never in a circle.
        entries = sorted(entries, key=lambda one: one.session_key)
        touched = sorted({one.session_key for one in entries if self._is_to_be_touched(one.session_key)})
        async with self._app.store.writing() as session:
            copies = await self._app.intake.accept_all(session, [one.submission for one in entries])
            await rows.insert(session, _TASKS, [_row(one.envelope, one.plan) for one in entries])
            for tenant_id, session_id in touched:
                config = await tenants.read(session, tenant_id)
                await touch_session(session, tenant_id, session_id, config.session_seconds)
        for key in touched:
            self._touched[key] = time.monotonic()
        return asyncio.create_task(self._app.relay.hand_over(copies))

    def _is_to_be_touched(self, session_key: tuple[str, str]) -> bool:
        """At most twice a minute for each session: its row is locked until the commit, so the tasks of a
        busy session would wait for each other."""
        now = time.monotonic()
        if len(self._touched) > MOST_TOUCHED:
            self._touched = {key: at for key, at in self._touched.items() if now - at < TOUCH_SECONDS}
        at = self._touched.get(session_key)
        return at is None or now - at >= TOUCH_SECONDS


_TASKS: Any = Task.__table__


def _row(envelope: Envelope, plan: Plan) -> dict[str, Any]:
    return {
        "request_id": envelope.task_id,
        "tenant_id": envelope.tenant_id,
        "session_id": envelope.session_id or "",
        "conversation_id": envelope.conversation_id,
        "correlation_id": envelope.correlation_id,
        "domain": envelope.type.domain,
        "action": envelope.type.action,
        "priority": envelope.priority,
        "envelope": envelope.as_dict(),
        "inputs": plan.inputs,
        "steps": plan.steps,
        "expires_at": envelope.expires_at,
    }


async def touch_session(session: AsyncSession, tenant_id: str, session_id: str, seconds: float) -> None:
    """Begin a session, or let it last longer."""
    await rows.execute(
        session,
        """
        INSERT INTO orchestrator_sessions (tenant_id, session_id, context, created_at, expires_at)
        VALUES (:tenant, :name, '{}', :now, :until)
        ON CONFLICT (tenant_id, session_id) DO UPDATE SET expires_at = excluded.expires_at
        """,
        tenant=tenant_id,
        name=session_id,
        now=utc_now(),
        # A little longer: it is not moved by every task.
        until=utc_now() + timedelta(seconds=seconds + TOUCH_SECONDS),
    )


def _content(envelope: Envelope, flow: Any, plan: Any) -> str:
    """What two tasks under one key must have in common."""
    said = [envelope.type.name, envelope.payload, flow, plan]
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()


def acceptance_of(application: App) -> Acceptance:
    return application.shared(Acceptance)
