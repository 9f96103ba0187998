"""An answer as one row per field, for programs: names as workflows spell them, pages counted from 0."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from docproc.apps.documents.exports.harmless_cells import as_text

# New ones come last: programs read these files by position, too.
COLUMNS = (
    "document", "doc_type", "pages", "field", "value", "confidence", "source", "page",
    "doc_type_confidence", "boundary_confidence", "needs_review",
)  # fmt: skip


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


def _documents(result: Any) -> list[dict[str, Any]]:
    documents = result.get("documents") if isinstance(result, dict) else None
    return [one for one in documents if isinstance(one, dict)] if isinstance(documents, list) else []


def _sure(document: dict[str, Any]) -> tuple[Any, Any]:
    return document.get("doc_type_confidence"), document.get("boundary_confidence")


def _doubtful(document: dict[str, Any]) -> str:
    return ", ".join(document.get("needs_review") or ())


def _pages(document: dict[str, Any]) -> str:
    # Separated by spaces: a spreadsheet takes 1-2 for a date and 1,2 for a number.
    return " ".join(str(index) for index in document.get("page_indices") or ())


def _harmless(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    return as_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
