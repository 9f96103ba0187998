"""consolidator: the answer, from everything that was found."""

from __future__ import annotations

from typing import Any

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.component import NEXT, REQUEST_UNIT, BaseComponent, Emission
from docproc.components import answer
from docproc.message import PipelineMessage, utc_now
from docproc.store.tables import Request, RequestStatus


class Consolidator(BaseComponent):
    """Its payload is the request's result; the engine ends the request with it."""

    component_name = "consolidator"
    takes = REQUEST_UNIT
    status = RequestStatus.CONSOLIDATING
    batch = 20

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        result = await answer.complete(session, message)
        await session.execute(
            update(Request)
            .where(Request.id == message.request_id)
            .values(page_count=result["total_pages"], document_count=result["total_documents"])
            .execution_options(synchronize_session=False)
        )
        return [(NEXT, message.model_copy(update={"payload": result}))]

    async def partial_result(self, message: PipelineMessage, session: AsyncSession) -> dict[str, Any] | None:
        return await answer.partial(session, message, utc_now())
