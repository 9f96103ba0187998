"""Every layout prints what its labels say, and models can be tested on layouts they never saw."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from random import Random

import pypdfium2 as pdfium
import pytest

from docproc_samples import drawing
from docproc_samples.drawing import layouts, packet_contents, writing
from docproc_samples.drawing.cast import COUNTRIES, Cast
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import Sheet

DRAWN = [
    pytest.param(kind, layout, language, id=f"{kind}-{layout.name}-{language}")
    for kind, known in drawing.LAYOUTS.items()
    for layout in known
    for language in layout.languages
    if language in COUNTRIES  # how others write days and amounts is babel's business
]
REQUIRED = {
    "invoice": {"invoice_number", "total_amount", "vendor_name", "date", "customer_name", "vendor_tax_id"},
    "id_card": {"full_name", "id_number", "date_of_birth", "expiry_date"},
    "payslip": {"company_name", "employee_name", "gross_amount", "net_amount", "period", "employee_tax_id"},
    "receipt": {"vendor_name", "date", "total_amount"},
    "contract": {"date", "party_a", "party_b"},
    "bank_statement": {"iban", "account_holder", "date"},
    "other": set(),
}


def text_of(content: bytes) -> str:
    """All text of a PDF, with single spaces."""
    with pdfium.PdfDocument(content) as document:
        return " ".join(" ".join(page.get_textpage().get_text_bounded() for page in document).split())


def ways(name: str, value: str) -> set[str]:
    """How a labelled value may stand on the page."""
    if name == "currency":
        return {writing.SIGNS[value], value}
    if name.endswith(("_amount", "_balance", "_deductions")):
        written = {writing.number(Decimal(value), language) for language in ("es", "en")}
        return written | {value.replace(".", ",")}
    if name.startswith("date") or name.endswith("_date"):
        day = date.fromisoformat(value)
        known = {way for country in ("ES", "GB", "US") for way in writing.date_writings(day, country)}
        return known | {f"{day:%d %m %Y}", f"{day:%d %b %Y}".upper(), f"{day:%m/%d/%Y}"}
    return {value}


def is_printed(text: str, name: str, value: str) -> bool:
    if name == "full_name":  # surnames and given names stand in fields of their own
        return all(part in text for part in value.split())
    if name in ("iban", "id_number"):
        return value in re.sub("[ -]", "", text)
    if name == "tax_amount" and len(re.findall(r"IVA|I\.V\.A|VAT|tax|TAX|%", text)) > 2:
        return True  # a bill with several rates may print the taxes one by one
    return any(way in text for way in ways(name, value))


@pytest.mark.parametrize(("kind", "layout", "language"), DRAWN)
def test_layout_prints_what_its_labels_say(kind: str, layout: Layout, language: str) -> None:
    for seed in range(2):
        sheet = Sheet()
        fields = layout.draw(sheet, Cast(Random(f"{seed}/{layout.name}"), language))
        text = text_of(sheet.finish())
        assert REQUIRED[kind] <= set(fields)
        for name, value in fields.items():
            assert is_printed(text, name, value), (seed, name, value, text)


@pytest.mark.parametrize("language", ["es", "en"])
@pytest.mark.parametrize("kind", drawing.LAYOUTS)
def test_every_kind_has_layouts_to_train_on_and_others_to_test_with(kind: str, language: str) -> None:
    known = {choice: layouts.of(kind, language, choice) for choice in ("all", "training", "held_out")}
    names = [layout.name for layout in drawing.LAYOUTS[kind]]
    assert len(names) == len(set(names))
    assert known["training"] and known["held_out"]
    assert known["all"] == [
        one for one in known["all"] if one in known["training"] or one in known["held_out"]
    ]
    assert not {one.name for one in known["training"]} & {one.name for one in known["held_out"]}


@pytest.mark.parametrize("choice", ["training", "held_out"])
def test_chosen_layouts_are_the_only_ones_drawn(tmp_path: Path, choice: drawing.Choice) -> None:
    drawn = drawing.write(tmp_path, count=3, forms=("digital",), layouts=choice)
    known = {
        (kind, layout.name): layout.held_out for kind, every in drawing.LAYOUTS.items() for layout in every
    }
    for document in (document for sample in drawn for document in sample.documents):
        if document.layout != packet_contents.BLANK.name:
            assert known[document.doc_type, document.layout] == (choice == "held_out"), document.layout


# --- packets


def fields_of(tmp_path: Path, number: int, kind: str, field: str, seed: int = 3) -> list[str]:
    packet = drawing.packet(tmp_path, seed, number=number)
    return [document.fields.get(field, "") for document in packet.documents if document.doc_type == kind]


@pytest.mark.parametrize("seed", range(3, 7))
def test_second_packet_has_several_invoices_of_one_vendor(tmp_path: Path, seed: int) -> None:
    vendors = fields_of(tmp_path, 2, "invoice", "vendor_tax_id", seed)
    assert len(vendors) >= 2 and len(set(vendors)) == 1
    assert len(set(fields_of(tmp_path, 2, "invoice", "invoice_number", seed))) == len(vendors)


def test_third_packet_has_one_workers_payslips_of_several_months(tmp_path: Path) -> None:
    workers = fields_of(tmp_path, 3, "payslip", "employee_tax_id")
    assert len(workers) >= 2 and len(set(workers)) == 1
    assert len(set(fields_of(tmp_path, 3, "payslip", "period"))) == len(workers)


def test_fifth_packet_has_curricula_in_a_row(tmp_path: Path) -> None:
    packet = drawing.packet(tmp_path, 3, number=5)
    assert [document.doc_type for document in packet.documents].count("other") >= 2
