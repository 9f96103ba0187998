"""Tables for accountants: a row a document, lines of their own, real dates and numbers, doubts with their
reason."""

from __future__ import annotations

import csv
import io
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from openpyxl import load_workbook

from docproc.apps.documents.exports.csv_file import as_csv
from docproc.apps.documents.exports.tables import Answered, Table, tables
from docproc.apps.documents.exports.xlsx_file import as_xlsx
from docproc.apps.documents.schemas import ExtractionSchema

SCHEMAS = {
    "invoice": ExtractionSchema.model_validate(
        {
            "fields": [
                {"name": "invoice_number"},
                {"name": "total_amount", "type": "decimal"},
                {"name": "date", "type": "date"},
                {
                    "name": "line_items",
                    "type": "table",
                    "columns": [
                        {"name": "description"},
                        {"name": "quantity", "type": "decimal"},
                        {"name": "amount", "type": "decimal"},
                    ],
                },
            ]
        }
    ),
    "receipt": ExtractionSchema.model_validate(
        {"fields": [{"name": "vendor_name"}, {"name": "total_amount", "type": "decimal"}]}
    ),
}
ROWS = [
    {"description": "Silla", "quantity": "2.5", "amount": "1036.45"},
    {"description": "=1", "amount": None},
]
RESULT: dict[str, Any] = {
    "files": [{"name": "a.pdf", "page_count": 2}, {"name": "b.pdf", "page_count": 3}],
    "documents": [
        {
            "doc_type": "invoice",
            "page_indices": [2, 3],
            "needs_review": ["total_amount"],
            # As JSONB gives them back: in no order of ours.
            "fields": {
                "total_amount": {"value": "40478.34", "confidence": 0.6, "page": 3, "reason": "two totals"},
                "date": {"value": "2026-11-16", "page": 2},
                "line_items": {"value": ROWS, "page": 3, "rows": [{"page": 3}, {"page": 4}]},
                "invoice_number": {"value": "F-26-1", "page": 2},
            },
        },
        {
            "doc_type": "receipt",
            "page_indices": [4],
            "needs_review": ["doc_type"],
            "fields": {"vendor_name": {"value": "-cmd|'/c'!A1"}, "total_amount": {"value": "-3.5"}},
        },
    ],
}


def made(language: str = "es") -> tuple[Table, Table]:
    return tables([Answered("2026/118", RESULT, SCHEMAS)], language)


def said(table: Table) -> list[list[Any]]:
    return [[cell.value for cell in row] for row in table.rows]


def test_document_is_a_row_in_the_order_of_its_schema_with_pages_of_its_file_from_1() -> None:
    documents, _ = made()
    assert documents.headings == [
        "Documento", "Fichero", "Páginas", "Tipo", "Referencia",
        "Número de factura", "Importe total", "Fecha", "Proveedor", "Por revisar",
    ]  # fmt: skip
    first, second = said(documents)
    assert first[:8] == [
        1,
        "b.pdf",
        "1–2",
        "Factura",
        "2026/118",
        "F-26-1",
        Decimal("40478.34"),
        date(2026, 11, 16),
    ]
    assert second[1:3] == ["b.pdf", "3"] and second[5:8] == [None, Decimal("-3.5"), None]


def test_doubtful_cells_say_why_in_the_readers_language() -> None:
    english, spanish = made("en")[0], made("es")[0]
    assert english.rows[0][6].doubt == "two totals"
    assert "two totals" not in spanish.rows[0][6].doubt and spanish.rows[0][6].doubt
    assert english.rows[0][-1].value == "Total amount: two totals"
    assert spanish.rows[1][3].doubt and spanish.rows[1][-1].value.startswith("Tipo: ")
    assert [cell.doubt for cell in spanish.rows[0][:6]] == [""] * 6


def test_lines_are_rows_of_their_own_and_say_whose_they_are() -> None:
    _, lines = made()
    assert lines.headings == ["Documento", "Fichero", "Página", "Línea", "Descripción", "Cantidad", "Importe"]
    assert said(lines) == [
        [1, "b.pdf", 2, 1, "Silla", Decimal("2.5"), Decimal("1036.45")],
        [1, "b.pdf", 3, 2, "=1", None, None],
    ]


@pytest.mark.parametrize(
    ("language", "separator", "amount", "day", "quantity"),
    [("es", ";", "40478,34", "16/11/2026", "2,5"), ("en", ",", "40478.34", "2026-11-16", "2.5")],
)
def test_csv_is_written_as_the_readers_spreadsheet_reads_it(
    language: str, separator: str, amount: str, day: str, quantity: str
) -> None:
    documents, lines = made(language)
    content = as_csv(documents, language)
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=separator))
    assert rows[1][6:8] == [amount, day]
    assert rows[2][8] == "'-cmd|'/c'!A1"  # no formula
    found = list(csv.reader(io.StringIO(as_csv(lines, language).decode("utf-8-sig")), delimiter=separator))
    assert found[1][5] == quantity and found[2][4] == "'=1"


def test_xlsx_has_real_values_two_sheets_and_colours_doubts() -> None:
    book = load_workbook(io.BytesIO(as_xlsx(*made())))
    assert book.sheetnames == ["Documentos", "Líneas"]
    sheet = book["Documentos"]
    total, day, vendor = sheet["G2"], sheet["H2"], sheet["I3"]
    assert (total.value, total.number_format) == (40478.34, "#,##0.00")
    assert (day.value, day.number_format, day.is_date) == (datetime(2026, 11, 16), "dd/mm/yyyy", True)
    assert total.fill.start_color.rgb == "FFFFE3B8" and total.comment is not None
    assert sheet["F2"].comment is None and sheet["F2"].fill.fill_type is None
    assert vendor.data_type == "s" and vendor.quotePrefix
    assert sheet.freeze_panes == "A2" and sheet.auto_filter.ref == "A1:J3"
    assert book["Líneas"]["E3"].data_type == "s"


@pytest.mark.parametrize("result", [{}, {"documents": None}, {"words": 3}, [1], "x"])
def test_answers_of_other_applications_have_no_rows(result: Any) -> None:
    documents, lines = tables([Answered("x", result)], "en")
    assert not documents.rows and not lines.rows
    assert load_workbook(io.BytesIO(as_xlsx(documents, lines))).sheetnames == ["Documents", "Lines"]


def test_what_has_no_schema_is_there_as_text() -> None:
    result = {"documents": [{"doc_type": "a/b", "page_indices": [0], "fields": {"x": {"value": "a\x00b"}}}]}
    documents, _ = tables([Answered("x", result)], "en")
    assert documents.rows[0][5].value == "a\x00b"
    assert load_workbook(io.BytesIO(as_xlsx(documents)))["Documents"]["F2"].value == "ab"
