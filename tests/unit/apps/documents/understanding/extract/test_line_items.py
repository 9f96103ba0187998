"""Tables: rows under headings, wrapped descriptions, several pages, and receipts without headings."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from random import Random

import pytest

from docproc.apps.documents.understanding.extract.line_items import find
from docproc.apps.documents.understanding.extract.spec import ColumnSpec, FieldSpec
from docproc.reading import text_layer
from docproc.reading.page import Source
from docproc_samples.drawing import invoice_layouts
from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.sheet import Sheet
from tests.pages import page_of

ITEMS = FieldSpec(
    "line_items", "table",
    columns=(
        ColumnSpec("description"), ColumnSpec("quantity", "decimal"), ColumnSpec("unit_price", "decimal"),
        ColumnSpec("amount", "decimal"),
    ),
)  # fmt: skip
Cells = tuple[str | None, ...]


def rows(*pages: str, spec: FieldSpec = ITEMS) -> list[Cells]:
    found = find(spec, [page_of(page) for page in pages])
    return [row.cells for row in found.rows] if found else []


def test_rows_under_headings_down_to_the_totals() -> None:
    page = """
    FACTURA F-12                                   Fecha: 12/03/2026

    Descripción                  Cantidad     Precio      IVA     Importe
    Papel A4 80 g                      10       5,00     21 %       50,00
    Tóner negro                         2      25,00     21 %       50,00 €

                                      Base imponible               100,00
                                      TOTAL                        121,00
    """
    assert rows(page) == [("Papel A4 80 g", "10", "5.00", "50.00"), ("Tóner negro", "2", "25.00", "50.00")]


def test_wrapped_description_belongs_to_the_row_above() -> None:
    page = """
    Concepto                              Uds.     Precio     Total
    Servicio de mantenimiento de la          1     350,00    350,00
    instalación eléctrica, planta 3
    Desplazamiento                           2      20,00     40,00
    Subtotal                                                 390,00
    """
    assert rows(page) == [
        ("Servicio de mantenimiento de la instalación eléctrica, planta 3", "1", "350.00", "350.00"),
        ("Desplazamiento", "2", "20.00", "40.00"),
    ]


def test_headings_of_two_lines_are_no_row() -> None:
    page = """
    Descripción                Cantidad     Precio     Importe
                                          unitario         neto
    Bombilla LED                      4       3,50       14,00
    Total                                                14,00
    """
    assert rows(page) == [("Bombilla LED", "4", "3.50", "14.00")]


def test_quantity_may_come_first_and_codes_are_left_out() -> None:
    page = """
    Qty    Item no.    Description            Unit price     Amount
    3      AB-100      Ergonomic chair            171.10     513.30
    12     53252       Bolts M8, box of 200        14.51     174.12
    Total due                                                687.42
    """
    assert rows(page) == [
        ("Ergonomic chair", "3", "171.10", "513.30"),
        ("Bolts M8, box of 200", "12", "14.51", "174.12"),
    ]


def test_table_goes_on_over_pages_with_and_without_headings() -> None:
    first = """
    Descripción              Cantidad     Precio     Importe
    Silla                           1      10,00       10,00
    Suma y sigue                                       10,00
    Página 1 de 3
    """
    second = """
    Suma anterior                                      10,00
    Descripción              Cantidad     Precio     Importe
    Mesa                            2      20,00       40,00
    """
    third = """
    Lámpara                         3       5,00       15,00
    TOTAL                                              65,00
    """
    assert [cells[0] for cells in rows(first, second, third)] == ["Silla", "Mesa", "Lámpara"]


def test_thousandths_are_told_by_the_product() -> None:
    page = """
    Artículo              Kg         Precio      Importe
    Tomate pera        1,500           2,00         3,00
    Total                                           3,00
    """
    spec = FieldSpec(
        "x",
        "table",
        columns=(ITEMS.columns[0], ColumnSpec("quantity", "decimal", ("kg",)), *ITEMS.columns[2:]),
    )
    assert rows(page, spec=spec) == [("Tomate pera", "1.500", "2.00", "3.00")]


def test_receipt_without_headings() -> None:
    page = """
    PANADERIA SOL S.L.
    Calle Real 5
    12/03/26 18:22
    PAN INTEGRAL            1,20
    2 LECHE       0,40      0,80
    CAFE MOLIDO
      3 x         2,00      6,00
    TOTAL                   8,00
    EFECTIVO               10,00
    CAMBIO                  2,00
    """
    assert rows(page) == [
        ("PAN INTEGRAL", None, None, "1.20"),
        ("LECHE", "2", "0.40", "0.80"),
        ("CAFE MOLIDO", "3", "2.00", "6.00"),
    ]


def test_own_columns_are_found_by_their_labels() -> None:
    spec = FieldSpec(
        "movements", "table",
        columns=(
            ColumnSpec("day", "date", ("fecha",)), ColumnSpec("text", labels=("movimiento",)),
            ColumnSpec("saldo", "decimal"),
        ),
    )  # fmt: skip
    page = """
    Fecha          Movimiento              Saldo
    01/03/2026     Nómina marzo         2.100,00
    04/03/2026     Recibo luz           2.041,37
    """
    assert rows(page, spec=spec) == [
        ("2026-03-01", "Nómina marzo", "2100.00"),
        ("2026-03-04", "Recibo luz", "2041.37"),
    ]


@pytest.mark.parametrize("page", ["", "Una carta sin tabla alguna.", "Descripción     Importe\nNada\n"])
def test_no_table(page: str) -> None:
    assert rows(page) == []


def test_row_has_its_place_and_a_wrong_product_makes_it_doubtful() -> None:
    page = """
    Descripción      Cantidad     Precio     Importe
    Silla                   2      10,00       25,00
    Total                                      25,00
    """
    found = find(ITEMS, [page_of(page)])
    assert found is not None and found.source is Source.TEXT_LAYER
    (row,) = found.rows
    assert row.confidence < 0.75 and row.page == 0 and 0 <= row.box[0] < row.box[2] <= 1
    assert found.confidence <= row.confidence


LAYOUTS = (
    invoice_layouts.classic,
    invoice_layouts.modern,
    invoice_layouts.ledger,
    invoice_layouts.classic_long,
)


@pytest.mark.parametrize("draw", LAYOUTS, ids=lambda draw: str(draw.__name__))
@pytest.mark.parametrize("language", ["es", "en"])
def test_drawn_lines_are_read_exactly(draw: object, language: str, tmp_path: Path) -> None:
    sheet = Sheet()
    invoice = draw(sheet, Cast(Random(f"items/{language}"), language))  # type: ignore[operator] # a layout
    path = tmp_path / "invoice.pdf"
    path.write_bytes(sheet.finish())
    pages = [text_layer.read(path, index) for index in range(sheet.page_count)]
    found = find(ITEMS, [page for page in pages if page is not None])
    assert found is not None
    drawn = [(line.description, line.quantity, line.price, line.amount) for line in invoice.lines]
    read = [
        (text, *(Decimal(number or "NaN") for number in numbers))
        for text, *numbers in (r.cells for r in found.rows)
    ]
    assert read == drawn
