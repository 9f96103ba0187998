"""What somebody who tried DocProc for the first time found wrong, each as a test."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from docproc.apps.documents.schemas import SchemaField
from docproc.apps.documents.understanding.extract import normalise, periods
from docproc.apps.documents.understanding.extract.document import extract
from docproc.apps.documents.understanding.extract.spec import ColumnSpec, FieldSpec, FieldType
from docproc.apps.documents.understanding.memory import learn
from docproc.reading.page import PageText, Source
from tests.pages import page_of


def found(doc_type: str, text: str | PageText, **fields: FieldType) -> dict[str, str | None]:
    page = page_of(text) if isinstance(text, str) else text
    asked = [FieldSpec(name, kind) for name, kind in fields.items()]
    return {name: one.value if one else None for name, one in extract(doc_type, asked, [page]).items()}


def scan(text: str) -> PageText:
    return replace(page_of(text), source=Source.OCR)


# --- whole numbers

COURSE = """
Academia Lumen                       FICHA DE GRUPO
Plazas: 45        Precio: 1.200,50
Alumnos inscritos: 1.032     Importe medio: 99,90
"""


def test_integer_is_not_lost_to_a_decimal_on_its_line() -> None:
    assert found("group", COURSE, plazas="decimal") == {"plazas": "45.00"}
    assert found("group", COURSE, precio="decimal") == {"precio": "1200.50"}


def test_there_is_a_type_for_whole_numbers() -> None:
    assert found("group", COURSE, plazas="integer", alumnos_inscritos="integer") == {
        "plazas": "45",
        "alumnos_inscritos": "1032",
    }
    assert SchemaField(name="plazas", type="integer", min=1).spec.type == "integer"


# --- sums carried over

CARRIED = """
Ferretería Arco, S.L.   CIF A58818501           FACTURA
Nº de factura: F-77                            Fecha: 12/03/2026
Descripción                                     Importe
Tornillos                                         800,00
Tuercas                                           450,40
                          Suma y sigue          1.250,40
"""


def test_sum_that_is_carried_over_is_not_the_total() -> None:
    assert found("invoice", CARRIED, total_amount="decimal", net_amount="decimal") != {
        "total_amount": "1250.40"
    }
    assert found("invoice", CARRIED, total_amount="decimal")["total_amount"] != "1250.40"


# --- separators that OCR lost

SLIP = """
RECIBO DE SALARIOS
Empresa: Sol S.L. CIF A58818501
Trabajador: Ana Gil NIF 12345678Z
Periodo de liquidación: MENS 01 MAR 26 a 31 MAR 26
Total devengado                 {gross}
Total a deducir                   429,67
Líquido a percibir              1.420,33
"""


def test_amount_whose_separator_was_lost_is_repaired_where_the_sum_proves_it() -> None:
    asked: dict[str, FieldType] = {"gross_amount": "decimal", "net_amount": "decimal"}
    read = found("payslip", scan(SLIP.format(gross="185000")), **asked)
    assert read == {"gross_amount": "1850.00", "net_amount": "1420.33"}


def test_without_proof_an_amount_stays_as_it_was_read() -> None:
    asked: dict[str, FieldType] = {"gross_amount": "decimal", "net_amount": "decimal"}
    assert found("payslip", scan(SLIP.format(gross="186100")), **asked)["gross_amount"] != "1861.00"
    assert found("payslip", SLIP.format(gross="185000"), **asked)["gross_amount"] != "1850.00"  # not misread


# --- periods


def test_period_stands_without_the_words_around_it_and_as_dates() -> None:
    asked: dict[str, FieldType] = {"period": "string", "period_from": "date", "period_to": "date"}
    assert found("payslip", SLIP.format(gross="1.850,00"), **asked) == {
        "period": "01 MAR 26 a 31 MAR 26",
        "period_from": "2026-03-01",
        "period_to": "2026-03-31",
    }


@pytest.mark.parametrize(
    ("written", "days"),
    [
        ("del 1 al 31 de enero de 2026", ("2026-01-01", "2026-01-31")),
        ("01/02/2026 - 28/02/2026", ("2026-02-01", "2026-02-28")),
        ("16 al 30 abril 2026", ("2026-04-16", "2026-04-30")),
        ("Febrero 2024", ("2024-02-01", "2024-02-29")),
        ("04/2026", ("2026-04-01", "2026-04-30")),
        ("30/04/2026 - 01/04/2026", None),
        ("sin periodo", None),
    ],
)
def test_days_of_a_period(written: str, days: tuple[str, str] | None) -> None:
    assert periods.days(written) == days


# --- tax by rate

RATES = """
Distribuciones Olmo, S.L.  CIF A58818501     FACTURA Nº F-9
Fecha: 12/03/2026
Base imponible      % IVA      Cuota
  1.000,00          21 %       210,00
    200,00          10 %        20,00
