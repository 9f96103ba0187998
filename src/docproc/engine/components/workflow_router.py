"""workflow_router: which workflow a request takes, and by when it must be answered."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import case, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import NEXT, REQUEST_UNIT, BatchComponent, Emission
from docproc.engine.message import PipelineMessage
from docproc.engine.store import requests
from docproc.engine.store.tables import Request
from docproc.engine.workflow import conditions
from docproc.engine.workflow.checkpoints import Checkpoints, checkpoints
from docproc.engine.workflow.definition import Workflow


class WorkflowRouter(BatchComponent):
    """A workflow the client named stands; else the first, by name, whose `accepts:` holds; else `default`."""

    component_name = "workflow_router"
    takes = REQUEST_UNIT
    batch = 50

    async def process_messages(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        await requests.advance(session, [message.request_id for message in messages], requests.ROUTING)
        stamp = {"source_component": self.component_name}
        return [
            [(NEXT, (await self._route(message, session)).model_copy(update=stamp))] for message in messages
        ]

    async def _route(self, message: PipelineMessage, session: AsyncSession) -> PipelineMessage:
        if message.payload.get("workflow_named", True):
            return message
        workflow = next((w for w in self.workflows(message.tenant_id) if _accepts(w, message)), None)
        if workflow is None:
            return message  # intake gave it the default one, with its deadline
        # The clock started at reception, however long the message waited for us.
        times = checkpoints(message.created_at, workflow.sla, self.settings.default_sla_seconds)
        await _move_deadline(session, message, times)
        return message.model_copy(update={"workflow_name": workflow.name, "deadline_utc": times.deadline_utc})


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


async def _move_deadline(session: AsyncSession, message: PipelineMessage, times: Checkpoints) -> None:
    """The deadline of the workflow that was chosen; what the monitor did under the first one stands."""
    await session.execute(
        update(Request)
        .where(Request.id == message.request_id)
        .values(
            deadline_utc=times.deadline_utc,
            sla_seconds=times.sla_seconds,
            warn_at=times.warn_at,
            escalate_at=times.escalate_at,
            next_check_at=case((Request.next_check_at.is_(None), None), else_=times.warn_at),
        )
        .execution_options(synchronize_session=False)
    )
