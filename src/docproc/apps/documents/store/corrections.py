"""Corrections: what people said, kept as labelled examples and as a memory of layouts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import delete, func, literal, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.store import pages
from docproc.apps.documents.tables import Correction, CorrectionSubject, File, Layout, LayoutKey, Page
from docproc.engine.message import utc_now
from docproc.engine.store import events, rows

TABLE: Any = Correction.__table__
LAYOUTS: Any = Layout.__table__
KEYS: Any = LayoutKey.__table__

NEAREST = 6  # earlier documents that are looked at for one
_CROWD = 200


@dataclass(frozen=True, slots=True)
class Subject:
    """Pages that somebody spoke of, and where they come from."""

    tenant_id: str
    request_id: UUID
    document_id: UUID | None
    page_indices: tuple[int, ...]
    file_pages: tuple[int, ...]
    blob_key: str | None
    file_name: str | None

    @property
    def page_id(self) -> UUID | None:
        """Of a page that is spoken of by itself."""
        return pages.page_id(self.request_id, self.page_indices[0]) if len(self.page_indices) == 1 else None


@dataclass(frozen=True, slots=True)
class Said:
    """One thing a person said. `value` None: it is not there; equal to `before`: it was right."""

    subject: CorrectionSubject
    value: str | None
    before: str | None = None
    field: str = ""
    changed: bool = True
    confidence_before: float | None = None
    source_before: str | None = None
    page_index: int | None = None
    box: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """What a reviewed document teaches: an example (packed) and the keys it is found by."""

    example: bytes
    keys: Sequence[str]


@dataclass(frozen=True, slots=True)
class Review:
    """All that a person said of one document or page at one time; made by `quality.reviews`."""

    of: Subject
    doc_type: str
    said: Sequence[Said]
    operator: str | None = None
    memory: Memory | None = None
    at: datetime = field(default_factory=utc_now)
    doubts: Sequence[str] = ()  # what speaks against it; for whoever says it, not recorded


async def record(session: AsyncSession, review: Review) -> None:
    """Keep a review, in the transaction that settles the task it answers; only inserts, nothing computed."""
    of = review.of
    common = {
        "tenant_id": of.tenant_id,
        "request_id": of.request_id,
        "document_id": of.document_id,
        "doc_type": review.doc_type,
        "operator": review.operator,
        "created_at": review.at,
        "blob_key": of.blob_key,
        "file_name": of.file_name,
        "page_indices": list(of.page_indices),
        "file_pages": list(of.file_pages),
    }
    await rows.insert(session, TABLE, [{**common, **_row(said)} for said in review.said])
    if review.memory is not None and (about := of.document_id or of.page_id) is not None:
        await _remember(session, review, review.memory, about)
    changed = [said.field or said.subject.value for said in review.said if said.changed]
    told = {"document_id": str(of.document_id), "changed": changed, "operator": review.operator}
    note = events.Event(of.request_id, "correction", tenant_id=of.tenant_id, outcome="recorded", data=told)
    await events.record(session, [note])


def _row(said: Said) -> dict[str, Any]:
    return {
        "id": uuid4(),
        "subject": said.subject.value,
        "field": said.field,
        "value_before": said.before,
        "value_after": said.value,
        "confidence_before": said.confidence_before,
        "source_before": said.source_before,
        "is_changed": said.changed,
        "page_index": said.page_index,
        "box": list(said.box) if said.box else None,
    }


async def _remember(session: AsyncSession, review: Review, memory: Memory, document_id: UUID) -> None:
    """A document has one memory, the latest."""
    for table in (KEYS, LAYOUTS):
        await session.execute(delete(table).where(table.c.document_id == document_id))
    common = {"tenant_id": review.of.tenant_id, "doc_type": review.doc_type, "document_id": document_id}
    await rows.insert(session, LAYOUTS, [{**common, "example": memory.example, "created_at": review.at}])
    keys = sorted({key[:64] for key in memory.keys})
    await rows.insert(session, KEYS, [{**common, "key": key, "created_at": review.at} for key in keys])
    await _thin(session, review.of.tenant_id, review.doc_type, keys)


async def _thin(session: AsyncSession, tenant_id: str, doc_type: str, keys: Sequence[str]) -> None:
    """Of keys that very many share only the latest: they say little, and would slow every lookup down."""
    of_type = (KEYS.c.tenant_id == tenant_id, KEYS.c.doc_type == doc_type)
    crowded = (
        select(KEYS.c.key)
        .where(*of_type, KEYS.c.key.in_(keys))
        .group_by(KEYS.c.key)
        .having(func.count() > _CROWD + _CROWD // 10)
    )
    for key in list(await session.scalars(crowded)):
        own = (*of_type, KEYS.c.key == key)
        latest = select(KEYS.c.created_at).where(*own).order_by(KEYS.c.created_at.desc())
        oldest = await session.scalar(latest.offset(_CROWD - 1).limit(1))
        await session.execute(delete(KEYS).where(*own, KEYS.c.created_at < oldest))


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document for which earlier ones of its layout are sought."""

    tenant_id: str
    doc_type: str
    keys: Sequence[str]


async def remembers(session: AsyncSession, tenant_id: str) -> bool:
    """Whether anything was ever learnt for a tenant."""
    query = select(Layout.document_id).where(Layout.tenant_id == tenant_id).limit(1)
    return await session.scalar(query) is not None


