"""extraction_aggregator: waits until every document has its fields, by machine or by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents import counting
from docproc.apps.documents.components import answer, doubts, stage_values
from docproc.apps.documents.schemas import ExtractionSchema, early_answer_of, schemas_of
from docproc.apps.documents.tables import Document, DocumentStatus
from docproc.engine.component import NEXT, Emission, JoinComponent
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import answers, fan_in, requests
from docproc.engine.store.fan_in import Join
from docproc.engine.store.missing import Why
from docproc.engine.store.tables import Request
from docproc.engine.workflow.definition import Workflow


class ExtractionAggregator(JoinComponent):
    """Only counts: the documents lie in the database, where the consolidator reads them. What a stage between
    extraction and this one has put into `extracted_data` is written there first.

    Where the workflow has `early_answer`, it also answers once, partially, as soon as that holds.
    """

    component_name = "extraction_aggregator"
    takes = ("document", "page")
    collects = "extraction"
    only_counts = "docproc.apps.documents.counting:counts_documents"

    async def before_join(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        arrived: dict[UUID, list[PipelineMessage]] = defaultdict(list)
        for message in messages:
            arrived[message.request_id].append(message)
        # In the order in which everybody locks requests: two workers with the same ones cannot deadlock.
        for request_id in sorted(arrived, key=str):
            flow = await self.workflow_of(arrived[request_id][0])
            if counting.may_differ(flow, flow.stage(arrived[request_id][0].current_stage)):
                await stage_values.take(session, self.settings, flow, arrived[request_id])
            if early_answer_of(flow) is not None:
                await self._answer_early(session, arrived[request_id], flow)
        return await super().before_join(messages, session)

    async def after_join(self, join: Join, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        whole: dict[str, Any] = {"document_id": None, "page_index": None, "payload": {}}
        return [(NEXT, message.model_copy(update=whole))]

    async def _answer_early(
        self, session: AsyncSession, messages: Sequence[PipelineMessage], flow: Workflow
    ) -> None:
        """In this transaction, hence once: the request's row is locked and has no answer yet.

        Not where the complete answer follows at once.
        """
        message = messages[-1]
        if not await _is_enough(session, messages, flow) or await self._is_complete(session, message):
            return
        payload = await answer.partial(session, message, utc_now())
        # All is found and only has to arrive here; what failed does not come.
        if all(entry["reason"] == Why.FAILED for entry in payload["missing"]):
            return
        request = await requests.locked(session, message.request_id)
        if request is None or request.answer_version or request.status in requests.TERMINAL:
            return
        given = answers.Given(request, payload, is_partial=True, reason=answers.Reason.EARLY)
        await answers.give(session, [given])

    async def _is_complete(self, session: AsyncSession, message: PipelineMessage) -> bool:
        """Whether every document has come, perhaps just now and some as failed."""
        state = fan_in.STATE.c
        query = select(state.id).where(
            state.request_id == message.request_id, state.stage == self.collects, state.is_complete
        )
        return (await session.execute(query)).first() is not None


async def _is_enough(session: AsyncSession, messages: Sequence[PipelineMessage], flow: Workflow) -> bool:
    """Whether there is a document without doubts of every type that the early answer needs.

    Only documents that have just come can change that, so the others are looked at only then.
    """
    early = early_answer_of(flow)
    wanted = set(early.types) if early else set()
    ids = [message.document_id for message in messages if message.document_id]
    request_id = messages[0].request_id
    new = await _settled_types(session, request_id, wanted, flow, Document.id.in_(ids)) if ids else set()
    return bool(new) and wanted - new <= await _settled_types(session, request_id, wanted - new, flow)


async def _settled_types(
    session: AsyncSession,
    request_id: UUID,
    types: Collection[str],
    flow: Workflow,
    *which: ColumnElement[bool],
) -> set[str]:
    """Of which of these types the request has a document that is settled; none once it was answered."""
    query = (
        select(Document.doc_type, Document.extracted_data, Document.needs_review, Document.doubts)
        .join(Request, Request.id == Document.request_id)
        .where(Request.id == request_id, Request.answer_version == 0, Document.doc_type.in_(types))
        .where(Document.status == DocumentStatus.COMPLETED, *which)
    )
    rows = await session.execute(query)
    return {
        row.doc_type
        for row in rows
        if not doubts.named(row.doubts, row.needs_review)
        and _has_required(row.extracted_data or {}, schemas_of(flow)[row.doc_type])
    }


def _has_required(data: Mapping[str, Any], schema: ExtractionSchema) -> bool:
    return all(data.get(field.name) is not None for field in schema.fields if field.required)
