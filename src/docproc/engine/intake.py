"""Intake: a new request, its row and its first message in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.outbox import Outbox
from docproc.engine.relay import Relay
from docproc.message import PipelineMessage, utc_now
from docproc.store import events
from docproc.store.tables import Request, RequestStatus


@dataclass(frozen=True, slots=True)
class Submission:
    """What somebody wants done."""

    workflow: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    priority: int = 5
    channel: str = "api"
    external_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tenant_id: str = "default"
    request_id: UUID = field(default_factory=uuid4)


class Intake:
    """Accepts requests: once `submit` returns, the request is in the database and will be worked on."""

    def __init__(self, outbox: Outbox, relay: Relay, default_sla_seconds: float) -> None:
        self.outbox = outbox
        self.relay = relay
        self.default_sla_seconds = default_sla_seconds

    async def submit(self, submission: Submission) -> UUID:
        """Raises UnknownWorkflowError or WorkflowError before anything is written."""
        async with self.outbox.store.writing() as session:
            router = await self.outbox.versions.pin(session, submission.workflow)
            sla = router.plan.workflow.sla
            seconds = sla.deadline_seconds if sla else self.default_sla_seconds
            message = _first_message(submission, utc_now() + timedelta(seconds=seconds))
            await _store(session, submission, message, seconds, router.plan.version)
            copies = await self.outbox.enter(session, router, message)
        await self.relay.publish(copies)
        return submission.request_id


def _first_message(submission: Submission, deadline: datetime) -> PipelineMessage:
    return PipelineMessage(
        request_id=submission.request_id,
        tenant_id=submission.tenant_id,
        workflow_name=submission.workflow,
        priority=submission.priority,
        deadline_utc=deadline,
        payload=dict(submission.payload),
        source_component="intake",
    )


async def _store(
    session: AsyncSession, submission: Submission, message: PipelineMessage, seconds: float, version: str
) -> None:
    session.add(
        Request(
            id=submission.request_id,
            trace_id=message.trace_id,
            tenant_id=submission.tenant_id,
            external_id=submission.external_id,
            channel=submission.channel,
            workflow_name=submission.workflow,
            workflow_version=version,
            status=RequestStatus.RECEIVED,
            priority=submission.priority,
            deadline_utc=message.deadline_utc,
            sla_seconds=seconds,
            metadata_=dict(submission.metadata),
            created_at=message.created_at,
        )
    )
    await session.flush()
    note = events.Event(
        submission.request_id, "status", tenant_id=submission.tenant_id, outcome=RequestStatus.RECEIVED
    )
    await events.record(session, [note])
