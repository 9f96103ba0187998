"""material_check: questions that a person should look at are marked before the quiz is stored."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials.checks.examine import examine, marked
from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.stage import MaterialStage, onward
from docproc.apps.materials.writing import load_source
from docproc.engine.component import Emission
from docproc.engine.message import PipelineMessage

# Checked in less than 50 ms.
_SHORT_WORDS = 20_000


class Check(MaterialStage):
    component_name: ClassVar[str] = "material_check"
    routing_key = "material.check"
    # Light: all but long books are looked up in a moment, so it is done in the transaction of the quiz, where
    # one process hosts both.
    batch = 10

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        quiz = Quiz.model_validate(message.payload["quiz"])
        path = await self.blobs.fetch(message.payload["text_key"])
        checked = await self._run(message.payload.get("words", 0), path, quiz)
        return onward(message, quiz=checked.model_dump(mode="json"))

    async def _run(self, words: int, path: Path, quiz: Quiz) -> Quiz:
        """In a thread; a long book, which would keep this process busy, in a child."""
        if words <= _SHORT_WORDS:
            return await asyncio.to_thread(_checked, path, quiz)
        checked: Quiz = await self._context.run_in_process(_checked, path, quiz)
        return checked


def _checked(path: Path, quiz: Quiz) -> Quiz:
    """Blocking: every question is looked up in the whole text."""
    return marked(quiz, examine(quiz, load_source(path)))
