"""What the page of a task shows, and who may see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents import reasons
from docproc.apps.documents.components import doubts
from docproc.apps.documents.review import extraction, tables
from docproc.apps.documents.review.classification import choices, is_split
from docproc.apps.documents.review.pace import USUAL_SECONDS
from docproc.apps.documents.schemas import SchemaColumn, SchemaField
from docproc.apps.documents.tables import Document, File, Page
from docproc.apps.documents.texts import text
from docproc.apps.documents.understanding.reason import Reason
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.engine.workflow.definition import Workflow
from docproc.errors import NotAllowedError
from docproc.people.kinds import asked
from docproc.people.standing import check_holds
from docproc.reading import page as page_text

# The type of tasks about fields; the others are about pages.
FIELDS = "extraction"
# How many pages before and after a doubtful one help to judge it.
NEIGHBOURS = 2


def pages_asked(task: BackofficeTask) -> tuple[int, ...]:
    """The pages a task is about, of its request, from 0."""
    seen = asked(task)
    if task.task_type == FIELDS:
        return tuple(int(page) for page in seen.get("page_indices") or ())
    if is_split(task):
        return tuple(sorted({int(page) for doubt in seen["splits"] for page in doubt["pages"]}))
    return (int(seen.get("page_index") or 0),)


def place(task: BackofficeTask, language: str) -> str:
    """The same in words."""
    pages = pages_asked(task)
    if len(pages) > 1:
        return text(language, "pages_numbers", first=pages[0] + 1, last=pages[-1] + 1)
    return text(language, "page_number", number=pages[0] + 1) if pages else ""


def check_may_see(task: BackofficeTask, operator: Operator, page: int) -> None:
    """Pages of clients' documents are for whoever holds the task, and only those it is about."""
    check_holds(task, operator)
    if task.task_type not in USUAL_SECONDS or page not in _pages_shown(task):
        raise NotAllowedError("this page is not part of the task", remedy="Look at the pages it is about")


def _pages_shown(task: BackofficeTask) -> set[int]:
    pages = set(pages_asked(task))
    if task.task_type != FIELDS and not is_split(task):
        (page,) = pages
        pages |= set(range(max(0, page - NEIGHBOURS), page + NEIGHBOURS + 1))
    return pages


# --- pages --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PageView:
    """A page of the request, as thumbnails and pictures need it."""

    index: int
    doc_type: str | None
    text: str
    file: str
    ratio: float  # of height to width, upright


async def pages_shown(session: AsyncSession, task: BackofficeTask) -> list[PageView]:
    query = (
        select(Page.page_index, Page.doc_type, Page.ocr_text, Page.words, Page.status, File.name)
        .outerjoin(File, (File.request_id == Page.request_id) & (File.file_index == Page.file_index))
        .where(Page.request_id == task.request_id, Page.page_index.in_(_pages_shown(task)))
        .order_by(Page.page_index)
    )
    return [
        PageView(row.page_index, row.doc_type, row.ocr_text or "", row.name or "", _ratio(row.words))
        for row in await session.execute(query)
    ]


def _ratio(packed: bytes | None) -> float:
    read = page_text.unpack(packed) if packed else None
    return read.height / read.width if read and read.width and read.height else 1.414


async def words_of(session: AsyncSession, request_id: UUID, index: int) -> list[dict[str, Any]]:
    """The words of a page with their boxes: [{"text", "box"}]."""
    query = select(Page.words).where(Page.request_id == request_id, Page.page_index == index)
    packed = await session.scalar(query)
    read = page_text.unpack(packed).words if packed else ()
    return [{"text": word.text, "box": word.box, "line": word.line} for word in read]


# --- types --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choice:
    """A type that a page may be of."""

    name: str
    score: float | None
    is_suggested: bool


def type_choices(task: BackofficeTask, flow: Workflow) -> list[Choice]:
    """Always in the same order: fingers learn where a type is."""
    seen = asked(task)
    scores = seen.get("scores") or {}
    return [Choice(name, scores.get(name), name == seen.get("suggested_type")) for name in choices(flow)]


# --- documents ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DoubtView:
    """The type or the boundaries of the document whose fields are asked about, where nobody settled them."""

    name: str
    percent: int


async def doubts_of(session: AsyncSession, task: BackofficeTask) -> list[DoubtView]:
    """As it stands now: the question may be older than somebody's answer about the type."""
    query = select(Document.doubts, Document.doc_type_confidence, Document.boundary_confidence)
    row = (await session.execute(query.where(Document.id == task.reference_id))).first()
    if row is None:
        return []
    sure = {doubts.TYPE: row.doc_type_confidence, doubts.BOUNDARY: row.boundary_confidence}
    return [DoubtView(name, int((sure.get(name) or 0.0) * 100)) for name in row.doubts or ()]


# --- fields -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RowView:
    """A row of a table, and where it stands."""

    cells: Mapping[str, Any]
    page: int | None = None
    box: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class FieldView:
    """A field as the machine left it."""

    name: str
    type: str
    is_required: bool
    is_doubtful: bool
    value: str | None
    confidence: float | None
    page: int | None
    box: Sequence[float] | None
    reason: Reason | str | None
    one_of: Sequence[str] = ()
    columns: Sequence[SchemaColumn] = ()
    rows: Sequence[RowView] = ()
    summed: Sequence[str] = ()  # the columns of a table whose sum is shown

    @property
    def is_table(self) -> bool:
        return self.type == "table"


def fields_of(task: BackofficeTask, rules: Sequence[str] = ()) -> list[FieldView]:
    """Doubtful ones first, each part in the order of the schema; `rules` are those of the type."""
    views = [_field(task, one, rules) for one in extraction.schema_of(task).values()]
    return sorted(views, key=lambda view: not view.is_doubtful)


def _field(task: BackofficeTask, schema: SchemaField, rules: Sequence[str]) -> FieldView:
    seen = asked(task)
    evidence = (seen.get("fields") or {}).get(schema.name) or {}
    value = evidence.get("value")
    table = schema.type == "table"
    return FieldView(
        name=schema.name,
        type=schema.type,
        is_required=schema.required,
        is_doubtful=schema.name in (seen.get("review") or ()),
        value=None if table or value is None else str(value),
        confidence=evidence.get("confidence"),
        page=evidence.get("page"),
        box=evidence.get("box"),
        reason=reasons.from_json(evidence),
        one_of=schema.one_of,
        columns=schema.columns,
        rows=_rows(value, evidence.get("rows") or ()) if table else (),
        summed=tables.summed(schema, rules) if table else (),
    )


def _rows(value: Any, places: Sequence[Mapping[str, Any]]) -> list[RowView]:
    if not isinstance(value, list):
        return []
    known = [*places[: len(value)], *({} for _ in value[len(places) :])]
    beside = zip(value, known, strict=True)
    return [RowView(row, at.get("page"), at.get("box")) for row, at in beside if isinstance(row, dict)]
