"""What codes and electronic invoices say, read without looking at any page."""

from __future__ import annotations

import pytest

from docproc.reading import codes
from docproc.reading.codes import aamva, einvoice, epc, safe_xml, ticketbai, verifactu
from docproc.reading.codes.attached import as_code
from docproc.reading.page import Code
from tests import barcodes, einvoices
from tests.einvoices import SAID


@pytest.mark.parametrize(
    "address",
    [
        barcodes.verifactu("A/12"),
        barcodes.verifactu("A/12").replace("ValidarQR", "ValidarQRNoVerifactu"),
        barcodes.verifactu("A/12").replace("www2.agenciatributaria.gob.es", "prewww2.aeat.es"),
        barcodes.verifactu("A/12").replace("121.00", "121") + " ",
    ],
)
def test_verifactu_names_the_invoice(address: str) -> None:
    assert verifactu.read(address) == {
        "vendor_tax_id": "B16596447",
        "invoice_number": "A/12",
        "date": "2026-03-12",
        "total_amount": "121.00",
    }


@pytest.mark.parametrize(
    "text",
    [
        barcodes.verifactu().replace("agenciatributaria.gob.es", "agenciatributaria.gob.es.evil.com"),
        barcodes.verifactu().replace("www2.agencia", "agencia-"),
        "https://example.com/?nif=B16596447&importe=1",
        "http://[",
        "BCD",
    ],
)
def test_other_addresses_are_not_the_tax_agency(text: str) -> None:
    assert verifactu.read(text) is None


def test_impossible_parts_of_an_address_are_left_out() -> None:
    address = barcodes.verifactu(total="free", day="31-02-2026")
    assert verifactu.read(address) == {"vendor_tax_id": "B16596447", "invoice_number": "F-2026-0042"}


def test_signs_that_nobody_prints_are_not_taken_over() -> None:
    said = verifactu.read(barcodes.verifactu("A%00%0A1")) or {}
    assert said["invoice_number"] == "A 1"
    assert "invoice_number" not in (verifactu.read(barcodes.verifactu("9" * 400)) or {})


def test_ticketbai_names_issuer_day_number_and_amount() -> None:
    assert ticketbai.read(barcodes.ticketbai()) == {
        "vendor_tax_id": "B16596447",
        "date": "2019-10-25",
        "invoice_number": "T27174",
        "total_amount": "4.70",
    }


def test_ticketbai_of_the_specification() -> None:
    """The identifier and the address that the specification itself gives as an example."""
    identifier = "TBAI-00000006Y-251019-btFpwP8dcLGAF-237"
    assert ticketbai.identifier(identifier) == {"vendor_tax_id": "00000006Y", "date": "2019-10-25"}
    assert ticketbai.read(f"https://batuz.eus/QRTBAI/?id={identifier}&s=T&nf=27174&i=4.70&cr=007")


def test_ticketbai_with_a_changed_amount_fails_its_check_sum() -> None:
    assert ticketbai.read(barcodes.ticketbai().replace("i=4.70", "i=4.10")) is None


def test_american_licence() -> None:
    assert aamva.read(barcodes.LICENCE) == {
        "full_name": "JOHN QUINCY PUBLIC",
        "given_name": "JOHN QUINCY",
        "surname": "PUBLIC",
        "id_number": "D12345678",
        "date_of_birth": "1970-01-31",
        "expiry_date": "2035-01-31",
        "sex": "M",
    }


def test_canadian_and_first_licences_write_dates_and_names_differently() -> None:
    canadian = barcodes.LICENCE.replace("DBB01311970", "DBB19700131").replace("DCGUSA", "DCGCAN")
    assert (aamva.read(canadian) or {})["date_of_birth"] == "1970-01-31"
    first = "@\n\x1e\rAAMVA6360000102DL00390187DLDAQ123\nDAAPUBLIC,JOHN,QUINCY\nDBB01311970\n"
    assert (aamva.read(first) or {})["full_name"] == "JOHN QUINCY PUBLIC"
    assert aamva.read("a parcel label") is None


def test_payment_code_gives_the_account_only() -> None:
    text = "BCD\n002\n1\nSCT\n\nSuministros Vega\nES91 2100 0418 4502 0005 1332\nEUR60.50\n\n\nF-2026-0042"
    assert epc.read(text) == {"iban": "ES9121000418450200051332", "currency": "EUR"}
    assert epc.read("BCD\nSCT") is None


@pytest.mark.parametrize(
    ("kind", "text"),
    [("factur-x", einvoices.FACTUR_X), ("facturae", einvoices.FACTURAE), ("ubl", einvoices.UBL)],
)
def test_electronic_invoices_say_the_same_in_every_standard(kind: str, text: str) -> None:
    code = as_code(text.encode())
    assert code is not None and code.kind == kind
    country = "ES" if kind == "factur-x" else ""  # its numbers are those of European trade
    expected = {name: country + value if name.endswith("tax_id") else value for name, value in SAID.items()}
    assert einvoice.read(code.kind, code.text) == [expected]


def test_signature_and_enclosed_files_are_not_kept() -> None:
    code = as_code(einvoices.FACTURAE.encode())
    assert code is not None and "SignatureValue" not in code.text and len(code.text) < 4000


def test_invoice_in_another_encoding_is_read() -> None:
    latin = einvoices.FACTURAE.replace("UTF-8", "ISO-8859-1").encode("latin-1")
    code = as_code(latin)
    assert (
        code is not None and einvoice.read(code.kind, code.text)[0]["customer_name"] == SAID["customer_name"]
    )


@pytest.mark.parametrize(
    "hostile",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]><Facturae>&b;</Facturae>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><Facturae>&x;</Facturae>',
        "<Facturae>",
        "no XML",
        "",
    ],
)
def test_hostile_or_broken_xml_says_nothing(hostile: str) -> None:
    assert safe_xml.parse(hostile) is None and as_code(hostile.encode()) is None


def test_other_xml_and_endless_xml_are_no_invoices() -> None:
    assert as_code(b"<Invoice><ID>1</ID></Invoice>") is None
    assert as_code(f"<Facturae>{'<Item>text</Item>' * 20_000}</Facturae>".encode()) is None
    assert safe_xml.parse(b" " * (safe_xml.MOST_BYTES + 1)) is None


@pytest.mark.parametrize(
    ("code", "text", "doc_type"),
    [
        (Code("factur-x", einvoices.FACTUR_X), "", "invoice"),
        (Code("facturae", einvoices.FACTURAE), "", "invoice"),
        (Code("facturae", einvoices.facturae("1", kind="FA")), "", "receipt"),
        (Code("qr", barcodes.verifactu()), "FACTURA", "invoice"),
        (Code("qr", barcodes.verifactu()), "Factura Simplificada 12", "receipt"),
        (Code("qr", barcodes.ticketbai()), "", "invoice"),
        (Code("pdf417", barcodes.LICENCE), "", "id_card"),
        (Code("qr", "https://example.com"), "Ticket", None),
        (Code("ean13", "5901234123457"), "", None),
    ],
)
def test_codes_hint_at_the_type(code: Code, text: str, doc_type: str | None) -> None:
    assert codes.type_hint([code], text) == doc_type


def test_zone_hints_at_an_identity_document() -> None:
    zone = "IDESPBAA000589599999999R<<<<<<\n8001014F2501017ESP<<<<<<<<<<<7\nESPANOLA<ESPANOLA<<CARMEN<<<<<"
    assert codes.type_hint([], f"APELLIDOS\n{zone}") == "id_card"
    assert codes.type_hint([], "a << b") is None
