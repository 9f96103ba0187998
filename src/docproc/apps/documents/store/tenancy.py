"""What documents count for a tenant's quota, and what their rows say of people."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.tables import Correction, Document, File, Page
from docproc.engine.store import mentions
from docproc.engine.store.tables import Request


async def units(
    session: AsyncSession, tenant_id: str, since: datetime, request_id: UUID | None = None
) -> int:
    """Pages of the requests that a tenant sent since then (docproc.engine.running.quotas.CountUnits)."""
    query = (
        select(func.sum(File.page_count))
        .join(Request, Request.id == File.request_id)
        .where(Request.tenant_id == tenant_id, Request.created_at >= since)
    )
    if request_id is not None:
        query = query.where(Request.id == request_id)
    return int(await session.scalar(query) or 0)


async def texts(session: AsyncSession, tenant_id: str | None) -> AsyncIterator[tuple[UUID, str]]:
    """What was read, extracted and corrected, and how files are called."""
    for request_id, columns in (
        (Page.request_id, (Page.ocr_text, Page.marks)),
        (Document.request_id, (Document.extracted_data, Document.fields)),
        (Correction.request_id, (Correction.value_before, Correction.value_after, Correction.file_name)),
        (File.request_id, (File.name,)),
    ):
        async for found in mentions.texts(session, tenant_id, request_id, columns):
            yield found
