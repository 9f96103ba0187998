"""The tax of an invoice by rate, as rows of a table: each base times its rate makes its tax."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import sqrt

from docproc.apps.documents.understanding.extract import candidates, line_items, normalise, tax_table
from docproc.apps.documents.understanding.extract.layout import layout
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue, Row
from docproc.reading.page import PageText, union

NAME = "tax_breakdown"
# A row is there because its product is right; that none is missing, a rule on the sums says.
_SURE, _WHOLE = 0.97, 0.9


def find(spec: FieldSpec, pages: Sequence[PageText]) -> FieldValue | None:
    """The rows with `rate`, `base` and `tax`, other columns empty; None where no tax table is printed."""
    document = layout(pages)
    amounts = candidates.find("amount", document, normalise.conventions(document.text))
    tables = tax_table.tables(document, amounts)
    if not tables:
        return None
    # The same table may stand on the page twice, or once more for each rate: the fullest, then the largest.
    best = max(tables, key=lambda table: (len(table.rows), abs(Decimal(table.net.value))))
    rows = tuple(_row(spec, row) for row in best.rows)
    box = union([row.box for row in rows if row.page == rows[0].page])
    source = document.pages[rows[0].page].source
    sure = _WHOLE * min(row.confidence for row in rows)
    return FieldValue(line_items.as_json(spec, rows), sure, source, rows[0].page, box, rows=rows)


def _row(spec: FieldSpec, row: tax_table.Row) -> Row:
    values = {"rate": f"{row.rate:.2f}", "base": row.base.value, "tax": row.tax.value}
    seen = min(row.base.at.confidence, row.tax.at.confidence)
    box = union([row.base.at.box, row.tax.at.box])
    cells = tuple(values.get(column.name) for column in spec.columns)
    return Row(cells, _SURE * sqrt(min(1.0, seen + 0.02)), row.base.at.page, box)
