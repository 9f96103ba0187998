"""material_summary: the structured summary of the text."""

from __future__ import annotations

from typing import ClassVar

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials import log
from docproc.apps.materials.authoring import AuthorStage
from docproc.apps.materials.stage import onward
from docproc.engine.component import Emission
from docproc.engine.message import PipelineMessage


class SummaryStage(AuthorStage):
    component_name: ClassVar[str] = "material_summary"
    routing_key = "material.summary"
    status = "summarising"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        order = self.order(message)
        writer = self.writing(message)
        async with self.announced(message):
            summary = await writer.summarise(await self.text_path(message), self.language(order))
        await self.log(session, message, order, log.EventType.SUMMARY_GENERATED, writer.seconds)
        return onward(message, summary=summary.model_dump(mode="json"))
