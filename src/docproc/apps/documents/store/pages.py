"""Pages of a request: written by the splitter, filled in by the stages after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import select
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.tables import File, Page
from docproc.engine.message import utc_now
from docproc.engine.store import rows

TABLE: Any = Page.__table__
FILES: Any = File.__table__


def page_id(request_id: UUID, page_index: int) -> UUID:
    """A page has the same id however often its file is split."""
    return uuid5(request_id, f"page:{page_index}")


async def insert(session: AsyncSession, pages: Sequence[dict[str, Any]]) -> None:
    """Rows of new pages; those that are there already (a split begun anew) stay as they are."""
    await rows.insert(session, TABLE, pages, on_conflict="nothing")


async def insert_files(session: AsyncSession, files: Sequence[dict[str, Any]]) -> None:
    await rows.insert(session, FILES, files, on_conflict="nothing")


async def change_many(session: AsyncSession, changes: Sequence[Mapping[str, Any]]) -> None:
    """The same columns of many pages, found by `id`."""
    now = utc_now()
    await rows.update_many(session, TABLE, [{**change, "updated_at": now} for change in changes])


async def of_request(session: AsyncSession, request_id: UUID) -> list[Row[Any]]:
    """What grouping needs to know of all pages, in order; no texts."""
    query = (
        select(
            Page.id, Page.page_index, Page.file_index, Page.status, Page.doc_type, Page.document_id,
            Page.marks, Page.classification_confidence, Page.origin,
        )
        .where(Page.request_id == request_id)
        .order_by(Page.page_index)
    )  # fmt: skip
    return list(await session.execute(query))


async def texts(session: AsyncSession, request_id: UUID, indices: Sequence[int]) -> dict[int, str]:
    query = select(Page.page_index, Page.ocr_text).where(
        Page.request_id == request_id, Page.page_index.in_(indices)
    )
    return {row.page_index: row.ocr_text or "" for row in await session.execute(query)}


async def words(session: AsyncSession, page_ids: Sequence[UUID]) -> dict[UUID, bytes]:
    """The packed words of pages that were read."""
    query = select(Page.id, Page.words).where(Page.id.in_(page_ids), Page.words.is_not(None))
    return {row.id: row.words for row in await session.execute(query)}


async def files(session: AsyncSession, request_id: UUID) -> list[File]:
    query = select(File).where(File.request_id == request_id).order_by(File.file_index)
    return list(await session.scalars(query))


@dataclass(frozen=True, slots=True)
class FilePage:
    """Where a page's picture comes from."""

    blob_key: str | None
    file_page: int
    rotation: int


async def place(session: AsyncSession, request_id: UUID, page_index: int) -> FilePage | None:
    query = (
        select(File.blob_key, Page.file_page, Page.rotation)
        .join(File, (File.request_id == Page.request_id) & (File.file_index == Page.file_index))
        .where(Page.request_id == request_id, Page.page_index == page_index)
    )
    row = (await session.execute(query)).first()
    return FilePage(*row) if row else None
