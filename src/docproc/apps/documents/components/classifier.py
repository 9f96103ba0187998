"""classifier: the type of each page, and how sure that is; where it is not, a person is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components import asking, doubts
from docproc.apps.documents.components.asking import Ask, Question
from docproc.apps.documents.components.page_jobs import Found, classify_all
from docproc.apps.documents.rehearsal import SAMPLE
from docproc.apps.documents.schemas import schemas_of
from docproc.apps.documents.settings import models_folder
from docproc.apps.documents.statuses import DocumentsStatus
from docproc.apps.documents.store import pages
from docproc.apps.documents.tables import PageStatus
from docproc.apps.documents.understanding.classify import Classification
from docproc.apps.documents.understanding.types.document_type import Evidence
from docproc.engine.component import BACKOFFICE, NEXT, BatchComponent, Emission, Where
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import tasks
from docproc.engine.workflow.definition import Stage, Workflow

AUTOMATIC = "AUTO"
TASK_TYPE = "classification"


class Classifier(BatchComponent):
    """Below the stage's `confidence_threshold` (else the setting) a page waits for a person.

    Where nobody can be asked (no `backoffice_queue`, or DOCPROC_REVIEW=flag) it goes on, and its document is
    marked; so it does where nobody can answer in time, and then a person's answer amends.
    """

    component_name = "classifier"
    takes = "page"
    status = DocumentsStatus.PROCESSING
    asks_people = True
    runs_in = Where.THREADS
    batch = 20

    async def setup(self) -> None:
        if self.settings.warm_up:
            await self.offload(classify_all, [(None, SAMPLE, {})])

    async def process_messages(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        flows = [await self.workflow_of(message) for message in messages]
        async with self.store.reading() as reading:
            words = await pages.words(reading, [_page_id(message) for message in messages])
        wanted = [
            (words.get(_page_id(message)), message.payload.get("ocr_text", ""), _extra_types(flow))
            for message, flow in zip(messages, flows, strict=True)
        ]
        results = await self.offload(classify_all, wanted, models_folder(self.settings))
        questions = [
            self._question(message, flow.stage(message.current_stage), result)
            for message, flow, result in zip(messages, flows, results, strict=True)
        ]
        asks = await asking.before_handling(self.store, TASK_TYPE, questions, utc_now())
        rows = [
            _row(message, result, ask) for message, result, ask in zip(messages, results, asks, strict=True)
        ]
        await pages.change_many(session, rows)
        return [
            [await _emission(session, message, kind, ask)]
            for message, (kind, _), ask in zip(messages, results, asks, strict=True)
        ]

    def _question(self, message: PipelineMessage, stage: Stage, result: Found) -> Question | None:
        classified, is_blank = result[0], "blank" in result[1]
        if is_blank and message.payload.get("file_page"):
            return None  # the back of the sheet before: grouping decides, and there is nothing to look at
        doubtful = doubts.is_below(classified.confidence, doubts.page_threshold(self.settings, stage))
        asks = doubtful and self.may_ask(message, stage)
        return Question(message, stage) if asks else None


def _row(message: PipelineMessage, result: Found, ask: Ask) -> dict[str, Any]:
    classified, said = result
    waits = ask is Ask.BEFORE
    return {
        "id": _page_id(message),
        "status": PageStatus.IN_REVIEW if waits else PageStatus.CLASSIFIED,
        "doc_type": classified.doc_type,
        "classification_confidence": round(classified.confidence, 4),
        "marks": said,
        "origin": None if waits else AUTOMATIC,
    }


def _page_id(message: PipelineMessage) -> UUID:
    return pages.page_id(message.request_id, message.page_index or 0)


def _onward(message: PipelineMessage, classified: Classification, **more: str) -> PipelineMessage:
    kind = {"doc_type": classified.doc_type, "classification_confidence": round(classified.confidence, 4)}
    return message.model_copy(update={"payload": {**message.payload, **kind, **more}})


async def _emission(
    session: AsyncSession, message: PipelineMessage, classified: Classification, ask: Ask
) -> Emission:
    onward = _onward(message, classified)
    if ask is Ask.NOBODY:
        return NEXT, onward
    seen = {
        "page_index": message.page_index,
        "file_index": message.file_index,
        "ocr_text": message.payload.get("ocr_text", ""),
        "suggested_type": classified.doc_type,
        "confidence": round(classified.confidence, 4),
        "scores": {kind: round(score, 4) for kind, score in classified.scores.items()},
    }
    task_id = await tasks.create(
        session,
        onward,
        task_type=TASK_TYPE,
        reference_id=_page_id(message),
        input_data=seen,
        amends=ask is Ask.AFTER,
    )
    if ask is Ask.AFTER:
        return NEXT, onward
    return BACKOFFICE, _onward(message, classified, task_id=str(task_id))


def _extra_types(flow: Workflow) -> dict[str, Sequence[str] | Evidence]:
    """Types that the workflow tells by keywords or other evidence."""
    return {name: schema.told_by for name, schema in schemas_of(flow).items() if schema.told_by}
