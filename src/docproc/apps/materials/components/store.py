"""material_store: both documents are stored, then the rows that other systems look at, and the request
ends."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import ClassVar

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials import links, log, notices
from docproc.apps.materials.answers import Spent, spent_by
from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.stored import ProcessingMetadata
from docproc.apps.materials.content.summary import Summary
from docproc.apps.materials.errors import DocumentsDownError
from docproc.apps.materials.metrics import MATERIALS, SECONDS
from docproc.apps.materials.review import asking
from docproc.apps.materials.stage import MaterialStage
from docproc.apps.materials.store import NewDocument
from docproc.apps.materials.stores.choosing import open_store
from docproc.apps.materials.tables import LinkStatus
from docproc.engine.component import NEXT, Context, Emission
from docproc.engine.message import PipelineMessage, utc_now

# Materials that are stored in one transaction.
_TOGETHER = 10


class StoreStage(MaterialStage):
    component_name: ClassVar[str] = "material_store"
    routing_key = "material.store"
    status = "storing"
    asks_people = True

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.documents = open_store(self.settings, self.store)
        # Documents in this database are part of the transaction: a light stage, done in the one before's. Two
        # workers that store one material at once would both write to a document database.
        self.exclusive = self.documents.is_elsewhere  # type: ignore[misc] # of this process
        self.batch = 1 if self.documents.is_elsewhere else _TOGETHER  # type: ignore[misc] # as above
        self._copying: set[asyncio.Task[None]] = set()

    async def setup(self) -> None:
        await self.documents.prepare()

    async def teardown(self) -> None:
        await asyncio.gather(*self._copying, return_exceptions=True)
        await self.documents.close()

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        order = self.order(message)
        summary = Summary.model_validate(message.payload["summary"])
        quiz = Quiz.model_validate(message.payload["quiz"])
        metadata = self._metadata(message, quiz, await self._spent(message, session))
        tenant_id, material_id = message.tenant_id, order.material_id
        asks = self.may_ask(message, await self.stage_of(message))
        # Documents first: what they say of themselves must never be behind what the rows say of them.
        stored = await self.documents.put(session, NewDocument(tenant_id, material_id, summary, metadata))
        assessed = await self.documents.put(session, NewDocument(tenant_id, material_id, quiz, metadata))
        await links.say(
            session,
            tenant_id,
            material_id,
            LinkStatus.COMPLETED,
            request_id=message.request_id,
            summary=stored,
        )
        await links.say_assessment(session, tenant_id, order, assessed, quiz.title, len(quiz.questions))
        if assessed.version > 1:  # about a first quiz nobody can have been asked before
            await asking.withdraw(session, tenant_id, material_id)
        if asks:
            await asking.ask(session, message, material_id, quiz)
        self._tell(session, message, metadata, assessed.version, len(quiz.questions))
        result = {
            "partial": False,
            "missing": [],
            "material_id": material_id,
            "version": assessed.version,
            "summary": summary.model_dump(mode="json"),
            "assessment": quiz.model_dump(mode="json"),
            "processing_metadata": metadata.model_dump(mode="json"),
        }
        return [(NEXT, message.model_copy(update={"payload": result}))]

    async def _spent(self, message: PipelineMessage, session: AsyncSession) -> Spent:
        """Documents elsewhere are written before the message's own transaction begins."""
        if not self.documents.is_elsewhere:
            return await spent_by(session, message.request_id)
        async with self.store.reading() as reading:
            return await spent_by(reading, message.request_id)

    def _metadata(self, message: PipelineMessage, quiz: Quiz, spent: Spent) -> ProcessingMetadata:
        return ProcessingMetadata(
            request_id=str(message.request_id),
            generator=quiz.generator,
            model=spent.model,
            prompt_tokens=spent.prompt_tokens,
            completion_tokens=spent.completion_tokens,
            estimated_cost_usd=round(spent.cost_usd, 6),
            duration_seconds=round((utc_now() - message.created_at).total_seconds(), 3),
        )

    def _tell(
        self,
        session: AsyncSession,
        message: PipelineMessage,
        metadata: ProcessingMetadata,
        version: int,
        questions: int,
    ) -> None:
        order = self.order(message)
        log.record(
            session,
            log.EventType.PROCESSING_COMPLETED,
            tenant_id=message.tenant_id,
            material_id=order.material_id,
            request_id=message.request_id,
            duration_seconds=metadata.duration_seconds,
            tokens=metadata.prompt_tokens + metadata.completion_tokens,
            cost_usd=metadata.estimated_cost_usd,
            data={"version": version, "questions": questions, "generator": metadata.generator},
        )
        notices.add(session, self.settings, message, order, notices.completed(order, version, questions))
        after = session.info.setdefault("after_commit", [])
        after.append(MATERIALS.labels("completed").inc)
        after.append(lambda: SECONDS.observe(metadata.duration_seconds))
        if self.documents.is_elsewhere:
            after.append(lambda: self._copy_log(message))

    def _copy_log(self, message: PipelineMessage) -> None:
        """After the commit, into a store with a log of its own; the table is the log that counts."""
        task = asyncio.create_task(self._copied(message))
        self._copying.add(task)
        task.add_done_callback(self._copying.discard)

    async def _copied(self, message: PipelineMessage) -> None:
        async with self.store.reading() as session:
            entries = await log.of_request(session, message.request_id)
        with suppress(DocumentsDownError):
            await self.documents.log(message.tenant_id, entries)
