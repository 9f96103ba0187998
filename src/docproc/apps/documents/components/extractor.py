"""extractor: the fields of a document, each with a confidence and the place it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components import asking, doubts, extracted
from docproc.apps.documents.components.asking import Ask, Question
from docproc.apps.documents.components.doubts import Standing, Thresholds
from docproc.apps.documents.components.extraction_jobs import Fields, Job, extract_all
from docproc.apps.documents.components.recollection import Recollection, Seeking, keys_of
from docproc.apps.documents.components.second_opinion import SecondOpinion
from docproc.apps.documents.language_model import LanguageModel
from docproc.apps.documents.rehearsal import rehearse_fields
from docproc.apps.documents.schemas import ExtractionSchema, SchemaField, schemas_of
from docproc.apps.documents.settings import DocumentsSettings, models_folder
from docproc.apps.documents.statuses import DocumentsStatus
from docproc.apps.documents.store import documents, pages
from docproc.apps.documents.store.documents import NewDocument
from docproc.apps.documents.tables import DocumentStatus
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.engine.component import BACKOFFICE, NEXT, BatchComponent, Context, Emission, Where
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import tasks
from docproc.engine.workflow.definition import Stage, Workflow
from docproc.errors import PermanentError

TASK_TYPE = "extraction"


class Extractor(BatchComponent):
    """Takes documents; or single pages, in a flow that neither classifies nor groups (option `doc_type`, or
    the workflow's only schema).

    A document with doubtful fields waits for a person; where nobody can answer in time it goes on with
    `needs_review`, and a person's answer amends.
    """

    component_name = "extractor"
    takes = ("document", "page")
    status = DocumentsStatus.EXTRACTING
    asks_people = True
    runs_in = Where.PROCESSES
    batch = 4

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        if self.settings.warm_up:  # else the first document of a type pays for its patterns
            self.warm_children(rehearse_fields, _asked_by(self.workflows()))
            self.warm_children(keys_of, ())
        self._recollection = Recollection(self.store, lambda words: self.offload(keys_of, words))
        # Asked only where an operator gave an address.
        own = self.settings.section(DocumentsSettings)
        model = LanguageModel(own) if own.llm_url else None
        self._second_opinion = SecondOpinion(model, self.offload) if model else None

    async def teardown(self) -> None:
        if self._second_opinion:
            await self._second_opinion.close()

    async def process_messages(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        subjects = [_subject(message, await self.workflow_of(message)) for message in messages]
        extractions = await self._extract(subjects)
        answers = [
            self._answer(subject, fields) for subject, fields in zip(subjects, extractions, strict=True)
        ]
        questions = [self._question(answer) for answer in answers]
        asks = await asking.before_handling(self.store, TASK_TYPE, questions, utc_now())
        for subject in subjects:
            if subject.message.document_id is None:  # a page by itself is a document, too
                await self._insert(session, subject)
        rows = [_row(answer, ask) for answer, ask in zip(answers, asks, strict=True)]
        await documents.change_many(session, rows)
        return [[await _emission(session, answer, ask)] for answer, ask in zip(answers, asks, strict=True)]

    def _question(self, answer: Answer) -> Question | None:
        message, stage = answer.subject.message, answer.subject.stage
        asks = answer.askable and self.may_ask(message, stage)
        return Question(message, stage) if asks else None

    def _answer(self, subject: Subject, fields: Fields) -> Answer:
        threshold = doubts.field_threshold(self.settings, subject.stage)
        fields = extracted.kept(subject.asked, fields, threshold)
        row = {
            "id": subject.document_id,
            "extracted_data": extracted.data(subject.asked, fields),
            "extraction_confidence": extracted.least(subject.asked, fields),
            "fields": extracted.evidence(fields, subject.indices),
            "needs_review": extracted.doubtful(subject.asked, fields, threshold),
        }
        return Answer(subject, row)

    async def _insert(self, session: AsyncSession, subject: Subject) -> None:
        """Nobody grouped it, but a classifier may have been unsure; a late page tells what a person said."""
        message = subject.message
        sure = message.payload.get("classification_confidence")
        standing = Standing() if sure is None else Standing(doc_type=float(sure))
        row = standing.row(Thresholds.of(self.settings, subject.flow))
        known = await documents.restate(session, message.request_id, {subject.document_id: row})
        if subject.document_id not in known:
            made = [NewDocument(subject.doc_type, subject.indices, row)]
            await documents.insert(session, message.tenant_id, message.request_id, made)

    async def _extract(self, subjects: Sequence[Subject]) -> Sequence[Fields]:
        ids = [page for subject in subjects if subject.asked for page in subject.page_ids]
        async with self.store.reading() as session:
            words = await pages.words(session, ids) if ids else {}
        packed = [[words.get(page) for page in subject.page_ids] for subject in subjects]
        examples = await self._recollection.examples(
            [Seeking(s.message.tenant_id, s.doc_type, p[0]) for s, p in zip(subjects, packed, strict=True)]
        )
        folder = models_folder(self.settings)
        jobs = [
            Job(
                subject.doc_type, subject.specs, own, subject.schema.rules, seen, folder, subject.schema.known
            )
            for subject, own, seen in zip(subjects, packed, examples, strict=True)
        ]
        if not ids:
            return [{} for _ in subjects]
        if self._second_opinion:
            return await self._second_opinion.extract(jobs, [self._doubt(one.stage) for one in subjects])
        return await self.offload(extract_all, jobs)

    def _doubt(self, stage: Stage) -> float | None:
        """Below which confidence a language model is asked; None where the stage wants none."""
        wanted = stage.options.get("language_model", True)
        return doubts.field_threshold(self.settings, stage) if wanted else None


@dataclass(frozen=True, slots=True)
class Subject:
    """What arrived: a document, or a page that is one by itself, and what is asked of it."""

    message: PipelineMessage
    flow: Workflow
    stage: Stage
    doc_type: str
    indices: tuple[int, ...]
    schema: ExtractionSchema

    @property
    def document_id(self) -> UUID:
        message = self.message
        made = documents.document_id(message.request_id, self.doc_type, self.indices)
        return message.document_id or made

    @property
    def page_ids(self) -> list[UUID]:
        return [pages.page_id(self.message.request_id, index) for index in self.indices]

    @property
    def asked(self) -> tuple[SchemaField, ...]:
        return self.schema.fields

    @property
    def specs(self) -> list[FieldSpec]:
        return [field.spec for field in self.asked]


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found, as it is stored."""

    subject: Subject
    row: dict[str, Any]

    @property
    def askable(self) -> list[str]:
        """The doubtful fields that a person is asked about."""
        return extracted.askable(self.subject.asked, self.row["needs_review"])


def _row(answer: Answer, ask: Ask) -> dict[str, Any]:
    waits = ask is Ask.BEFORE
    return {**answer.row, "status": DocumentStatus.IN_REVIEW if waits else DocumentStatus.COMPLETED}


async def _emission(session: AsyncSession, answer: Answer, ask: Ask) -> Emission:
    subject, row = answer.subject, answer.row
    payload = {
        "doc_type": subject.doc_type,
        "page_indices": list(subject.indices),
        "extracted_data": row["extracted_data"],
        "extraction_confidence": row["extraction_confidence"],
    }
    onward = subject.message.model_copy(update={"document_id": subject.document_id, "payload": payload})
    if ask is Ask.NOBODY:
        return NEXT, onward
    seen = {
        **payload,
        "document_id": str(subject.document_id),
        "fields": row["fields"],
        "review": answer.askable,
        "schema": [field.model_dump() for field in subject.asked],
    }
    task_id = await tasks.create(
        session,
        onward,
        task_type=TASK_TYPE,
        reference_id=subject.document_id,
        input_data=seen,
        amends=ask is Ask.AFTER,
    )
    if ask is Ask.AFTER:
        return NEXT, onward
    return BACKOFFICE, onward.model_copy(update={"payload": {**payload, "task_id": str(task_id)}})


def _asked_by(flows: Sequence[Workflow]) -> list[tuple[str, list[FieldSpec]]]:
    """The types of these flows, each with the fields that a flow asks for; the same ones only once."""
    asked: list[tuple[str, list[FieldSpec]]] = []
    for flow in flows:
        for doc_type, schema in schemas_of(flow).items():
            one = (doc_type, [field.spec for field in schema.fields])
            if one not in asked:
                asked.append(one)
    return asked


def _subject(message: PipelineMessage, flow: Workflow) -> Subject:
    stage = flow.stage(message.current_stage)
    indices = message.payload.get("page_indices")
    indices = (message.page_index or 0,) if indices is None else indices
    doc_type = message.payload.get("doc_type") or stage.options.get("doc_type")
    schemas = schemas_of(flow)
    if doc_type is None and len(schemas) == 1:
        doc_type = next(iter(schemas))
    if doc_type is None:
        raise PermanentError(
            f"nobody said of what type the pages of stage {stage.name!r} are",
            remedy="Add a classifier before it, or `options: {doc_type: …}` to the stage",
        )
    schema = schemas.get(str(doc_type)) or ExtractionSchema(fields=())
    return Subject(message, flow, stage, str(doc_type), tuple(indices), schema)
