"""Correcting a finished request: types, page grouping, fields; the flow itself amends its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import App
from docproc.apps.documents.review import extraction, grouping, tables, typed
from docproc.apps.documents.review.extraction import FieldsAnswer
from docproc.apps.documents.review.grouping import Grouping
from docproc.apps.documents.schemas import SchemaField, schemas_of
from docproc.apps.documents.store import corrections, documents, pages, supervised
from docproc.apps.documents.store.corrections import Review
from docproc.apps.documents.tables import Document, DocumentStatus
from docproc.apps.documents.understanding.memory.examples import same
from docproc.engine.message import PipelineMessage, child_key
from docproc.engine.store import events, requests, tasks
from docproc.engine.store.tables import Message, Request
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.engine.transport import Copy
from docproc.engine.workflow.definition import Workflow
from docproc.engine.workflow.plan import Plan, Step
from docproc.errors import InvalidAnswerError, RequestConflictError, UnknownRequestError
from docproc.people.audit import Change, change

GROUPING, COLLECTING = "classification_aggregator", "extraction_aggregator"
# What a wait for an amendment under way sounds like.
UNDER_WAY = "something is still being done for this request"


@dataclass(frozen=True, slots=True)
class Opened:
    """A request as a supervisor sees it, with the flow it went through."""

    request: Request
    plan: Plan
    documents: Sequence[Document]
    pages: Sequence[Row[Any]]

    @property
    def counts(self) -> dict[str, int]:
        """As messages carry them."""
        return {"page_count": len(self.pages), "document_count": len(self.documents)}

    @property
    def flow(self) -> Workflow:
        return self.plan.workflow

    def document(self, document_id: UUID) -> Document:
        document = next((one for one in self.documents if one.id == document_id), None)
        if document is None:
            raise RequestConflictError(
                "this document is no longer there", remedy="Load the page again: it was regrouped"
            )
        return document

    def schema(self, document: Document) -> tuple[SchemaField, ...]:
        schema = schemas_of(self.flow).get(document.doc_type or "")
        return schema.fields if schema else ()

    def step(self, component: str) -> Step | None:
        return next((s for s in self.plan.steps.values() if s.stage.component == component), None)

    @property
    def can_regroup(self) -> bool:
        step = self.step(GROUPING)
        return step is not None and not step.stage.options.get("doc_type")


@dataclass(frozen=True, slots=True)
class Amendment:
    """A correction ready to be written: nothing is computed once the transaction has begun."""

    operator: Operator
    reviews: Sequence[Review]
    message: PipelineMessage
    changes: Sequence[Change]
    apply: Callable[[AsyncSession], Awaitable[Mapping[str, Any]]]  # returns the late unit's payload


class Amending:
    """One per process. Each correction is one transaction; workers make the next version of the answer."""

    def __init__(self, application: App) -> None:
        self.application = application
        self.store = application.store

    async def open(self, request_id: UUID, tenant_id: str) -> Opened:
        """Raises UnknownRequestError, also for a request of somebody else's."""
        async with self.store.reading() as session:
            mine = (Request.id == request_id, Request.tenant_id == tenant_id)
            request = await session.scalar(select(Request).where(*mine))
            if request is None:
                raise UnknownRequestError(f"there is no request {request_id}", remedy="Search for it")
            stored = await documents.of_request(session, request_id)
            rows = await pages.of_request(session, request_id)
        router = await self.application.versions.router(_message(request, "", ""))
        return Opened(request, router.plan, stored, rows)

    async def _finished(self, request_id: UUID, operator: Operator) -> Opened:
        opened = await self.open(request_id, operator.tenant_id)
        _check_finished(opened.request)
        return opened

    async def fields(
        self, request_id: UUID, document_id: UUID, said: Mapping[str, Any], operator: Operator
    ) -> None:
        """Other values for some of a document's fields; raises InvalidAnswerError by field."""
        opened = await self._finished(request_id, operator)
        document = opened.document(document_id)
        asked = question(opened, document)
        schema = extraction.schema_of(asked)
        values = typed.values(schema, said, decimal_comma=operator.language == "es")
        answer = FieldsAnswer(_other_than(document, schema, values))
        review = await extraction.review(self.store, asked, answer, operator.username)
        if not answer.values:
            raise InvalidAnswerError("nothing was changed", remedy="Change a value first")

        async def apply(session: AsyncSession) -> Mapping[str, Any]:
            data = await extraction.apply_fields(session, asked, answer)
            doubts = [name for name in document.needs_review or () if name not in answer.values]
            await documents.change_many(session, [{"id": document.id, "needs_review": doubts}])
            fields = await session.scalar(select(Document.fields).where(Document.id == document.id))
            now_is = supervised.Corrected(document.id, answer.values, fields or {}, data)
            await supervised.narrow_questions(session, now_is)
            return {"extracted_data": data, "extraction_confidence": 1.0, "origin": "BACKOFFICE"}

        message = _unit_of_document(opened, document)
        changes = [change(n, _read(document, n), value) for n, value in answer.values.items()]
        await self._amend(opened, Amendment(operator, [review] if review else [], message, changes, apply))

    async def regroup(self, request_id: UUID, said: grouping.Said, operator: Operator) -> None:
        """Where documents begin, and of what type they are; raises InvalidAnswerError by page."""
        opened = await self._finished(request_id, operator)
        step = opened.step(GROUPING)
        if step is None or not opened.can_regroup:
            raise RequestConflictError(
                "this workflow neither classifies nor groups pages", remedy="Correct the fields instead"
            )
        wanted = grouping.plan(request_id, opened.pages, opened.documents, said, opened.flow)
        if not wanted.changes:
            raise InvalidAnswerError("nothing was changed", remedy="Change a type or a boundary first")
        async with self.store.reading() as session:
            reviews = await grouping.reviews(session, opened.request, wanted, operator.username)
        first = wanted.first_changed
        message = _message(
            opened.request, step.previous[0], f"page:{first}", page_index=first, **opened.counts
        )

        async def apply(session: AsyncSession) -> Mapping[str, Any]:
            return await _regrouped(session, wanted)

        await self._amend(opened, Amendment(operator, reviews, message, wanted.changes, apply))

    async def _amend(self, opened: Opened, amendment: Amendment) -> None:
        async with self.store.writing() as session:
            copies = await self._write(session, opened.request.id, amendment)
        await self.application.relay.hand_over(copies)

    async def _write(self, session: AsyncSession, request_id: UUID, amendment: Amendment) -> list[Copy]:
        await _check_quiet(session, request_id)
        for review in amendment.reviews:
            await corrections.record(session, review)
        payload = dict(await amendment.apply(session))
        await _note(session, amendment)
        message = amendment.message.model_copy(update={"payload": payload})
        return await self.application.outbox.resume(session, message)


