"""Electronic invoices as files of their own: a page for people, the XML for the fields."""

from __future__ import annotations

from pathlib import Path

import pytest

from docproc.apps.documents.understanding.extract.document import extract
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.errors import UnreadableFileError
from docproc.reading.files.kinds import Kind, kind_of_head
from docproc.reading.files.unfold import unfold
from docproc.reading.page import Source
from docproc.reading.reading import trusted_layer
from tests import einvoices, papers

FIELDS = [
    FieldSpec(name, "date" if "date" in name else "decimal" if "amount" in name else "string")
    for name in einvoices.SAID
]


@pytest.mark.parametrize("text", [einvoices.FACTUR_X, einvoices.FACTURAE, einvoices.UBL])
def test_invoice_becomes_a_page_that_says_the_same(tmp_path: Path, text: str) -> None:
    source = papers.save(tmp_path, "factura.xsig", text.encode())
    (file,) = unfold(source, "factura.xsig", tmp_path / "work")
    assert (file.media_type, file.page_count, file.notes) == ("application/pdf", 1, ("converted from XML",))
    page = trusted_layer(file.path, 0)
    assert page is not None and "Gestoría Puerta Nueva" in page.text
    found = extract("invoice", FIELDS, [page])
    values = {name: value.value.removeprefix("ES") for name, value in found.items() if value}
    assert values == {name: value.removeprefix("ES") for name, value in einvoices.SAID.items()}
    assert all(value and value.source is Source.EMBEDDED and value.box for value in found.values())


def test_batch_has_a_page_for_each_invoice(tmp_path: Path) -> None:
    source = papers.save(tmp_path, "lote.xml", einvoices.facturae("1", "2", "3").encode("utf-8-sig"))
    (file,) = unfold(source, "lote.xml", tmp_path / "work")
    assert file.page_count == 3


def test_same_file_gives_the_same_page(tmp_path: Path) -> None:
    source = papers.save(tmp_path, "a.xml", einvoices.UBL.encode())
    one, two = (unfold(source, "a.xml", tmp_path / folder)[0].path.read_bytes() for folder in "ab")
    assert one == two


def test_long_invoice_in_another_script_is_still_drawn(tmp_path: Path) -> None:
    line = "<InvoiceLine><ItemDescription>Договор</ItemDescription></InvoiceLine>"
    text = einvoices.FACTURAE.replace("<Items>", "<Items>" + line * 40).replace("Vega", "Вега")
    (file,) = unfold(papers.save(tmp_path, "a.xml", text.encode()), "a.xml", tmp_path / "work")
    page = trusted_layer(file.path, 0)
    assert page is not None and "13 líneas más" in page.text
    found = extract("invoice", [FieldSpec("vendor_name")], [page])["vendor_name"]
    assert found is not None and found.value == "Suministros Вега, S.L."


@pytest.mark.parametrize(
    "text",
    [
        "<?xml version='1.0'?><note>hello</note>",
        "<Invoice><ID>1</ID></Invoice>",
        "<html><body>Facturae</body></html>",
        "Facturae",
    ],
)
def test_other_xml_is_refused_as_before(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnreadableFileError) as refused:
        unfold(papers.save(tmp_path, "a.xml", text.encode()), "a.xml", tmp_path / "work")
    assert refused.value.code == "unsupported_type"


@pytest.mark.parametrize("text", ["<Facturae>", "<Facturae/>", "<Facturae><Invoices/></Facturae>"])
def test_broken_invoice_is_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnreadableFileError) as refused:
        unfold(papers.save(tmp_path, "a.xml", text.encode()), "a.xml", tmp_path / "work")
    assert refused.value.code in ("damaged", "unsupported_type")


def test_entities_are_not_followed(tmp_path: Path) -> None:
    secret = papers.save(tmp_path, "secret", b"s3cret")
    text = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">]>' + einvoices.FACTURAE.partition("?>")[
        2
    ].replace("2026-0042", "&x;")
    assert kind_of_head(text.encode()) is Kind.XML
    with pytest.raises(UnreadableFileError) as refused:
        unfold(papers.save(tmp_path, "a.xml", text.encode()), "a.xml", tmp_path / "work")
    assert refused.value.code == "damaged"
