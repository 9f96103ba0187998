"""Attached data before codes, codes before print; where they contradict, a person is told why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from docproc.apps.documents.reasons import sentence
from docproc.apps.documents.understanding.extract import ladder
from docproc.apps.documents.understanding.extract.document import extract
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.reading.page import Box, Code, PageText, Source
from tests import barcodes, einvoices
from tests.pages import page_of

INVOICE = """
Suministros Vega, S.L.                                       FACTURA
CIF: B16596447

Factura n.º: F-2026-0042             Fecha: 12/03/2026
Cliente: Gestoría Puerta Nueva, S.A.

Concepto                 Cantidad      Precio      Importe
Papel A4                       10        5,00        50,00
Tóner negro                     2       25,00        50,00

Base imponible                                  100,00 €
IVA 21 %                                         21,00 €
TOTAL FACTURA                                   121,00 €
"""
AT: Box = (0.1, 0.8, 0.25, 0.9)
FIELDS = (
    FieldSpec("invoice_number", required=True),
    FieldSpec("total_amount", "decimal", required=True),
    FieldSpec("date", "date"),
    FieldSpec("vendor_tax_id"),
    FieldSpec("vendor_name"),
)


def told(value: FieldValue) -> str:
    """The reason as answers have it."""
    return sentence(value.reason) if value.reason else ""


def page(*codes: Code, text: str = INVOICE) -> PageText:
    return replace(page_of(text), codes=codes)


def qr(**said: str) -> Code:
    return Code("qr", barcodes.verifactu(**said), AT)


def found(*codes: Code, text: str = INVOICE, fields: tuple[FieldSpec, ...] = FIELDS) -> dict[str, FieldValue]:
    answers = extract("invoice", fields, [page(*codes, text=text)])
    return {name: value for name, value in answers.items() if value is not None}


def test_invoice_with_a_qr_code_is_extracted_from_it_exactly() -> None:
    values = found(qr())
    said = {name: values[name] for name in ("invoice_number", "total_amount", "date", "vendor_tax_id")}
    assert {name: value.value for name, value in said.items()} == {
        "invoice_number": "F-2026-0042",
        "total_amount": "121.00",
        "date": "2026-03-12",
        "vendor_tax_id": "B16596447",
    }
    for value in said.values():
        assert (value.source, value.page, value.box, value.reason) == (Source.CODE, 0, AT, None)
        assert value.confidence >= 0.97
    assert values["total_amount"].confidence >= 0.99  # the print says so, too
    assert values["vendor_name"].source is Source.TEXT_LAYER


def test_amount_that_contradicts_the_print_goes_to_a_person_with_the_reason() -> None:
    total = found(qr(total="112.00"))["total_amount"]
    assert (total.value, total.source) == ("112.00", Source.CODE)
    assert total.confidence <= 0.5
    assert told(total) == "the QR code says 112.00, the page says 121.00"


def test_number_and_issuer_that_contradict_the_print_are_told() -> None:
    values = found(qr(number="F-2026-0999", nif="A58818501"))
    assert "F-2026-0999, the page says F-2026-0042" in told(values["invoice_number"])
    assert "A58818501, the page says B16596447" in told(values["vendor_tax_id"])


def test_code_is_believed_where_the_print_says_nothing() -> None:
    values = found(qr(), text="Gracias por su visita\nVuelva pronto")
    assert values["total_amount"].value == "121.00" and values["total_amount"].confidence == 0.97


def test_number_with_its_series_apart_is_no_contradiction() -> None:
    number = found(qr(number="A2026/17"), text=INVOICE.replace("F-2026-0042", "2026/17 "))["invoice_number"]
    assert number.reason is None and number.confidence >= 0.97


def test_income_tax_withheld_explains_a_smaller_total() -> None:
    """The tax agency is told 121.00; the page asks for 106.00, for 15.00 are withheld."""
    withheld = INVOICE.replace(
        "TOTAL FACTURA                                   121,00 €",
        "Retención IRPF 15 %                             -15,00 €\n"
        "TOTAL A PAGAR                                   106,00 €",
    )
    total = found(qr(), text=withheld)["total_amount"]
    assert (total.value, total.reason, total.source) == ("106.00", None, Source.TEXT_LAYER)


def test_identifier_of_ticketbai_speaks_where_its_code_cannot_be_read() -> None:
    printed = barcodes.ticketbai().partition("id=")[2].partition("&")[0]
    values = found(text=f"{INVOICE}\n{printed}")
    assert values["vendor_tax_id"].source is Source.CODE and values["vendor_tax_id"].value == "B16596447"
    assert values["date"].value == "2019-10-25" and "TicketBAI" in told(values["date"])
    misread = found(text=f"{INVOICE}\n{printed.replace('F-', 'E-')}")
    assert misread["date"].source is Source.TEXT_LAYER


def test_two_codes_that_contradict_each_other_are_told() -> None:
    total = found(qr(), qr(total="99.00"))["total_amount"]
    assert told(total) == "the QR code says 121.00, another QR code says 99.00"
    assert total.confidence <= 0.5


def test_attached_invoice_speaks_before_the_code() -> None:
    fields = (*FIELDS, FieldSpec("net_amount", "decimal"), FieldSpec("iban"), FieldSpec("customer_name"))
    values = found(qr(), Code("factur-x", einvoices.FACTUR_X), fields=fields)
    assert {name: value.value for name, value in values.items()} == {
        "invoice_number": "F-2026-0042",
        "total_amount": "121.00",
        "date": "2026-03-12",
        "vendor_tax_id": "B16596447",
        "vendor_name": "Suministros Vega, S.L.",
        "net_amount": "100.00",
        "iban": "ES9121000418450200051332",
        "customer_name": "Gestoría Puerta Nueva, S.A.",
    }
    assert {value.source for value in values.values()} == {Source.EMBEDDED}
    assert min(value.confidence for value in values.values()) >= 0.97
    assert values["total_amount"].box is not None  # where the print says it
    assert values["iban"].box is None


def test_attached_invoice_and_code_that_differ_are_told() -> None:
    total = found(Code("factur-x", einvoices.FACTUR_X), qr(total="99.00"))["total_amount"]
    assert told(total) == "the attached e-invoice says 121.00, the QR code says 99.00"


def test_of_a_batch_the_invoice_on_the_page_counts() -> None:
    batch = Code("facturae", einvoices.facturae("2026-0041", "2026-0042"))
    assert found(batch)["invoice_number"].source is Source.EMBEDDED
    other = Code("facturae", einvoices.facturae("2026-0001", "2026-0002"))
    assert found(other)["invoice_number"].source is Source.TEXT_LAYER


def test_names_are_spelt_in_many_ways() -> None:
    text = INVOICE.replace("Suministros Vega, S.L.", "VEGA Papelería       ")
    name = found(Code("facturae", einvoices.FACTURAE), text=text)["vendor_name"]
    assert (name.value, name.reason) == ("Suministros Vega, S.L.", None) and name.confidence > 0.9


def test_wrong_check_digit_in_a_code_is_told() -> None:
    tax_id = found(qr(nif="B16596440"), text="Gracias por su visita")["vendor_tax_id"]
    assert tax_id.confidence <= 0.5 and "check digits" in told(tax_id)


@pytest.mark.parametrize("doc_type", ["payslip", "contract", "bank_statement", "other"])
def test_code_of_an_invoice_says_nothing_of_other_types(doc_type: str) -> None:
    spec = [FieldSpec("net_amount", "decimal")]
    codes = Code("factur-x", einvoices.FACTUR_X)
    assert extract(doc_type, spec, [page(codes, text="")]) == {"net_amount": None}


def test_type_of_ones_own_is_served_by_codes_too() -> None:
    answer = extract("factura_proveedor", [FieldSpec("total_amount", "decimal")], [page(qr(), text="")])
    assert answer["total_amount"] is not None and answer["total_amount"].value == "121.00"


@pytest.mark.parametrize(
    ("confidence", "contradicts"), [(0.95, True), (0.75, True), (0.5, False), (0.2, False)]
)
def test_only_what_the_print_says_surely_contradicts(confidence: float, contradicts: bool) -> None:
    printed = FieldValue("131.00", confidence, Source.OCR, 0, AT)
    spec = FieldSpec("total_amount", "decimal")
    answer = ladder.climb("invoice", [spec], [page(qr(), text="")], {"total_amount": printed})["total_amount"]
    assert answer is not None and answer.value == "121.00"
    assert bool(answer.reason) == contradicts and (answer.confidence <= 0.5) == contradicts


CARD = """
ESPAÑA                  DOCUMENTO NACIONAL DE IDENTIDAD
APELLIDOS
BELMONTE IBAÑEZ
NOMBRE
AITANA
NACIONALIDAD     FECHA DE NACIMIENTO
ESP              25 12 1983
DNI NÚM. 39337243K
"""
BACK = """
IDESPCAA000000439337243K<<<<<<
8312251F3201015ESP<<<<<<<<<<<2
BELMONTE<IBANEZ<<AITANA<<<<<<<
"""
PERSON = (
    FieldSpec("full_name", required=True),
    FieldSpec("id_number", required=True),
    FieldSpec("date_of_birth", "date"),
    FieldSpec("expiry_date", "date"),
    FieldSpec("nationality"),
    FieldSpec("sex"),
)


def test_back_of_a_card_is_extracted_from_its_zone_exactly() -> None:
    values = extract("id_card", PERSON, [page_of(BACK, Source.OCR)])
    assert {name: value and (value.value, value.source, value.reason) for name, value in values.items()} == {
        "full_name": ("AITANA BELMONTE IBANEZ", Source.CODE, None),
        "id_number": ("39337243K", Source.CODE, None),
        "date_of_birth": ("1983-12-25", Source.CODE, None),
        "expiry_date": ("2032-01-01", Source.CODE, None),
        "nationality": ("ESP", Source.CODE, None),
        "sex": ("F", Source.CODE, None),
    }
    assert all(value is not None and value.confidence >= 0.9 and value.box for value in values.values())


def test_front_and_back_agree_and_the_front_spells_the_name() -> None:
    values = extract("id_card", PERSON, [page_of(CARD), page_of(BACK)])
    name, number, birth = (values[field] for field in ("full_name", "id_number", "date_of_birth"))
    assert name and name.value == "AITANA BELMONTE IBAÑEZ"
    assert number and number.confidence >= 0.99 and number.page == 1
    assert birth and birth.value == "1983-12-25" and birth.confidence >= 0.99


def test_back_of_another_card_is_told() -> None:
    values = extract("id_card", PERSON, [page_of(CARD.replace("25 12 1983", "24 12 1983")), page_of(BACK)])
    birth = values["date_of_birth"]
    assert birth and birth.confidence <= 0.5
    assert told(birth) == "the machine-readable zone says 1983-12-25, the page says 1983-12-24"


def test_failed_check_digit_of_the_zone_is_told() -> None:
    values = extract("id_card", PERSON, [page_of(BACK.replace("8312251F", "8312261F"))])
    birth = values["date_of_birth"]
    assert birth and birth.confidence <= 0.5 and "check digit of the date of birth" in told(birth)


def test_check_digit_misread_in_a_blurred_zone_is_forgiven_where_the_print_says_the_same() -> None:
    blurred = page_of(BACK.replace("8312251F", "8312257F"), Source.OCR, confidence=0.8)
    birth = extract("id_card", PERSON, [page_of(CARD), blurred])["date_of_birth"]
    assert birth and birth.value == "1983-12-25" and birth.reason is None
    alone = extract("id_card", PERSON, [blurred])["date_of_birth"]
    assert alone and alone.confidence <= 0.5


def test_card_that_never_expires_is_no_contradiction() -> None:
    """Its zone says 99-01-01, its print 9999."""
    printed = FieldValue("9999-01-01", 0.9, Source.OCR, 0, AT)
    zone = page_of(BACK.replace("3201015ESP<<<<<<<<<<<2", "9901018ESP<<<<<<<<<<<0"))
    answer = ladder.climb("id_card", PERSON, [zone], {"expiry_date": printed})["expiry_date"]
    assert answer and (answer.value, answer.reason) == ("9999-01-01", None)


def test_american_licence_is_extracted_from_its_barcode() -> None:
    licence = Code("pdf417", barcodes.LICENCE, AT)
    values = extract(
        "id_card", PERSON, [page(licence, text="CALIFORNIA DRIVER LICENSE\nLN PUBLIC\nDL D12345678")]
    )
    number, name = values["id_number"], values["full_name"]
    assert number and (number.value, number.source, number.box) == ("D12345678", Source.CODE, AT)
    assert name and name.value == "JOHN QUINCY PUBLIC"
