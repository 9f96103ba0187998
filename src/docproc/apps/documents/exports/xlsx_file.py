"""Tables as a workbook: a sheet each, real dates and numbers, doubtful cells coloured with their reason."""

from __future__ import annotations

import io
from datetime import date
from decimal import Decimal
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.comments import Comment
from openpyxl.styles import Font, PatternFill
from openpyxl.utils import get_column_letter

from docproc.apps.documents.exports.harmless_cells import is_like_formula
from docproc.apps.documents.exports.tables import AMOUNT, DATE, Cell, Table

# Spreadsheets write them as the reader's country does.
FORMATS = {AMOUNT: "#,##0.00", DATE: "dd/mm/yyyy"}
DOUBT = PatternFill("solid", start_color="FFFFE3B8", end_color="FFFFE3B8")
BOLD = Font(bold=True)
LONGEST_CELL = 32_000
WIDEST = 60
NARROWEST = 9


def as_xlsx(*tables: Table) -> bytes:
    book = Workbook(write_only=True)
    for table in tables:
        _sheet(book, table)
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def _sheet(book: Workbook, table: Table) -> None:
    sheet = book.create_sheet(table.name[:31])
    sheet.freeze_panes = "A2"
    for index, heading in enumerate(table.headings):
        longest = max([len(heading), *(len(_plain(row[index].value)) for row in table.rows)])
        sheet.column_dimensions[get_column_letter(index + 1)].width = min(max(longest + 2, NARROWEST), WIDEST)
    if table.headings:
        sheet.auto_filter.ref = f"A1:{get_column_letter(len(table.headings))}{len(table.rows) + 1}"
    sheet.append([_cell(sheet, Cell(heading), is_bold=True) for heading in table.headings])
    for row in table.rows:
        sheet.append([_cell(sheet, cell) for cell in row])


def _plain(value: Any) -> str:
    return "" if value is None else str(value)


def _cell(sheet: Any, cell: Cell, *, is_bold: bool = False) -> Any:
    value = cell.value
    if isinstance(value, str):
        value = ILLEGAL_CHARACTERS_RE.sub("", value)[:LONGEST_CELL]
    made = WriteOnlyCell(sheet, value=value)
    if isinstance(value, str):
        made.data_type = "s"  # text for good: openpyxl would make a formula of "=…"
        if is_like_formula(value):
            made.quotePrefix = True  # and stays text when somebody edits it
    elif isinstance(value, date | Decimal) and cell.kind in FORMATS:
        made.number_format = FORMATS[cell.kind]
    if is_bold:
        made.font = BOLD
    if cell.doubt:
        made.fill = DOUBT
        made.comment = Comment(cell.doubt[:1000], "DocProc", width=320, height=90)
    return made
