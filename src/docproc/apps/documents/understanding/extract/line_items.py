"""Tables as field values: rows under headings or of a receipt, each with its place and how sure it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from docproc.apps.documents.understanding.extract import normalise
from docproc.apps.documents.understanding.extract.cells import product_reading, value
from docproc.apps.documents.understanding.extract.headings import meaning
from docproc.apps.documents.understanding.extract.layout import layout
from docproc.apps.documents.understanding.extract.normalise import Conventions
from docproc.apps.documents.understanding.extract.receipt_items import Receipt
from docproc.apps.documents.understanding.extract.spec import ColumnSpec, FieldSpec, FieldValue, Row
from docproc.apps.documents.understanding.extract.table_rows import Draft, Reader
from docproc.reading.page import PageText, union

# How sure a row is: quantity times price makes its amount, it has not all three, or they do not agree.
_AGREES, _UNCHECKED, _DIFFERS = 0.98, 0.9, 0.6
# That no row is missing or too many, before a rule on their sum has spoken.
_WHOLE, _WHOLE_WITHOUT_HEADINGS = 0.85, 0.6


def find(spec: FieldSpec, pages: Sequence[PageText]) -> FieldValue | None:
    """The rows of the table that a field asks for; None when the pages hold none."""
    document = layout(pages)
    columns = _Columns(spec.columns, normalise.conventions(document.text))
    drafts, whole = columns.reader.rows(document), _WHOLE
    if not drafts and (receipt := columns.receipt):
        drafts, whole = receipt.rows(document), _WHOLE_WITHOUT_HEADINGS
    if not drafts:
        return None
    rows = tuple(columns.row(draft) for draft in drafts)
    box = union([row.box for row in rows if row.page == rows[0].page])
    confidence = whole * min(row.confidence for row in rows)
    source = document.pages[rows[0].page].source
    return FieldValue(as_json(spec, rows), confidence, source, rows[0].page, box, rows=rows)


def as_json(spec: FieldSpec, rows: Sequence[Row]) -> str:
    """The canonical writing of a table: a list of objects, decimals as exact strings."""
    names = [column.name for column in spec.columns]
    return json.dumps([dict(zip(names, row.cells, strict=True)) for row in rows], ensure_ascii=False)


@dataclass(frozen=True)
class _Columns:
    """The columns asked for, and which of them is what."""

    columns: tuple[ColumnSpec, ...]
    how: Conventions

    @property
    def anchor(self) -> int:
        """The column that every row has: the amount, else the last number, else the last one."""
        numbers = [index for index, column in enumerate(self.columns) if column.type == "decimal"]
        amounts = [index for index in numbers if meaning(self.columns[index]) == "amount"]
        return (amounts or numbers or [len(self.columns) - 1])[-1]

    @property
    def text(self) -> int | None:
        """The column whose text may take several lines."""
        texts = [index for index, column in enumerate(self.columns) if column.type == "string"]
        described = [index for index in texts if meaning(self.columns[index]) == "description"]
        return next(iter(described or texts), None)

    @property
    def reader(self) -> Reader:
        return Reader(self.columns, self.anchor, self.text, self.how)

    @property
    def receipt(self) -> Receipt | None:
        if self.text is None or meaning(self.columns[self.anchor]) != "amount":
            return None
        return Receipt(self.columns, self.text, self.anchor, self.how)

    def row(self, draft: Draft) -> Row:
        product = self._product(draft)
        read = product[1] if product else {}
        cells = tuple(
            read.get(index) or value(column, draft.cells.get(index, ()), self.how)
            for index, column in enumerate(self.columns)
        )
        sure = _UNCHECKED if product is None else _AGREES if product[0] else _DIFFERS
        seen = min(word.confidence for word in draft.words)
        box = union([word.box for word in draft.words])
        return Row(cells, sure * sqrt(min(1.0, seen + 0.02)), draft.page, box)

    def _product(self, draft: Draft) -> tuple[bool, dict[int, str]] | None:
        by_meaning = {meaning(column): index for index, column in enumerate(self.columns)}
        if not {"quantity", "unit_price", "amount"} <= set(by_meaning):
            return None
        parts = (by_meaning["quantity"], by_meaning["unit_price"], by_meaning["amount"])
        return product_reading(draft.cells, self.columns, parts, self.how)
