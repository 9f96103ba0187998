"""classifier: the type of each page, and how sure that is; where it is not, a person is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components import asking, doubts, type_memory
from docproc.apps.documents.components.asking import Ask, Question
from docproc.apps.documents.components.page_context import in_context
from docproc.apps.documents.components.page_jobs import Found, classify_all
from docproc.apps.documents.components.recollection import Recollection, keys_of
from docproc.apps.documents.rehearsal import SAMPLE
from docproc.apps.documents.schemas import schemas_of
from docproc.apps.documents.settings import models_folder
from docproc.apps.documents.statuses import DocumentsStatus
from docproc.apps.documents.store import pages
from docproc.apps.documents.tables import PageStatus
from docproc.apps.documents.understanding.classify import Classification
from docproc.apps.documents.understanding.types.document_type import Evidence
from docproc.engine.component import BACKOFFICE, NEXT, BatchComponent, Context, Emission, Where
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import tasks
from docproc.engine.workflow.definition import Stage, Workflow

AUTOMATIC = "AUTO"
# Only what a person says is certain: where every page is asked about (threshold 1), neighbours settle none.
MOST_SURE = 0.999
TASK_TYPE = "classification"


class Classifier(BatchComponent):
    """Below the stage's `confidence_threshold` (else the setting) a page waits for a person, unless the pages
    around it, as far as they are known, make its document's type sure.

    Where nobody can be asked (no `backoffice_queue`, or DOCPROC_REVIEW=flag) it goes on, and its document is
    marked; so it does where nobody can answer in time, and then a person's answer amends.
    """

    component_name = "classifier"
    takes = "page"
    status = DocumentsStatus.PROCESSING
    asks_people = True
    runs_in = Where.THREADS
    batch = 20

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._recollection = Recollection(self.store, lambda words: self.offload(keys_of, words))

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
        results, questions = await self._remembered(words, results, questions)
        questions = await self._beside_neighbours(messages, results, questions)
        asks = await asking.before_handling(self.store, TASK_TYPE, questions, utc_now())
        rows = [
            _row(message, result, ask) for message, result, ask in zip(messages, results, asks, strict=True)
        ]
        await pages.change_many(session, rows)
        return [
            [await _emission(session, message, kind, ask)]
            for message, (kind, _), ask in zip(messages, results, asks, strict=True)
        ]

    async def _remembered(
        self, words: Mapping[UUID, bytes], results: Sequence[Found], questions: Sequence[Question | None]
    ) -> tuple[list[Found], list[Question | None]]:
        """Doubtful pages that look like one whose type a person gave are of that type; nobody is asked."""
        found, left = list(results), list(questions)
        asked = [n for n, q in enumerate(questions) if q and words.get(_page_id(q.message))]
        if not asked:
            return found, left
        tenants = [q.message.tenant_id for n in asked if (q := questions[n])]
        seen = [words[_page_id(q.message)] for n in asked if (q := questions[n])]
        told = await self._recollection.types(tenants, seen)
        types = await self.offload(type_memory.remembered, list(zip(seen, told, strict=True)))
        for number, doc_type in zip(asked, types, strict=True):
            if doc_type is not None:
                found[number], left[number] = type_memory.as_remembered(found[number], doc_type), None
        return found, left

    async def _beside_neighbours(
        self,
        messages: Sequence[PipelineMessage],
        results: Sequence[Found],
        questions: Sequence[Question | None],
    ) -> list[Question | None]:
        """Without questions about later pages that the pages known around them answer."""
        later = {q.message.request_id for q in questions if q and q.message.payload.get("file_page")}
        sure: dict[UUID, dict[int, float]] = {}
        for request_id in later:
            async with self.store.reading() as reading:
                rows = await pages.of_request(reading, request_id)
            own = zip(messages, results, strict=True)
            found = {m.page_index or 0: result for m, result in own if m.request_id == request_id}
            sure[request_id] = await self.offload(in_context, rows, found, models_folder(self.settings))
        return [
            None if q and self._is_answered(q, sure.get(q.message.request_id, {})) else q for q in questions
        ]

    def _is_answered(self, question: Question, sure: dict[int, float]) -> bool:
        message = question.message
        told = sure.get(message.page_index or 0, 0.0) if message.payload.get("file_page") else 0.0
        told = min(told, MOST_SURE)
        return not doubts.is_below(told, doubts.page_threshold(self.settings, question.stage))

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
