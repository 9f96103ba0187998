"""What documents tell of a request: pages, documents, and the files found in what was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.http.answers import DocumentsAnswer
from docproc.apps.documents.store import pages
from docproc.apps.documents.tables import REQUESTS, Document, DocumentStatus, Page, PageStatus
from docproc.engine.store.tables import Request
from docproc.http import models
from docproc.http.views import RequestView


class Counts(BaseModel):
    page_count: int | None = None
    document_count: int | None = None


class FileInfo(models.FileInfo):
    """A file of a request: as it was sent, or as it was found inside what was sent."""

    media_type: str | None = None
    page_count: int | None = Field(default=None, description="Empty until the file was split")
    notes: list[str] = Field(default_factory=list)
    problem: str | None = Field(default=None, description="Why it could not be read")
    skipped: bool = Field(default=False, description="It is no document, such as a signature inside a mail")


class Progress(models.Progress):
    pages_total: int | None
    pages_read: int
    pages_classified: int
    documents_total: int | None
    documents_done: int


class Details(BaseModel):
    files: list[FileInfo]
    progress: Progress


class DocumentsView(RequestView):
    status_model = Counts
    result_model = DocumentsAnswer
    detail_model = Details

    async def status(
        self, session: AsyncSession, request_ids: Sequence[UUID]
    ) -> Mapping[UUID, Mapping[str, Any]]:
        columns = (REQUESTS.c.id, REQUESTS.c.page_count, REQUESTS.c.document_count)
        rows = await session.execute(select(*columns).where(REQUESTS.c.id.in_(request_ids)))
        return {row.id: {"page_count": row.page_count, "document_count": row.document_count} for row in rows}

    async def detail(
        self, session: AsyncSession, request: Request, known: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        return {
            "files": await _files(session, request) or known["files"],
            "progress": {**known["progress"], **await _progress(session, request.id, known)},
        }


async def _progress(session: AsyncSession, request_id: UUID, known: Mapping[str, Any]) -> dict[str, Any]:
    page_counts = await _by_status(session, Page.status, Page.request_id == request_id)
    document_counts = await _by_status(session, Document.status, Document.request_id == request_id)
    page_count = sum(page_counts.values())
    said = known["page_count"]
    return {
        "pages_total": page_count or None if said is None else said,
        "pages_read": page_count - page_counts.get(PageStatus.PENDING_OCR, 0),
        "pages_classified": page_counts.get(PageStatus.CLASSIFIED, 0),
        "documents_total": known["document_count"],
        "documents_done": document_counts.get(DocumentStatus.COMPLETED, 0),
    }


async def _by_status(session: AsyncSession, column: Any, condition: Any) -> dict[str, int]:
    query = select(column, func.count()).where(condition).group_by(column)
    return {row[0]: row[1] for row in await session.execute(query)}


async def _files(session: AsyncSession, request: Request) -> list[dict[str, Any]]:
    """As they were found; none before the split."""
    return [
        {
            "name": file.name,
            "media_type": file.media_type,
            "page_count": file.page_count,
            "notes": list(file.notes or ()),
            "problem": file.problem,
            "skipped": file.skipped,
        }
        for file in await pages.files(session, request.id)
    ]


view = DocumentsView()
