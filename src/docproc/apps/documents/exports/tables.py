"""Answers as two tables: one row a document, and one row a line item. Pure; how files look is others' work.

Columns come in the order of the schemas, headings in the reader's language, values with their types: a date
is a date. Files are named, and pages counted from 1 within their file, as somebody who looks for the paper
counts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from docproc.apps.documents import reasons
from docproc.apps.documents.review.reasons import told
from docproc.apps.documents.schemas import ExtractionSchemas, SchemaField
from docproc.apps.documents.texts import text
from docproc.apps.documents.texts.names import field_name, type_name
from docproc.written import day_of, number_of

# Kinds of values: how a file writes them.
TEXT, AMOUNT, NUMBER, DATE = "text", "amount", "number", "date"
# Columns of line items that are money; other decimals are how many of something.
PRICES = ("unit_price", "amount", "price", "total")
# What `needs_review` names that is no field.
OF_DOCUMENTS = ("doc_type", "boundary")


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer with what is known of its request."""

    reference: str
    result: Any
    schemas: ExtractionSchemas = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cell:
    """A value with its type; `doubt` says why somebody should look at it."""

    value: Any = None
    kind: str = TEXT
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def tables(answers: Sequence[Answered], language: str) -> tuple[Table, Table]:
    """Documents, and their lines."""
    return _Tables(answers, language).made()


@dataclass(frozen=True, slots=True)
class _Document:
    """A document of an answer; `number` counts over all answers from 1: lines say by it whose they are."""

    number: int
    answered: Answered
    said: Mapping[str, Any]

    @property
    def doc_type(self) -> str:
        return str(self.said.get("doc_type") or "")

    def schema(self) -> dict[str, SchemaField]:
        schema = self.answered.schemas.get(self.doc_type)
        return {one.name: one for one in schema.fields} if schema else {}

    def evidence(self, name: str) -> Mapping[str, Any]:
        found = (self.said.get("fields") or {}).get(name)
        return found if isinstance(found, Mapping) else {}

    def value(self, name: str) -> Any:
        return self.evidence(name).get("value", (self.said.get("extracted_data") or {}).get(name))

    def names(self) -> list[str]:
        return list(
            dict.fromkeys(
                (*self.schema(), *(self.said.get("fields") or {}), *(self.said.get("extracted_data") or {}))
            )
        )

    def is_table(self, name: str) -> bool:
        declared = self.schema().get(name)
        return declared.type == "table" if declared else isinstance(self.value(name), list)

    def place(self) -> tuple[str, str]:
        """The file, and the pages within it from 1: `3`, or `1–2`."""
        pages = [int(index) for index in self.said.get("page_indices") or ()]
        if not pages:
            return "", ""
        name, begins = _file_of(self.answered.result, pages[0])
        first, last = pages[0] - begins + 1, pages[-1] - begins + 1
        # Not a hyphen: spreadsheets take 1-2 for a date.
        return name, str(first) if first == last else f"{first}–{last}"


def _file_of(result: Any, page: int) -> tuple[str, int]:
    """The file that a page of the request stands in, and which page of the request is its first."""
    begins = 0
    for file in result.get("files") or ():
        count = int(file.get("page_count") or 0)
        if begins <= page < begins + count:
            return str(file.get("name") or ""), begins
        begins += count
    return "", 0


