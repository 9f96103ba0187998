"""The end of every plan: what its steps found, as the task's result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.calls import rows
from docproc.apps.orchestrator.calls.envelopes import delegated
from docproc.apps.orchestrator.tables import Call, CallState
from docproc.engine.component import NEXT, REQUEST_UNIT, BaseComponent, Emission
from docproc.engine.message import PipelineMessage


class TaskResultComponent(BaseComponent):
    component_name = "task_result"
    routing_key = "task.result"
    takes = REQUEST_UNIT
    batch = 100

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        return (await self.process_messages([message], session))[0]

    async def process_messages(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        # Through the session: the last step may have ended in this very transaction.
        calls = await rows.of_requests(session, {message.request_id for message in messages})
        return [
            [(NEXT, message.model_copy(update={"payload": result_of(calls[message.request_id])}))]
            for message in messages
        ]

    async def partial_result(self, message: PipelineMessage, session: AsyncSession) -> dict[str, Any] | None:
        calls = (await rows.of_requests(session, [message.request_id]))[message.request_id]
        missing = [
            {"unit": call.stage, "reason": "queued"}
            for call in calls
            if call.state != CallState.COMPLETED.value
        ]
        return {**result_of(calls), "partial": True, "missing": missing}


def result_of(calls: Sequence[Call]) -> dict[str, Any]:
    """`results` by step; who worked on it; and where something stands in for a service's own answer."""
    steps = [call for call in calls if call.parent_id is None]
    found: dict[str, Any] = {
        "results": {call.stage: call.result for call in steps if call.state == CallState.COMPLETED.value},
        "delegated_services": [one.model_dump(mode="json") for one in delegated(calls)],
    }
    degraded = [{"step": call.stage, **call.degraded} for call in calls if call.degraded]
    if degraded:
        found["degraded"] = degraded
    return found
