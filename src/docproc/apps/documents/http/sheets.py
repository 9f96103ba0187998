"""An answer as tables: one row per field for CSV, one sheet per document type for XLSX."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Font

# New ones come last: programs read these files by position, too.
COLUMNS = (
    "document", "doc_type", "pages", "field", "value", "confidence", "source", "page",
    "doc_type_confidence", "boundary_confidence", "needs_review",
)  # fmt: skip
DOCUMENT_COLUMNS = (
    "document", "doc_type", "pages", "confidence", "status", "needs_review",
    "doc_type_confidence", "boundary_confidence",
)  # fmt: skip

_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)*")
# A spreadsheet runs cells that begin like this; what a document says must stay text.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
_LONGEST_CELL = 32_000
_SHEET_NAME = re.compile(r"[\[\]:*?/\\\x00-\x1f]")


def as_csv(result: Any) -> bytes:
    """One row per field. A document without fields has one row, so that it can be seen."""
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\r\n")
    table.writerow(COLUMNS)
    for row in field_rows(result):
        table.writerow([_harmless(cell) for cell in row])
    return text.getvalue().encode("utf-8", "replace")


def field_rows(result: Any) -> Iterator[tuple[Any, ...]]:
    for number, document in enumerate(_documents(result)):
        start = (number, document.get("doc_type"), _pages(document))
        end = (*_sure(document), _doubtful(document))
        fields = document.get("fields") or {}
        data = document.get("extracted_data") or {}
        names = list(dict.fromkeys((*data, *fields)))
        for name in names:
            field = fields.get(name) or {}
            value = field.get("value", data.get(name))
            if _is_table(value):
                for row in _cell_rows(name, value or [], field):
                    yield (*start, *row, *end)
            else:
                place = (field.get(key) for key in ("confidence", "source", "page"))
                yield (*start, name, value, *place, *end)
        if not names:
            yield (*start, None, None, None, None, None, *end)


def _cell_rows(name: str, rows: list[dict[str, Any]], evidence: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """A row per cell of a table, `line_items[0].amount`, as sure as the row it stands in."""
    places = evidence.get("rows") or [evidence] * len(rows)
    for number, (row, place) in enumerate(zip(rows, places, strict=False)):
        for column, value in row.items():
            field = f"{name}[{number}].{column}"
            yield field, value, place.get("confidence"), evidence.get("source"), place.get("page")


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def as_xlsx(result: Any) -> bytes:
    """A sheet of all documents, one for each type with a column per field, and one for each table."""
    book = Workbook(write_only=True)
    documents = list(enumerate(_documents(result)))
    _sheet(book, "documents", DOCUMENT_COLUMNS, [_document_row(*numbered) for numbered in documents])
    by_type: dict[str, list[tuple[int, Any]]] = {}
    for number, document in documents:
        by_type.setdefault(str(document.get("doc_type") or "unknown"), []).append((number, document))
    for doc_type, members in by_type.items():
        names = list(dict.fromkeys(name for _, document in members for name in _values(document)))
        tables = [name for name in names if any(_is_table(_values(one).get(name)) for _, one in members)]
        names = [name for name in names if name not in tables]
        rows = [
            (number, _pages(document), *(_values(document).get(name) for name in names))
            for number, document in members
        ]
        _sheet(book, doc_type, ("document", "pages", *names), rows)
        for name in tables:
            _table_sheet(book, f"{doc_type} {name}", name, members)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _table_sheet(book: Workbook, title: str, name: str, members: Sequence[tuple[int, Any]]) -> None:
    numbered = [
        (number, row)
        for number, document in members
        if _is_table(_values(document).get(name))
        for row in _values(document)[name]
    ]
    columns = list(dict.fromkeys(column for _, row in numbered for column in row))
    rows = [(number, *(row.get(column) for column in columns)) for number, row in numbered]
    _sheet(book, title, ("document", *columns), rows)


def _documents(result: Any) -> list[dict[str, Any]]:
    documents = result.get("documents") if isinstance(result, dict) else None
    return [one for one in documents if isinstance(one, dict)] if isinstance(documents, list) else []


def _document_row(number: int, document: dict[str, Any]) -> tuple[Any, ...]:
    return (
        number,
        document.get("doc_type"),
        _pages(document),
        document.get("extraction_confidence"),
        document.get("status"),
        _doubtful(document),
        *_sure(document),
    )


def _sure(document: dict[str, Any]) -> tuple[Any, Any]:
    return document.get("doc_type_confidence"), document.get("boundary_confidence")


def _doubtful(document: dict[str, Any]) -> str:
    return ", ".join(document.get("needs_review") or ())


def _values(document: dict[str, Any]) -> dict[str, Any]:
    """Typed values where there are any: amounts are numbers."""
    fields = {name: field.get("value") for name, field in (document.get("fields") or {}).items()}
    return {**fields, **(document.get("extracted_data") or {})}


def _pages(document: dict[str, Any]) -> str:
    # Separated by spaces: a spreadsheet takes 1-2 for a date and 1,2 for a number.
    return " ".join(str(index) for index in document.get("page_indices") or ())


def _sheet(book: Workbook, title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    sheet = book.create_sheet(_free_title(book, title))
    sheet.freeze_panes = "A2"
    for index, name in enumerate(head):
        longest = max([len(name), *(len(str(row[index] or "")) for row in rows)])
        sheet.column_dimensions[_letters(index)].width = min(max(longest + 2, 10), 60)
    sheet.append([_cell(sheet, name, bold=True) for name in head])
    for row in rows:
        sheet.append([_cell(sheet, value) for value in row])


def _free_title(book: Workbook, wanted: str) -> str:
    """As a spreadsheet accepts it: short, without its own signs, and not taken."""
    base = _SHEET_NAME.sub("_", wanted).strip("' ")[:31] or "unknown"
    taken = {sheet.title.lower() for sheet in book.worksheets}
    title, number = base, 2
    while title.lower() in taken:
        title, number = f"{base[:27]} {number}", number + 1
    return title


def _letters(index: int) -> str:
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _cell(sheet: Any, value: Any, *, bold: bool = False) -> Any:
    plain = _plain(value)
    if isinstance(plain, str):
        plain = ILLEGAL_CHARACTERS_RE.sub("", plain)[:_LONGEST_CELL]
    cell = WriteOnlyCell(sheet, value=plain)
    if isinstance(plain, str):
        cell.data_type = "s"  # text for good: openpyxl would make a formula of "=…"
        if plain.startswith(_FORMULA_STARTS):
            cell.quotePrefix = True  # and stays text when somebody edits it
    if bold:
        cell.font = Font(bold=True)
    return cell


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _harmless(value: Any) -> Any:
    plain = _plain(value)
    if isinstance(plain, str) and plain.startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(plain):
        return f"'{plain}"
    return plain
