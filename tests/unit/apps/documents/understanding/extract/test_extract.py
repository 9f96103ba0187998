import pytest

from docproc.apps.documents.understanding.extract.document import extract
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.reading.page import PageText, Source
from tests.pages import page_of

INVOICE = """
Talleres Ruiz, S.L.                                        FACTURA
Calle Mayor, 5, 28013 Madrid
CIF: A58818501                                             CLIENTE
                                                           Estudio Trama, S.A.
Nº de factura: F-2026/015                                  CIF: B12345674
Fecha de factura: 12/03/2026
Vencimiento: 11/04/2026

Descripción                 Cantidad      Precio      Importe
Revisión                    2             500,00      1.000,00

                                   Base imponible     1.000,00
                                   IVA 21 %             210,00
                                   TOTAL              1.210,00 €
IBAN ES91 2100 0418 4502 0005 1332
"""
ASKED = {
    "invoice_number": "F-2026/015",
    "total_amount": "1210.00",
    "vendor_name": "Talleres Ruiz, S.L.",
    "date": "2026-03-12",
    "vendor_tax_id": "A58818501",
    "net_amount": "1000.00",
    "tax_amount": "210.00",
    "currency": "EUR",
    "customer_name": "Estudio Trama, S.A.",
    "due_date": "2026-04-11",
    "iban": "ES91 2100 0418 4502 0005 1332",
}
_DECIMALS = {"total_amount", "net_amount", "tax_amount", "gross_amount", "closing_balance"}
_DATES = {"date", "due_date", "date_of_birth", "expiry_date"}


def specs(*names: str) -> list[FieldSpec]:
    return [
        FieldSpec(name, "decimal" if name in _DECIMALS else "date" if name in _DATES else "string")
        for name in names
    ]


def values(doc_type: str, text: str, *names: str) -> dict[str, str | None]:
    found = extract(doc_type, specs(*names), [page_of(text)])
    return {name: value.value if value else None for name, value in found.items()}


@pytest.mark.parametrize("name", ASKED)
def test_invoice_fields(name: str) -> None:
    value = extract("invoice", specs(*ASKED), [page_of(INVOICE)])[name]
    assert value is not None and value.value == ASKED[name]
    assert value.source is Source.TEXT_LAYER and value.page == 0


def test_clear_and_checked_values_are_sure() -> None:
    found = extract("invoice", specs("total_amount", "invoice_number", "date", "iban"), [page_of(INVOICE)])
    assert all(value is not None and value.confidence > 0.9 for value in found.values())


def test_box_is_where_the_value_stands() -> None:
    value = extract("invoice", specs("total_amount"), [page_of(INVOICE)])["total_amount"]
    assert value is not None and value.box is not None
    x0, y0, x1, y1 = value.box
    assert 0.5 < x0 < x1 < 0.7 and 12 / 70 <= y0 < y1 <= 13 / 70 + 0.02


def test_badly_read_words_lower_the_confidence() -> None:
    (clear,) = extract("invoice", specs("date"), [page_of(INVOICE)]).values()
    (blurred,) = extract("invoice", specs("date"), [page_of(INVOICE, Source.OCR, confidence=0.5)]).values()
    assert clear is not None and blurred is not None
    assert blurred.source is Source.OCR
    assert blurred.confidence < 0.75 < clear.confidence


def test_sum_tells_the_total_from_the_debt() -> None:
    text = """
    INVOICE
    SUBTOTAL                  $100.00
    SALES TAX                  $10.00
    TOTAL                     $110.00
    PREVIOUS UNPAID BALANCE   $500.00
    AMOUNT DUE                $610.00
    """
    assert values("invoice", text, "total_amount") == {"total_amount": "110.00"}


def test_income_tax_withheld_is_part_of_the_sum() -> None:
    text = """
    FACTURA
    Base imponible     114,48 €
    IVA 21 %            24,04 €
    Retención IRPF 15 % -17,17 €
    TOTAL              121,35 €
    """
    assert values("invoice", text, "net_amount", "tax_amount", "total_amount") == {
        "net_amount": "114.48",
        "tax_amount": "24.04",
        "total_amount": "121.35",
    }


def test_values_below_their_labels() -> None:
    text = """
    Invoice Number     Invoice Date     Due Date       Total
    34278587           6/18/2017        6/24/2017      $56,651.49
    """
    assert values("invoice", text, "invoice_number", "date", "due_date", "total_amount") == {
        "invoice_number": "34278587",
        "date": "2017-06-18",
        "due_date": "2017-06-24",
        "total_amount": "56651.49",
    }


def test_tax_id_with_wrong_letter_is_not_sure() -> None:
    found = extract("invoice", specs("vendor_tax_id"), [page_of("Ruiz\nNIF: 12345678A\nFACTURA")])[
        "vendor_tax_id"
    ]
    # Nothing was misread here: it is the answer, and a person looks at it.
    assert found is not None and found.confidence <= 0.8 and found.reason


def test_receipt() -> None:
    text = """
    PANADERIA SOL S.L.
    Calle Real 5
    12/03/26 18:22
    PAN              1,20
    LECHE            0,80
    TOTAL            2,00
    EFECTIVO         5,00
    CAMBIO           3,00
    """
    assert values("receipt", text, "vendor_name", "date", "total_amount") == {
        "vendor_name": "PANADERIA SOL S.L.",
        "date": "2026-03-12",
        "total_amount": "2.00",
    }


