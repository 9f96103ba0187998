"""Sample documents are valid, add up, say what their labels say, and come out the same each time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from random import Random

import pypdfium2 as pdfium
import pytest
from stdnum import iban as any_iban
from stdnum.es import nif
from stdnum.gb import vat
from typer.testing import CliRunner

from docproc.cli.main import app
from docproc.reading import mrz
from docproc_samples import drawing
from docproc_samples.drawing import id_card, invoice_layouts, invoice_utility, layouts, payslip
from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.invoice import Invoice
from docproc_samples.drawing.sheet import Sheet

FIELDS = {
    "invoice": {
        "invoice_number", "total_amount", "vendor_name", "date", "vendor_tax_id", "net_amount", "tax_amount",
        "currency", "customer_name", "customer_tax_id", "due_date", "withheld_amount",
    },
    "id_card": {"full_name", "id_number", "date_of_birth", "expiry_date", "nationality"},
    "payslip": {
        "company_name", "employee_name", "gross_amount", "net_amount", "period", "employee_tax_id",
        "company_tax_id", "total_deductions",
    },
    "receipt": {"vendor_name", "date", "total_amount", "vendor_tax_id"},
    "contract": {"date", "party_a", "party_b"},
    "bank_statement": {"iban", "account_holder", "closing_balance", "date"},
    "other": set(),
}  # fmt: skip


def text_of(content: bytes | Path) -> str:
    """All text of a PDF, with single spaces."""
    with pdfium.PdfDocument(content) as document:
        return " ".join(" ".join(page.get_textpage().get_text_bounded() for page in document).split())


@pytest.fixture(scope="module")
def digital(tmp_path_factory: pytest.TempPathFactory) -> list[drawing.Sample]:
    return drawing.write(tmp_path_factory.mktemp("digital"), forms=("digital",), count=5)


def cast(seed: int, language: str = "es") -> Cast:
    return Cast(Random(seed), language)


# --- labels


def test_labels_have_one_line_a_file_with_documents_pages_and_fields(digital: list[drawing.Sample]) -> None:
    lines = (digital[0].path.parent / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    labels = [json.loads(line) for line in lines]
    assert [label["file"] for label in labels] == [sample.path.name for sample in digital]
    assert len({label["file"] for label in labels}) == len(labels)
    for sample, label in zip(digital, labels, strict=True):
        with pdfium.PdfDocument(sample.path) as pdf:
            pages = [index for document in label["documents"] for index in document["page_indices"]]
            assert pages == list(range(len(pdf))), "every page belongs to one document"
        for document in label["documents"]:
            assert set(document["fields"]) <= FIELDS[document["doc_type"]]
            names = {layout.name for layout in drawing.LAYOUTS[document["doc_type"]]}
            assert document["layout"] in names | {"blank"}


def test_values_are_in_the_labels_notation(digital: list[drawing.Sample]) -> None:
    for document in (document for sample in digital for document in sample.documents):
        for name, value in document.fields.items():
            if name.startswith("date") or name.endswith("_date"):
                date.fromisoformat(value)
            elif name.endswith(("_amount", "_balance", "_deductions")):
                assert re.fullmatch(r"\d+\.\d\d", value), (name, value)
            else:
                assert value


# --- validity


def test_tax_ids_and_accounts_have_right_check_digits(digital: list[drawing.Sample]) -> None:
    checked = 0
    for sample in digital:
        for document in sample.documents:
            spanish = "-es-" in sample.path.name
            for name in ("vendor_tax_id", "employee_tax_id"):
                number = document.fields.get(name, "")
                if number and spanish:
                    checked += nif.is_valid(number)
                    assert nif.is_valid(number), number
                elif number.startswith("GB"):
                    assert vat.is_valid(number), number
            if "iban" in document.fields:
                assert any_iban.is_valid(document.fields["iban"])
            if document.doc_type == "id_card" and spanish:
                assert nif.is_valid(document.fields["id_number"])
    assert checked >= 10


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "layout",
    [
        invoice_layouts.classic,
        invoice_layouts.modern,
        invoice_utility.utility,
        invoice_layouts.freelancer,
        invoice_layouts.ledger,
    ],
)
@pytest.mark.parametrize("language", ["es", "en"])
def test_invoices_add_up(layout: Callable[[Sheet, Cast], Invoice], language: str, seed: int) -> None:
    sheet = Sheet()
    invoice = layout(sheet, cast(seed, language))
    assert invoice.net == sum(line.amount for line in invoice.lines)
    assert invoice.tax == sum(tax.amount for tax in invoice.taxes)
    assert invoice.total == invoice.net + invoice.tax - invoice.withheld
    assert bool(invoice.withheld) == (layout is invoice_layouts.freelancer and language == "es")


def test_long_invoice_goes_on_to_a_second_page() -> None:
    for layout in invoice_layouts.LONG:
        sheet = Sheet()
        layout.draw(sheet, cast(1))
        assert sheet.page_count == 2
        text = text_of(sheet.finish())
        assert "1 de 2" in text and "2 de 2" in text


@pytest.mark.parametrize("language", ["es", "en"])
def test_payslips_add_up(language: str) -> None:
    possible = layouts.of("payslip", language)
    fields = [possible[seed % len(possible)].draw(Sheet(), cast(seed, language)) for seed in range(6)]
    assert all(Decimal(one["net_amount"]) < Decimal(one["gross_amount"]) for one in fields)
    slip = payslip.spanish_payslip(cast(3))
    assert slip.gross - sum(amount for _, amount in slip.deductions) == slip.net


@pytest.mark.parametrize("seed", range(4))
def test_machine_readable_zones_are_valid(seed: int) -> None:
    card = id_card.spanish_card(cast(seed))
    holder = mrz.parse(card.mrz)
    assert holder is not None and holder.valid
    assert card.person.tax_id in card.mrz[0]
    sheet = Sheet()
    id_card.passport(sheet, cast(seed, "en"))
    lines = re.findall(r"[A-Z0-9<]{44}", text_of(sheet.finish()))
    holder = mrz.parse(lines)
    assert holder is not None and holder.valid


# --- forms


def test_scans_have_no_text_and_digital_files_have_some(tmp_path: Path) -> None:
    kinds = ("receipt", "id_card")
    for sample in drawing.write(tmp_path / "scan", forms=("scan",), kinds=kinds, languages=("es",)):
        assert sample.path.suffix == ".jpg" or not text_of(sample.path)
    for sample in drawing.write(tmp_path / "digital", forms=("digital",), kinds=kinds):
        assert len(text_of(sample.path)) > 100


def test_mixed_packet_has_scanned_and_digital_documents(tmp_path: Path) -> None:
    sample = drawing.packet(tmp_path, seed=2, form="mixed")
    with pdfium.PdfDocument(sample.path) as pdf:
        has_text = [bool(page.get_textpage().get_text_bounded().strip()) for page in pdf]
    assert sum(len(document.page_indices) for document in sample.documents) == len(has_text)
    for document in sample.documents:
        assert len({has_text[index] for index in document.page_indices}) == 1, "a document is scanned whole"
    assert any(has_text) and not all(has_text)


def test_packet_begins_with_a_long_invoice_and_ends_with_two_in_a_row(tmp_path: Path) -> None:
    sample = drawing.packet(tmp_path)
    assert sample.path == tmp_path / "packet.pdf"
    kinds = [document.doc_type for document in sample.documents]
    assert kinds[0] == "invoice" and len(sample.documents[0].page_indices) == 2
    assert kinds[-2:] == ["invoice", "invoice"]
    assert {"id_card", "payslip", "receipt", "contract"} < set(kinds)


def test_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    def contents(name: str, seed: int) -> dict[str, bytes]:
        drawing.write(tmp_path / name, seed=seed, languages=("es",), kinds=("receipt", "invoice"))
        if seed == 1:
            drawing.packet(tmp_path / name, form="mixed")
        return {path.name: path.read_bytes() for path in sorted((tmp_path / name).iterdir())}

    first = contents("first", 1)
    assert contents("again", 1) == first
    assert contents("other", 2)["labels.jsonl"] != first["labels.jsonl"]


def test_progress_counts_up_to_all_files(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    drawing.write(tmp_path, kinds=("other",), forms=("digital",), progress=lambda *news: told.append(news))
    assert told == [(1, 2, "other-es-digital-01.pdf"), (2, 2, "other-en-digital-01.pdf")]


# --- the command


def test_command_writes_files_and_says_where_they_are(tmp_path: Path) -> None:
    arguments = ["samples", str(tmp_path), "--language", "es", "--form", "digital", "--kind", "packet"]
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 0, told.output
    assert f"docproc run {tmp_path / 'packet.pdf'}" in told.output.replace("\n", "")
    told = CliRunner().invoke(app, [*arguments, "--json"])
    answer = json.loads(told.stdout)
    assert answer == {
        "directory": str(tmp_path),
        "labels": str(tmp_path / "labels.jsonl"),
        "files": [str(tmp_path / "packet.pdf")],
    }
