"""Documents of a request: made by grouping pages, filled in by extraction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.store import pages
from docproc.apps.documents.tables import REQUESTS, Document, DocumentStatus, Page
from docproc.engine.message import utc_now
from docproc.engine.store import rows

TABLE: Any = Document.__table__
# The columns that say how sure a document's type and boundaries are, where nobody has said it.
UNKNOWN: dict[str, Any] = {"doc_type_confidence": None, "boundary_confidence": None, "doubts": []}


def document_id(request_id: UUID, doc_type: str, page_indices: Sequence[int]) -> UUID:
    """The same pages of the same type are the same document, whenever they are grouped."""
    return uuid5(request_id, f"document:{doc_type}:{','.join(map(str, page_indices))}")


async def known(session: AsyncSession, request_id: UUID) -> set[UUID]:
    return set(await session.scalars(select(Document.id).where(Document.request_id == request_id)))


class NewDocument(NamedTuple):
    """Pages that make up a document; `standing` has the columns that say how sure that is."""

    doc_type: str
    page_indices: Sequence[int]
    standing: Mapping[str, Any] = UNKNOWN


async def insert(
    session: AsyncSession,
    tenant_id: str,
    request_id: UUID,
    documents: Sequence[NewDocument | tuple[str, Sequence[int]]],
) -> None:
    """New documents, or only (type, page indices); their pages point at them from now on."""
    new = [NewDocument(*one) for one in documents]
    made = [(document_id(request_id, one.doc_type, one.page_indices), one) for one in new]
    common = {"tenant_id": tenant_id, "request_id": request_id, "status": DocumentStatus.PENDING}
    await rows.insert(
        session,
        TABLE,
        [
            {
                **common,
                "id": key,
                "doc_type": one.doc_type,
                "page_indices": list(one.page_indices),
                **one.standing,
            }
            for key, one in made
        ],
        on_conflict="nothing",
    )
    await pages.change_many(
        session,
        [
            {"id": pages.page_id(request_id, index), "document_id": key}
            for key, one in made
            for index in one.page_indices
        ],
    )


async def restate(
    session: AsyncSession, request_id: UUID, standing: Mapping[UUID, Mapping[str, Any]]
) -> set[UUID]:
    """How sure the type and boundaries of documents are now, by id; returns the ids of all there are."""
    columns = [TABLE.c[name] for name in UNKNOWN]
    before = await session.execute(select(TABLE.c.id, *columns).where(TABLE.c.request_id == request_id))
    stored = {row.id: dict(zip(UNKNOWN, row[1:], strict=True)) for row in before}
    changed = [
        {"id": key, **now_is}
        for key, now_is in standing.items()
        if key in stored and stored[key] != dict(now_is)
    ]
    await change_many(session, changed)
    return set(stored)


async def remove(session: AsyncSession, request_id: UUID, ids: Collection[UUID]) -> None:
    """Documents that a correction regrouped away; their pages already belong to others."""
    if not ids:
        return
    await session.execute(
        update(Page).where(Page.document_id.in_(ids)).values(document_id=None),
        execution_options={"synchronize_session": False},
    )
    await session.execute(
        delete(Document).where(Document.request_id == request_id, Document.id.in_(ids)),
        execution_options={"synchronize_session": False},
    )


async def is_there(session: AsyncSession, document_id: UUID | None) -> bool:
    return await session.scalar(select(Document.id).where(Document.id == document_id)) is not None


async def change_many(session: AsyncSession, changes: Sequence[Mapping[str, Any]]) -> None:
    """The same columns of many documents, found by `id`."""
    now = utc_now()
    await rows.update_many(session, TABLE, [{**change, "updated_at": now} for change in changes])


async def set_count(session: AsyncSession, request_id: UUID, number: int) -> None:
    await session.execute(update(REQUESTS).where(REQUESTS.c.id == request_id).values(document_count=number))


async def of_request(session: AsyncSession, request_id: UUID) -> list[Document]:
    """In page order."""
    query = select(Document).where(Document.request_id == request_id)
    stored = await session.scalars(query.execution_options(populate_existing=True))
    return sorted(stored, key=lambda document: (document.page_indices or [0])[0])
