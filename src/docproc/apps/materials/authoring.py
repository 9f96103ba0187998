"""A stage in which an author writes: its text, its author, what that cost."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials import log
from docproc.apps.materials.answers import KeptAnswers, spent_by
from docproc.apps.materials.budget import Budget
from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.summary import Summary
from docproc.apps.materials.order import Order
from docproc.apps.materials.stage import MaterialStage
from docproc.apps.materials.writing import ModelWriter, OfflineWriter
from docproc.engine.component import Context, Where
from docproc.engine.message import PipelineMessage

if TYPE_CHECKING:
    from docproc.apps.materials.authors.openai.client import Model

# Which answers a step was written with.
_STEPS = {log.EventType.SUMMARY_GENERATED: "summary", log.EventType.ASSESSMENT_GENERATED: "quiz"}


class Writer(Protocol):
    """An author at work on one material, whose text lies in a file."""

    async def summarise(self, path: Path, language: str) -> Summary: ...

    async def examine(self, path: Path, summary: Summary, language: str, questions: int) -> Quiz: ...


class Writing:
    """One piece of writing: who writes, and for how long."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._began = time.monotonic()

    async def summarise(self, path: Path, language: str) -> Summary:
        return await self._writer.summarise(path, language)

    async def examine(self, path: Path, summary: Summary, language: str, questions: int) -> Quiz:
        return await self._writer.examine(path, summary, language, questions)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began


class AuthorStage(MaterialStage):
    # A call of a model is paid for: no two workers may ask the same.
    exclusive = True
    runs_in = Where.PROCESSES

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._model: Model | None = None

    async def text_path(self, message: PipelineMessage) -> Path:
        return await self.blobs.fetch(message.payload["text_key"])

    def writing(self, message: PipelineMessage) -> Writing:
        """The author of this material, for one step of it."""
        return Writing(self._writer(message))

    def _writer(self, message: PipelineMessage) -> Writer:
        if not self.materials.asks_a_model:
            return OfflineWriter(self.offload)
        from docproc.apps.materials.authors.openai.asking import Asker  # its client, only where it is used
        from docproc.apps.materials.authors.openai.author import OpenAiAuthor

        kept = KeptAnswers(self.store, message, self.materials.materials_model, Budget(self.materials))
        asker = Asker(self.model(), kept, self.materials.materials_repairs)
        return ModelWriter(OpenAiAuthor(asker, self.materials))

    def model(self) -> Model:
        """Made once: its connections are kept."""
        if self._model is None:
            from docproc.apps.materials.authors.openai.client import Model

            self._model = Model(self.materials)
        return self._model

    async def teardown(self) -> None:
        if self._model is not None:
            await self._model.close()

    async def log(
        self,
        session: AsyncSession,
        message: PipelineMessage,
        order: Order,
        event_type: log.EventType,
        seconds: float,
    ) -> None:
        """What the step took; its answers are committed, so the message's own transaction sees them."""
        spent = await spent_by(session, message.request_id, _STEPS[event_type])
        log.record(
            session,
            event_type,
            tenant_id=message.tenant_id,
            material_id=order.material_id,
            request_id=message.request_id,
            duration_seconds=seconds,
            tokens=spent.tokens,
            cost_usd=spent.cost_usd,
        )