def test_payslip() -> None:
    text = """
    Empresa: Viveros Sierra S.L.              Trabajador: Juan Pablo Mora Gil
    CIF: A58818501                            NIF: 12345678Z
    Periodo de liquidación: 01/04/2026 - 30/04/2026
    Salario base                     2.359,09
    TOTAL DEVENGADO                  2.359,09 €
    TOTAL A DEDUCIR                    350,34 €
    LÍQUIDO TOTAL A PERCIBIR         2.008,75 €
    """
    names = ("company_name", "employee_name", "gross_amount", "net_amount", "period", "employee_tax_id")
    assert values("payslip", text, *names) == {
        "company_name": "Viveros Sierra S.L.",
        "employee_name": "Juan Pablo Mora Gil",
        "gross_amount": "2359.09",
        "net_amount": "2008.75",
        "period": "01/04/2026 - 30/04/2026",
        "employee_tax_id": "12345678Z",
    }


def test_contract_parties_and_date() -> None:
    text = """
    CONTRATO DE ARRENDAMIENTO
    En Madrid, a 2 de febrero de 2026
    De una parte, Inmuebles Sol, S.L., con CIF A58818501 y domicilio en Madrid.
    De otra parte, Dª Ana Gil Mora, mayor de edad, con DNI 12345678Z.
    """
    assert values("contract", text, "date", "party_a", "party_b") == {
        "date": "2026-02-02",
        "party_a": "Inmuebles Sol, S.L.",
        "party_b": "Ana Gil Mora",
    }


def test_bank_statement() -> None:
    text = """
    EXTRACTO DE CUENTA            Fecha: 31/03/2026
    Titular: Ana Gil Mora
    IBAN: ES91 2100 0418 4502 0005 1332
    Saldo anterior     100,00
    Saldo final        350,25
    """
    assert values("bank_statement", text, "iban", "account_holder", "closing_balance", "date") == {
        "iban": "ES91 2100 0418 4502 0005 1332",
        "account_holder": "Ana Gil Mora",
        "closing_balance": "350.25",
        "date": "2026-03-31",
    }


CARD = """
APELLIDOS
ESPAÑOLA
NOMBRE
CARMEN
SEXO     NACIONALIDAD    FECHA DE NACIMIENTO
F        ESP             01 01 1980
VALIDEZ
01 01 2025
DNI 99999999R
"""
ZONE = "IDESPBAA000589599999999R<<<<<<\n8001014F2501017ESP<<<<<<<<<<<7\nESPANOLA<<CARMEN<<<<<<<<<<<<<<"
CARD_FIELDS = ("full_name", "id_number", "date_of_birth", "expiry_date", "nationality")
CARD_VALUES = {
    "full_name": "CARMEN ESPAÑOLA",
    "id_number": "99999999R",
    "date_of_birth": "1980-01-01",
    "expiry_date": "2025-01-01",
    "nationality": "ESP",
}


def test_card_without_zone_is_read_by_its_labels() -> None:
    assert values("id_card", CARD, *CARD_FIELDS) == CARD_VALUES


def test_zone_speaks_first_and_the_print_spells() -> None:
    found = extract("id_card", specs(*CARD_FIELDS), [page_of(CARD), page_of(ZONE)])
    assert {name: value.value if value else None for name, value in found.items()} == CARD_VALUES
    number = found["id_number"]
    assert (
        number is not None and (number.source, number.page) == (Source.CODE, 1) and number.confidence > 0.95
    )


def test_fields_never_heard_of_are_found_by_name_and_labels() -> None:
    text = """
    Póliza: HG-55123
    Tomador del seguro: Ana Gil Mora
    Prima anual                320,50 €
    Fecha de efecto
    1 de mayo de 2026
    """
    asked = [
        FieldSpec("policy_number", labels=("póliza",)),
        FieldSpec("holder", labels=("tomador del seguro",)),
        FieldSpec("prima_anual", "decimal"),
        FieldSpec("start", "date", labels=("fecha de efecto",)),
        FieldSpec("unheard_of"),
    ]
    found = extract("policy", asked, [page_of(text)])
    assert {name: value.value if value else None for name, value in found.items()} == {
        "policy_number": "HG-55123",
        "holder": "Ana Gil Mora",
        "prima_anual": "320.50",
        "start": "2026-05-01",
        "unheard_of": None,
    }


@pytest.mark.parametrize("pages", [[], [PageText((), Source.OCR)], [page_of("...")]])
@pytest.mark.parametrize(
    "doc_type", ["invoice", "id_card", "payslip", "contract", "bank_statement", "policy"]
)
def test_every_field_is_answered_when_there_is_nothing_to_read(doc_type: str, pages: list[PageText]) -> None:
    asked = specs(
        "date", "total_amount", "vendor_name", "full_name", "employee_name", "party_a", "iban", "thing"
    )
    assert extract(doc_type, asked, pages) == {field.name: None for field in asked}


def test_label_without_its_spaces_still_labels() -> None:
    assert values("invoice", "InvoiceNo:A-77\nTotalAmount   12.50", "invoice_number", "total_amount") == {
        "invoice_number": "A-77",
        "total_amount": "12.50",
    }


def test_no_money_means_no_currency_and_no_total() -> None:
    assert values("invoice", "FACTURA\nsin importes", "currency", "total_amount") == {
        "currency": None,
        "total_amount": None,
    }
