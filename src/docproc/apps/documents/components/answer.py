"""The answer about documents: complete at the end of the flow, or partial with what is still missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components import doubts
from docproc.apps.documents.store import documents, duplicates, pages
from docproc.apps.documents.tables import Document, DocumentStatus, File, Page
from docproc.engine.message import PipelineMessage
from docproc.engine.store import fan_in, missing
from docproc.engine.store.missing import Entry, Why

FAILED = "failed"
# Why a page that nobody works on is in no document yet.
UNGROUPED = "waits until the pages beside it are known"


async def complete(session: AsyncSession, message: PipelineMessage, now: datetime) -> dict[str, Any]:
    """All that was found: what is missing has failed for good, or an amendment has it under way."""
    stored = await documents.of_request(session, message.request_id)
    failed = await fan_in.failures(session, message.request_id)
    lost = [{"unit": f["unit"], "reason": Why.FAILED.value, "detail": f["error"]} for f in failed]
    on_its_way: list[Entry] = []
    told = []
    before = await duplicates.earlier(session, message.tenant_id, stored)
    for document, entry in await _with_entries(session, message.request_id, stored, now):
        is_done = document.status == DocumentStatus.COMPLETED
        result = document_result(document, document.status if is_done or entry else FAILED)
        told.append(result | ({"duplicate_of": before[document.id]} if document.id in before else {}))
        on_its_way += [entry] if entry else []
    still = missing.in_order([*lost, *on_its_way])
    return await _result(session, message, told, still, is_partial=bool(on_its_way))


async def _with_entries(
    session: AsyncSession, request_id: UUID, stored: Sequence[Document], now: datetime
) -> list[tuple[Document, Entry | None]]:
    """Each document with why it is not done, where somebody is still at it."""
    if all(document.status == DocumentStatus.COMPLETED for document in stored):
        return [(document, None) for document in stored]
    entries = {
        entry["unit"]: entry
        for entry in await missing.missing(session, request_id, now)
        if entry["reason"] != Why.FAILED
    }
    return [
        (one, None if one.status == DocumentStatus.COMPLETED else entries.get(_unit(one, entries)))
        for one in stored
    ]


async def partial(session: AsyncSession, message: PipelineMessage, now: datetime) -> dict[str, Any]:
    """What is there now, in the same shape, and what is not; reads no texts, whatever the size."""
    # What is missing is read first: a document that is done meanwhile is told as done, never left out.
    entries = {entry["unit"]: entry for entry in await missing.missing(session, message.request_id, now)}
    indices = await _page_indices(session, message.request_id)
    stored = await documents.of_request(session, message.request_id)
    grouped = {index for document in stored for index in document.page_indices}
    for index in indices:
        if index not in grouped:
            waiting = {"unit": f"page:{index}", "reason": Why.QUEUED.value, "detail": UNGROUPED}
            entries.setdefault(waiting["unit"], waiting)
    told, lacking = [], []
    for document in stored:
        unit = _unit(document, entries)
        entry = entries.pop(unit, None)
        told.append(document_result(document, _status(document, entry)))
        lacking += _lacking(document, unit, entry)
    still = missing.in_order([*entries.values(), *lacking])
    return await _result(session, message, told, still, is_partial=True)


async def _result(
    session: AsyncSession,
    message: PipelineMessage,
    told: Sequence[dict[str, Any]],
    lacking: Sequence[Entry],
    *,
    is_partial: bool,
) -> dict[str, Any]:
    files = await pages.files(session, message.request_id)
    return {
        "request_id": str(message.request_id),
        "workflow": message.workflow_name,
        "partial": is_partial,
        "total_pages": sum(file.page_count for file in files),
        "total_documents": len(told),
        "documents": list(told),
        "files": [file_result(file) for file in files],
        "missing": list(lacking),
    }


async def _page_indices(session: AsyncSession, request_id: UUID) -> list[int]:
    """All pages. Nothing but an index is read: the rows are large."""
    return list(await session.scalars(select(Page.page_index).where(Page.request_id == request_id)))


def _unit(document: Document, entries: Mapping[str, Entry]) -> str:
    """As its messages call it: in a flow that does not group, a page by itself is the document."""
    indices = document.page_indices or [0]
    first, last = indices[0], indices[-1]
    name, alone = f"document:{first}-{last}", f"page:{first}"
    is_page = first == last and name not in entries and alone in entries
    return alone if is_page else name


def _status(document: Document, entry: Entry | None) -> str:
    is_done = document.status == DocumentStatus.COMPLETED
    has_failed = entry is not None and entry["reason"] == Why.FAILED
    return FAILED if has_failed and not is_done else document.status


def _lacking(document: Document, unit: str, entry: Entry | None) -> list[Entry]:
    """What a document lacks: all of it, or the fields that somebody is asked about."""
    if document.status == DocumentStatus.COMPLETED:
        # Its message may still be on its way to the join, which changes nothing.
        return [entry] if entry and entry["reason"] != Why.QUEUED else []
    if document.status == DocumentStatus.PENDING:
        return [entry or {"unit": unit, "reason": Why.QUEUED.value}]
    if entry is None:  # asked for an amendment only
        return []
    if entry["reason"] == Why.FAILED:
        return [entry]
    return [{"unit": unit, "field": field, **entry} for field in document.needs_review or []] or [entry]


def document_result(document: Document, status: str) -> dict[str, Any]:
    return {
        "document_id": str(document.id),
        "doc_type": document.doc_type,
        "page_indices": document.page_indices,
        "extracted_data": document.extracted_data or {},
        "extraction_confidence": document.extraction_confidence,
        "status": status,
        "fields": document.fields or {},
        "needs_review": doubts.named(document.doubts, document.needs_review),
        "doc_type_confidence": document.doc_type_confidence,
        "boundary_confidence": document.boundary_confidence,
    }


def file_result(file: File) -> dict[str, Any]:
    return {
        "file_index": file.file_index,
        "name": file.name,
        "media_type": file.media_type,
        "page_count": file.page_count,
        "notes": file.notes,
        "problem": file.problem,
    }
