"""A table as CSV that the spreadsheet of the reader's country opens by double-click.

In Spanish: semicolons, decimal commas, 16/11/2026. In English: commas, decimal points, 2026-11-16. Both begin
with a byte order mark, without which Excel takes UTF-8 for something else.
"""

from __future__ import annotations

import csv
import io
from datetime import date
from decimal import Decimal
from typing import Any

from docproc.apps.documents.exports.harmless_cells import as_text
from docproc.apps.documents.exports.tables import AMOUNT, Cell, Table

SEPARATORS = {"es": ";", "en": ","}


def as_csv(table: Table, language: str) -> bytes:
    made = io.StringIO(newline="")
    written = csv.writer(made, delimiter=SEPARATORS[language], lineterminator="\r\n")
    written.writerow(table.headings)
    for row in table.rows:
        written.writerow([_said(cell, language) for cell in row])
    return made.getvalue().encode("utf-8-sig", "replace")


def _said(cell: Cell, language: str) -> Any:
    value = cell.value
    if isinstance(value, Decimal):
        digits = max(2, _behind(value)) if cell.kind == AMOUNT else _behind(value)
        said = f"{value:.{digits}f}"
        return said.replace(".", ",") if language == "es" else said
    if isinstance(value, date):
        return f"{value:%d/%m/%Y}" if language == "es" else value.isoformat()
    return as_text(value) if isinstance(value, str) else value


def _behind(value: Decimal) -> int:
    exponent = value.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
