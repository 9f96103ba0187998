"""What is inside a request of documents, for its page: fields with doubts first, line items, pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from docproc.app import App
from docproc.apps.documents import reasons
from docproc.apps.documents.components import doubts
from docproc.apps.documents.flows import flow_of
from docproc.apps.documents.review.reasons import told
from docproc.apps.documents.schemas import ExtractionSchemas, SchemaField, schemas_of, types_of
from docproc.apps.documents.store import documents, pages
from docproc.apps.documents.tables import Document, Page, PageStatus
from docproc.apps.documents.texts import text
from docproc.apps.documents.texts.names import field_name, type_name
from docproc.engine.store.tables import Request
from docproc.engine.workflow.definition import Workflow
from docproc.http.console_view import Panel
from docproc.reading import page as page_text
from docproc.written import Written

# In a table these are money; other numbers are how many of something.
PRICES = ("unit_price", "amount", "price", "total")
A4 = 1.414


@dataclass(frozen=True, slots=True)
class FieldShown:
    """A field as people read it; `box` and `page` say where it stands."""

    name: str
    label: str
    value: str
    is_doubtful: bool
    is_missing: bool
    reason: str = ""
    sure: str = ""
    page: int | None = None
    box: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class TableShown:
    """A field that is a table: line items. `rows` are the cells with the page and the box of the row."""

    label: str
    columns: Sequence[tuple[str, bool]]
    rows: Sequence[tuple[Sequence[str], int | None, Sequence[float] | None]]


@dataclass(frozen=True, slots=True)
class DocumentShown:
    """A document: a tab."""

    id: str
    title: str
    pages: Sequence[int]
    doubts: int
    notes: Sequence[str]
    fields: Sequence[FieldShown]
    tables: Sequence[TableShown]


@dataclass(frozen=True, slots=True)
class PageShown:
    index: int
    is_read: bool
    ratio: float
    document: str


async def panel_of(application: App, request: Request, written: Written) -> Panel | None:
    """None for a request without files of ours."""
    async with application.store.reading() as session:
        files = await pages.files(session, request.id)
        if not files:
            return None
        stored = await documents.of_request(session, request.id)
        query = select(Page.page_index, Page.status, Page.words, Page.document_id)
        query = query.where(Page.request_id == request.id).order_by(Page.page_index)
        sheets = list(await session.execute(query))
    flow = await flow_of(application, request)
    shown = Shown(written, flow)
    tabs = [shown.document(one) for one in sorted(stored, key=lambda one: one.page_indices or [0])]
    context = {
        "tabs": tabs,
        "sheets": [
            PageShown(
                row.page_index,
                row.status != PageStatus.PENDING_OCR,
                _ratio(row.words),
                str(row.document_id or ""),
            )
            for row in sheets
        ],
        "files": files,
        "style": "/static/documents/request.css",
        "script": "/static/documents/request.js",
        # What the page looks at to see whether anything is new.
        "mark": ".".join([*(row.status[-6:] for row in sheets), *(str(one.updated_at) for one in stored)]),
    }
    return Panel("documents/panel.html", context)


def _ratio(packed: bytes | None) -> float:
    read = page_text.unpack(packed) if packed else None
    return round(read.height / read.width, 3) if read and read.width and read.height else A4


class Shown:
    """Documents in one language, as one workflow describes their fields."""

    def __init__(self, written: Written, flow: Workflow | None) -> None:
        self.written = written
        self.language = written.language
        self.schemas: ExtractionSchemas = schemas_of(flow) if flow else {}
        self.types = types_of(flow) if flow else {}

    def document(self, document: Document) -> DocumentShown:
        schema = self.schemas.get(document.doc_type or "")
        known: dict[str, Any] = document.fields or {}
        declared = {field.name: field for field in schema.fields} if schema else {}
        names = dict.fromkeys((*declared, *known, *(document.extracted_data or {})))
        named = doubts.named(document.doubts, document.needs_review)
        plain = [name for name in names if not _is_table(declared.get(name), known.get(name))]
        currency = _currency(document)
        fields = [self.field(name, declared.get(name), document, currency) for name in plain]
        return DocumentShown(
            id=str(document.id),
            title=type_name(self.language, document.doc_type, self.types),
            pages=document.page_indices or [],
            doubts=len(named),
            notes=self._notes(document, named),
            fields=sorted(fields, key=lambda field: not field.is_doubtful),
            tables=[
                self.table(name, declared.get(name), known[name])
                for name in names
                if name not in plain and (known.get(name) or {}).get("value")
            ],
        )

    def _notes(self, document: Document, named: Sequence[str]) -> list[str]:
        sure = {doubts.TYPE: document.doc_type_confidence, doubts.BOUNDARY: document.boundary_confidence}
        return [
            text(self.language, f"unsure_task_{name}", percent=int((sure[name] or 0.0) * 100 + 1e-9))
            for name in (doubts.TYPE, doubts.BOUNDARY)
            if name in named
        ]

    def field(
        self, name: str, schema: SchemaField | None, document: Document, currency: str | None
    ) -> FieldShown:
        known = (document.fields or {}).get(name) or {}
        value = known.get("value", (document.extracted_data or {}).get(name))
        is_doubtful = name in (document.needs_review or ())
        why = told(reasons.from_json(known), self.language) if is_doubtful else ""
        if is_doubtful and not why:
            why = text(self.language, "doubt_missing" if value is None else "check_title")
        return FieldShown(
            name=name,
            label=field_name(self.language, name),
            value=self.value(value, schema.type if schema else "", currency),
            is_doubtful=is_doubtful,
            is_missing=value is None,
            reason=why,
            sure=self._sure(known, value),
            page=known.get("page"),
            box=known.get("box"),
        )

    def _sure(self, known: Mapping[str, Any], value: Any) -> str:
        if value is None:
            return ""
        if known.get("origin") == "BACKOFFICE" or known.get("source") == "operator":
            return text(self.language, "said_by_person")
        confidence = known.get("confidence")
        return self.written.percent(confidence) if confidence is not None else ""

    def value(self, value: Any, kind: str, currency: str | None) -> str:
        if value is None:
            return text(self.language, "nothing_there")
        if kind == "decimal":
            return self.written.amount(value, currency)
        return self.written.date(value) if kind == "date" else str(value)

    def table(self, name: str, schema: SchemaField | None, known: Mapping[str, Any]) -> TableShown:
        rows = [row for row in known["value"] if isinstance(row, dict)]
        kinds = {column.name: column.type for column in schema.columns} if schema else {}
        names = dict.fromkeys((*kinds, *(key for row in rows for key in row)))
        places = known.get("rows") or [{}] * len(rows)
        return TableShown(
            label=field_name(self.language, name),
            columns=[(field_name(self.language, one), kinds.get(one) == "decimal") for one in names],
            rows=[
                (
                    [self._cell(row.get(one), one, kinds.get(one, "")) for one in names],
                    place.get("page"),
                    place.get("box"),
                )
                for row, place in zip(rows, places, strict=False)
            ],
        )

    def _cell(self, value: Any, name: str, kind: str) -> str:
        if value is None:
            return "–"
        if kind == "decimal":
            return self.written.number(value, 2 if name in PRICES else None)
        return self.written.date(value) if kind == "date" else str(value)


def _is_table(schema: SchemaField | None, known: Mapping[str, Any] | None) -> bool:
    return schema.type == "table" if schema else isinstance((known or {}).get("value"), list)


def _currency(document: Document) -> str | None:
    field = (document.fields or {}).get("currency") or {}
    found = field.get("value") or (document.extracted_data or {}).get("currency")
    return str(found) if found else None