async def _check_quiet(session: AsyncSession, request_id: UUID) -> None:
    """One amendment after another: the later generation of a join must not overtake the earlier one.

    The request's row is locked, and whatever is under way for it has a message row.
    """
    _check_finished(await requests.locked(session, request_id))
    mine = (Message.request_id == request_id, Message.queue.not_like("q.backoffice%"))
    waiting = Document.request_id == request_id, Document.status == DocumentStatus.IN_REVIEW
    for query in (select(Message.id).where(*mine), select(Document.id).where(*waiting)):
        if (await session.execute(query.limit(1))).first() is not None:
            raise RequestConflictError(UNDER_WAY, remedy="Try again in a moment")


def _check_finished(request: Request | None) -> None:
    if request is None or request.completed_at is None:
        raise RequestConflictError(
            "this request is not finished", remedy="Answer its tasks, or wait until it is"
        )


def question(opened: Opened, document: Document) -> BackofficeTask:
    """What a task about this document would ask; it is never stored."""
    return BackofficeTask(
        id=document.id,
        task_type="extraction",
        tenant_id=document.tenant_id,
        request_id=document.request_id,
        reference_id=document.id,
        input_data={
            "schema": [field.model_dump() for field in opened.schema(document)],
            "fields": document.fields or {},
            "extracted_data": document.extracted_data or {},
            "doc_type": document.doc_type,
            "page_indices": list(document.page_indices or ()),
            "review": list(document.needs_review or ()),
        },
    )


def _read(document: Document, name: str) -> Any:
    return ((document.fields or {}).get(name) or {}).get("value")


def _other_than(
    document: Document, schema: Mapping[str, SchemaField], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Only what differs: a form sends every field."""
    return {
        name: value
        for name, value in values.items()
        if not _is_same(value, _read(document, name), schema[name].type)
    }


def _is_same(one: Any, other: Any, type_: str) -> bool:
    return tables.is_same(one, other) if type_ == "table" else same(one, other, type_)


def _unit_of_document(opened: Opened, document: Document) -> PipelineMessage:
    """The document as it would come from extraction: late, so the answer is made anew."""
    join = opened.step(COLLECTING)
    if join is None:
        raise RequestConflictError("this workflow does not collect documents", remedy="Process it again")
    before = opened.plan.step(join.previous[0])
    indices = document.page_indices
    local = f"page:{indices[0]}" if before.unit == "page" else f"document:{indices[0]}-{indices[-1]}"
    return _message(opened.request, before.name, local, document_id=document.id, **opened.counts)


def _message(request: Request, stage: str, local: str, **values: Any) -> PipelineMessage:
    return PipelineMessage(
        request_id=request.id,
        trace_id=request.trace_id or uuid4(),
        tenant_id=request.tenant_id,
        workflow_name=request.workflow_name,
        workflow_version=request.workflow_version,
        current_stage=stage,
        source_component="backoffice",
        unit_key=child_key("", local),
        priority=request.priority,
        deadline_utc=request.deadline_utc,
        **values,
    )


async def _regrouped(session: AsyncSession, wanted: Grouping) -> Mapping[str, Any]:
    await pages.change_many(session, wanted.page_rows())
    # Nobody need say of what type these pages are, or where they begin.
    settled = [pages.page_id(wanted.request_id, index) for one in wanted.new for index in one.indices]
    await tasks.withdraw_amendments(session, settled, "corrected")
    return {"splits": {str(page): begins for page, begins in wanted.begins.items()}}


async def _note(session: AsyncSession, amendment: Amendment) -> None:
    told = {"operator": amendment.operator.username, "changes": list(amendment.changes)}
    if amendment.message.document_id is not None:
        told["document_id"] = str(amendment.message.document_id)
    note = events.Event(
        amendment.message.request_id,
        "correction",
        tenant_id=amendment.message.tenant_id,
        stage=amendment.message.current_stage,
        unit_key=amendment.message.unit_key,
        outcome="amended",
        data=told,
    )
    await events.record(session, [note])
