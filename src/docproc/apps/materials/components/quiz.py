"""material_quiz: questions about the text, each answer quoted with its page."""

from __future__ import annotations

from typing import ClassVar

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials import log
from docproc.apps.materials.authoring import AuthorStage
from docproc.apps.materials.content.summary import Summary
from docproc.apps.materials.stage import onward
from docproc.engine.component import Emission
from docproc.engine.message import PipelineMessage


class QuizStage(AuthorStage):
    component_name: ClassVar[str] = "material_quiz"
    routing_key = "material.quiz"
    status = "questioning"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        order = self.order(message)
        summary = Summary.model_validate(message.payload["summary"])
        questions = self.materials.materials_questions
        writer = self.writing(message)
        async with self.announced(message):
            path = await self.text_path(message)
            quiz = await writer.examine(path, summary, self.language(order), questions)
        await self.log(session, message, order, log.EventType.ASSESSMENT_GENERATED, writer.seconds)
        return onward(message, quiz=quiz.model_dump(mode="json"))