class _Tables:
    def __init__(self, answers: Sequence[Answered], language: str) -> None:
        self.language = language
        self.documents = list(_documents(answers))

    def made(self) -> tuple[Table, Table]:
        return self._of_documents(), self._of_lines()

    def _text(self, key: str) -> str:
        return text(self.language, key)

    def _of_documents(self) -> Table:
        names = self._columns()
        first = ("export_number", "export_file", "export_pages", "export_type", "export_reference")
        headings = [*map(self._text, first), *self._headings(names), self._text("export_doubts")]
        return Table(
            self._text("export_documents"), headings, [self._row(one, names) for one in self.documents]
        )

    def _columns(self) -> list[str]:
        """Of every type that is there, in its schema's order; a name that two types share is one column."""
        return list(
            dict.fromkeys(name for one in self.documents for name in one.names() if not one.is_table(name))
        )

    def _headings(self, names: Sequence[str]) -> list[str]:
        labels = [field_name(self.language, name) for name in names]
        return [
            f"{label} ({name})" if labels.count(label) > 1 else label
            for label, name in zip(labels, names, strict=True)
        ]

    def _row(self, document: _Document, names: Sequence[str]) -> list[Cell]:
        file, pages = document.place()
        doubtful = list(document.said.get("needs_review") or ())
        about = {name: self._why(document, name) for name in doubtful}
        kind = Cell(type_name(self.language, document.doc_type), doubt=about.get("doc_type", ""))
        head = [
            Cell(document.number, NUMBER),
            Cell(file),
            Cell(pages, doubt=about.get("boundary", "")),
            kind,
            Cell(document.answered.reference),
        ]
        schema = document.schema()
        cells = [self._cell(document, name, schema.get(name), about.get(name, "")) for name in names]
        named = "; ".join(f"{self._name(name)}: {why}" for name, why in about.items())
        return [*head, *cells, Cell(named)]

    def _name(self, name: str) -> str:
        if name in OF_DOCUMENTS:
            return self._text("export_type" if name == "doc_type" else "export_pages")
        return field_name(self.language, name)

    def _why(self, document: _Document, name: str) -> str:
        if name in OF_DOCUMENTS:
            return self._text("check_title")
        found = told(reasons.from_json(document.evidence(name)), self.language)
        missing = "doubt_missing" if document.value(name) is None else "check_title"
        return found or self._text(missing)

    def _cell(self, document: _Document, name: str, schema: SchemaField | None, doubt: str) -> Cell:
        if document.is_table(name):
            return Cell()
        return Cell(*_typed(document.value(name), schema.type if schema else "", is_money=True), doubt)

    def _of_lines(self) -> Table:
        columns = self._line_columns()
        first = ("export_number", "export_file", "export_page", "export_line")
        rows = [
            [
                Cell(document.number, NUMBER),
                Cell(document.place()[0]),
                Cell(page, NUMBER),
                Cell(number, NUMBER),
                *(Cell(*_typed(row.get(one), kind, is_money=one in PRICES)) for one, kind in columns.items()),
            ]
            for document, number, row, page in self._lines()
        ]
        headings = [*map(self._text, first), *self._headings(list(columns))]
        return Table(self._text("export_lines"), headings, rows)

    def _line_columns(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for document in self.documents:
            for declared in document.schema().values():
                if document.value(declared.name):
                    found.update({column.name: str(column.type) for column in declared.columns})
        for _, _, row, _ in self._lines():
            for name in row:
                found.setdefault(name, "")
        return found

    def _lines(self) -> Iterator[tuple[_Document, int, Mapping[str, Any], int | None]]:
        """Every row of every table: its document, which line it is, its cells, its page in the file."""
        for document in self.documents:
            for name in filter(document.is_table, document.names()):
                rows = [row for row in document.value(name) or () if isinstance(row, Mapping)]
                places = document.evidence(name).get("rows") or [document.evidence(name)] * len(rows)
                for number, (row, place) in enumerate(zip(rows, places, strict=False), start=1):
                    page = place.get("page")
                    begins = _file_of(document.answered.result, page)[1] if page is not None else 0
                    yield document, number, row, None if page is None else page - begins + 1


def _documents(answers: Sequence[Answered]) -> Iterator[_Document]:
    number = 0
    for answered in answers:
        documents = answered.result.get("documents") if isinstance(answered.result, dict) else None
        for said in documents or ():
            if isinstance(said, dict):
                number += 1
                yield _Document(number, answered, said)


def _typed(value: Any, kind: str, *, is_money: bool) -> tuple[Any, str]:
    """A value as a program would compute with it, and its kind; what does not fit its kind stays text."""
    if kind == "decimal" and (number := number_of(value)) is not None:
        return number, AMOUNT if is_money else NUMBER
    if kind == "date" and (day := day_of(value)) is not None:
        return day, DATE
    return (None if value is None else str(value)), TEXT