async def types_alike(
    session: AsyncSession, wanted: Sequence[tuple[str, Sequence[str]]]
) -> list[list[tuple[str, bytes]]]:
    """For each (tenant, keys) the types and packed examples that share most keys with it."""
    found: list[list[tuple[str, bytes]]] = []
    for tenant_id, keys in wanted:
        shared = (
            select(KEYS.c.document_id)
            .where(KEYS.c.tenant_id == tenant_id, KEYS.c.key.in_([key[:64] for key in keys]))
            .group_by(KEYS.c.document_id)
            .order_by(func.count().desc(), func.max(KEYS.c.created_at).desc())
            .limit(NEAREST)
        )
        query = select(LAYOUTS.c.doc_type, LAYOUTS.c.example).where(LAYOUTS.c.document_id.in_(shared))
        rows_found = await session.execute(query) if keys else ()
        found.append([(row.doc_type, bytes(row.example)) for row in rows_found])
    return found


async def nearest(session: AsyncSession, wanted: Sequence[Wanted]) -> list[list[bytes]]:
    """For each, the packed examples that share most keys with it, in one query for all."""
    by_item: list[list[bytes]] = [[] for _ in wanted]
    sought = [_sharing(number, one) for number, one in enumerate(wanted) if one.keys]
    if not sought:
        return by_item
    shared = union_all(*(select(each) for each in sought)).subquery()
    query = select(shared.c.item, LAYOUTS.c.example).join(
        LAYOUTS, LAYOUTS.c.document_id == shared.c.document_id
    )
    for item, example in await session.execute(query):
        by_item[item].append(bytes(example))
    return by_item


def _sharing(number: int, wanted: Wanted) -> Any:
    """The documents that share keys: those with most of them, then the latest."""
    return (
        select(literal(number).label("item"), KEYS.c.document_id)
        .where(
            KEYS.c.tenant_id == wanted.tenant_id,
            KEYS.c.doc_type == wanted.doc_type,
            KEYS.c.key.in_([key[:64] for key in wanted.keys]),
        )
        .group_by(KEYS.c.document_id)
        .order_by(func.count().desc(), func.max(KEYS.c.created_at).desc())
        .limit(NEAREST)
        .subquery()
    )


async def example_of(session: AsyncSession, document_id: UUID) -> bytes | None:
    example = await session.scalar(select(Layout.example).where(Layout.document_id == document_id))
    return bytes(example) if example is not None else None


async def said_type(session: AsyncSession, document_id: UUID) -> str | None:
    """The type that people gave a document last."""
    query = (
        select(Correction.doc_type)
        .where(Correction.document_id == document_id, Correction.subject == CorrectionSubject.TYPE)
        .order_by(Correction.created_at.desc())
        .limit(1)
    )
    return await session.scalar(query)


async def fields_of(session: AsyncSession, document_id: UUID) -> set[str]:
    """The fields of a document on which somebody has spoken, also to say that there is no such value."""
    query = select(Correction.field).where(
        Correction.document_id == document_id, Correction.subject == CorrectionSubject.FIELD
    )
    return set(await session.scalars(query))


async def remove(session: AsyncSession, request_id: UUID) -> int:
    """Forget what was said of a request's documents, and what was learnt of it; how many things that were."""
    query = select(TABLE.c.document_id, TABLE.c.page_index).where(TABLE.c.request_id == request_id)
    document_ids = list(await session.execute(query))
    ids = {row.document_id for row in document_ids if row.document_id is not None}
    # What was said of the type of a page is remembered by the page.
    ids |= {pages.page_id(request_id, row.page_index) for row in document_ids if row.page_index is not None}
    for table in (KEYS, LAYOUTS):
        await session.execute(delete(table).where(table.c.document_id.in_(ids)))
    await session.execute(delete(TABLE).where(TABLE.c.request_id == request_id))
    return len(document_ids)


async def forget(
    session: AsyncSession,
    request_id: UUID,
    document_id: UUID | None,
    page_indices: Collection[int],
    *,
    operator: str,
    since: datetime,
) -> None:
    """What a person said of a document, or of pages, since that moment was taken back."""
    mine = (TABLE.c.request_id == request_id, TABLE.c.operator == operator, TABLE.c.created_at >= since)
    if document_id is not None:
        await session.execute(delete(TABLE).where(*mine, TABLE.c.document_id == document_id))
        for table in (KEYS, LAYOUTS):
            await session.execute(delete(table).where(table.c.document_id == document_id))
    else:
        of_pages = TABLE.c.subject != CorrectionSubject.FIELD, TABLE.c.page_index.in_(list(page_indices))
        await session.execute(delete(TABLE).where(*mine, *of_pages))


async def listing(
    session: AsyncSession, *, tenant_id: str | None = None, since: datetime | None = None
) -> list[Correction]:
    """Oldest first."""
    query = select(Correction).order_by(Correction.created_at, Correction.document_id, Correction.field)
    if tenant_id is not None:
        query = query.where(Correction.tenant_id == tenant_id)
    if since is not None:
        query = query.where(Correction.created_at >= since)
    return list(await session.scalars(query))


async def subject_of(
    session: AsyncSession,
    tenant_id: str,
    request_id: UUID,
    document_id: UUID | None,
    page_indices: Sequence[int],
) -> Subject:
    """Where pages of a request come from; a document never crosses files."""
    query = (
        select(Page.page_index, Page.file_page, File.blob_key, File.name)
        .outerjoin(File, (File.request_id == Page.request_id) & (File.file_index == Page.file_index))
        .where(Page.request_id == request_id, Page.page_index.in_(list(page_indices)))
        .order_by(Page.page_index)
    )
    page_rows = list(await session.execute(query))
    places = {row.page_index: row.file_page for row in page_rows}
    return Subject(
        tenant_id,
        request_id,
        document_id,
        tuple(page_indices),
        tuple(places.get(index, index) for index in page_indices),
        page_rows[0].blob_key if page_rows else None,
        page_rows[0].name if page_rows else None,
    )
