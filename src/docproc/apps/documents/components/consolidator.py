"""consolidator: the answer, from everything that was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components import answer
from docproc.apps.documents.statuses import DocumentsStatus
from docproc.apps.documents.tables import REQUESTS
from docproc.engine.component import NEXT, REQUEST_UNIT, BatchComponent, Emission
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import fan_in, requests


class Consolidator(BatchComponent):
    """Its payload is the request's result; the engine ends the request with it."""

    component_name = "consolidator"
    takes = REQUEST_UNIT
    status = DocumentsStatus.CONSOLIDATING
    batch = 20

    async def process_messages(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        # Amendments of a request may come here in any order. One at a time, and each reads what stands now,
        # so that the last word is the newest. Locked in the order that everybody keeps.
        for request_id in sorted({message.request_id for message in messages}, key=str):
            await requests.locked(session, request_id)
        return [[await self._consolidate(message, session)] for message in messages]

    async def _consolidate(self, message: PipelineMessage, session: AsyncSession) -> Emission:
        result = await answer.complete(session, message, utc_now())
        await session.execute(
            update(REQUESTS)
            .where(REQUESTS.c.id == message.request_id)
            .values(page_count=result["total_pages"], document_count=result["total_documents"])
        )
        generation = await fan_in.newest_generation(session, message.request_id)
        return NEXT, message.model_copy(update={"payload": result, "generation": generation})

    async def partial_result(self, message: PipelineMessage, session: AsyncSession) -> dict[str, Any] | None:
        return await answer.partial(session, message, utc_now())