Total factura                1.430,00
"""


def test_tax_is_told_by_rate() -> None:
    columns = tuple(ColumnSpec(name, "decimal") for name in ("rate", "base", "tax"))
    spec = FieldSpec("tax_breakdown", "table", columns=columns)
    value = extract("invoice", [spec], [page_of(RATES)])["tax_breakdown"]
    assert value is not None
    assert json.loads(value.value) == [
        {"rate": "21.00", "base": "1000.00", "tax": "210.00"},
        {"rate": "10.00", "base": "200.00", "tax": "20.00"},
    ]


# --- oddities that a person confirmed

ODD = """
Bar Nebli           FACTURA
NIF: B12345678
www.nebli.example   Tel. 912 345 678
Calle Mayor 5, 28013 Madrid
Nº de factura: {number}     Fecha: {day}/03/2026
Total factura  {total}
"""


def odd(number: str, day: str, total: str) -> PageText:
    return page_of(ODD.format(number=number, day=day, total=total))


def test_odd_tax_id_that_a_person_confirmed_is_not_doubted_again() -> None:
    spec = FieldSpec("vendor_tax_id", validators=("tax_id",))
    first = extract("invoice", [spec], [odd("A-1", "12", "121,00")])["vendor_tax_id"]
    assert first is not None and first.value == "B12345678" and first.reason is not None
    example = learn([spec], [odd("A-1", "12", "121,00")], {spec.name: first.value}, {spec.name: first.value})
    again = extract("invoice", [spec], [odd("A-2", "19", "88,10")], examples=[example])["vendor_tax_id"]
    assert again is not None and again.value == "B12345678"
    assert again.reason is None and again.confidence > 0.8


# --- languages


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("12 février 2026", "2026-02-12"),
        ("12. Februar 2026", "2026-02-12"),
        ("3 giugno 2026", "2026-06-03"),
        ("3 de junho de 2026", "2026-06-03"),
        ("7 maart 2026", "2026-03-07"),
        ("5 d'abril de 2026", "2026-04-05"),
        ("5 de xaneiro de 2026", "2026-01-05"),
        ("2026ko otsailaren 12a", "2026-02-12"),
    ],
)
def test_dates_of_the_languages_around(written: str, day: str) -> None:
    from docproc.reading.folding import fold

    assert [value for *_, value in normalise.dates(fold(written), True)] == [day]


GERMAN = """
Holzbau Steiner GmbH                               RECHNUNG
80331 München   USt-IdNr. DE136695976
Rechnungsnummer: 2026-1043          Rechnungsdatum: 12. März 2026
Zahlbar bis: 11. April 2026
Rechnung an: Ana Gil
Beschreibung            Menge     Einzelpreis      Betrag
Montage                   2        500,00        1.000,00
                                Nettobetrag      1.000,00
                                MwSt. 19 %         190,00
                                Gesamtbetrag     1.190,00 €
"""


def test_german_invoice_is_read_by_its_own_labels() -> None:
    asked: dict[str, FieldType] = {
        "invoice_number": "string",
        "date": "date",
        "due_date": "date",
        "net_amount": "decimal",
        "tax_amount": "decimal",
        "total_amount": "decimal",
        "vendor_name": "string",
    }
    assert found("invoice", GERMAN, **asked) == {
        "invoice_number": "2026-1043",
        "date": "2026-03-12",
        "due_date": "2026-04-11",
        "net_amount": "1000.00",
        "tax_amount": "190.00",
        "total_amount": "1190.00",
        "vendor_name": "Holzbau Steiner GmbH",
    }


# --- addresses of receipts

TICKET = """
KEDAI BUKU SETIA SDN BHD
(12345-A)
NO 5, JALAN MAWAR 2,
TAMAN BUNGA, 81100 JOHOR BAHRU
TEL: 07-1234567
TAX INVOICE
PEN          5.00
TOTAL        5.00
"""


def test_address_of_a_receipt_is_what_stands_below_the_sign() -> None:
    assert found("receipt", TICKET, vendor_address="string") == {
        "vendor_address": "NO 5, JALAN MAWAR 2, TAMAN BUNGA, 81100 JOHOR BAHRU"
    }
