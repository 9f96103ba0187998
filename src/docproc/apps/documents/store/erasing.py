"""Erasing a request's documents: files, pages and documents, and what people said and taught about them."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import delete, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.tables import Correction, Document, File, Layout, LayoutKey, Page


async def erase(session: AsyncSession, request_id: UUID) -> None:
    """In the transaction that erases the request."""
    # Corrections and layouts outlive documents that were grouped anew: what they are of, corrections know.
    standing = await session.scalars(select(Document.id).where(Document.request_id == request_id))
    corrected = await session.scalars(
        select(Correction.document_id).where(Correction.request_id == request_id).distinct()
    )
    documents = {document_id for document_id in (*standing, *corrected) if document_id is not None}
    for table in (LayoutKey, Layout):
        await session.execute(delete(table).where(table.document_id.in_(documents)))
    spoken_of = or_(Correction.request_id == request_id, Correction.document_id.in_(documents))
    await session.execute(delete(Correction).where(spoken_of))
    for owned in (Page, Document, File):
        await session.execute(delete(owned).where(owned.request_id == request_id))
