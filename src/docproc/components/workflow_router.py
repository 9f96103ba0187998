"""workflow_router: which workflow a request takes, and by when it must be answered."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.component import NEXT, REQUEST_UNIT, BaseComponent, Emission
from docproc.message import PipelineMessage
from docproc.store import requests
from docproc.store.tables import Request, RequestStatus
from docproc.workflow import conditions
from docproc.workflow.definition import Workflow


class WorkflowRouter(BaseComponent):
    """A workflow the client named stands; else the first, by name, whose `accepts:` holds; else `default`."""

    component_name = "workflow_router"
    takes = REQUEST_UNIT
    batch = 50

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        return (await self.process_messages([message], session))[0]

    async def process_messages(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        routed = [self._route(message) for message in messages]
        await requests.advance(session, [message.request_id for message in messages], RequestStatus.ROUTING)
        for before, after in zip(messages, routed, strict=True):
            if before.deadline_utc != after.deadline_utc:
                await _postpone(session, after)
        return [[(NEXT, message)] for message in routed]

    def _route(self, message: PipelineMessage) -> PipelineMessage:
        if message.payload.get("workflow_named", True):
            return message
        workflow = next((w for w in self.workflows() if _accepts(w, message)), None)
        if workflow is None:
            return message  # intake gave it the default one, with its deadline
        seconds = workflow.sla.deadline_seconds if workflow.sla else self.settings.default_sla_seconds
        return message.model_copy(
            update={
                "workflow_name": workflow.name,
                # The clock started at reception, however long the message waited for us.
                "deadline_utc": message.created_at + timedelta(seconds=seconds),
            }
        )


def _accepts(workflow: Workflow, message: PipelineMessage) -> bool:
    if workflow.accepts is None:
        return False
    facts = {
        "metadata": message.payload.get("metadata") or {},
        "channel": message.payload.get("channel"),
        "external_id": message.payload.get("external_id"),
        "tenant_id": message.tenant_id,
        "priority": message.priority,
    }
    return conditions.accepts(workflow.accepts, facts)


async def _postpone(session: AsyncSession, message: PipelineMessage) -> None:
    deadline: datetime | None = message.deadline_utc
    assert deadline is not None  # just computed
    await session.execute(
        update(Request)
        .where(Request.id == message.request_id)
        .values(deadline_utc=deadline, sla_seconds=(deadline - message.created_at).total_seconds())
    )
