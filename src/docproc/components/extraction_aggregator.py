"""extraction_aggregator: waits until every document has its fields, by machine or by hand."""

from __future__ import annotations

from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.component import NEXT, Emission, JoinComponent
from docproc.message import PipelineMessage
from docproc.store.fan_in import Join


class ExtractionAggregator(JoinComponent):
    """Only counts: the documents lie in the database, where the consolidator reads them."""

    component_name = "extraction_aggregator"
    takes = ("document", "page")
    collects = "extraction"

    async def after_join(self, join: Join, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        whole: dict[str, Any] = {"document_id": None, "page_index": None, "payload": {}}
        return [(NEXT, message.model_copy(update=whole))]
