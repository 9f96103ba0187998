from pathlib import Path

import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from docproc.reading import text_layer, text_trust
from docproc.reading.page import PageText, Source, Word, turned
from docproc.reading.page_marks import Ink
from docproc.reading.text_layer import TextLayer
from tests.unit.reading import drawing

SPANISH = "\n".join(drawing.INVOICE)


def layer_of(text: str, **facts: object) -> TextLayer:
    words = tuple(
        Word(word, (0.1, 0.1, 0.2, 0.12), 1.0, number)
        for number, line in enumerate(text.splitlines())
        for word in line.split()
    )
    return TextLayer(PageText(words, Source.TEXT_LAYER), **facts)  # type: ignore[arg-type] # a table of facts


def shifted(text: str, by: int) -> str:
    return "".join(letter if letter.isspace() else chr(ord(letter) + by) for letter in text)


def inspected(path: Path, index: int = 0) -> TextLayer:
    layer = text_layer.inspect(path, index)
    assert layer is not None
    return layer


def test_words_and_boxes_are_where_they_were_printed(tmp_path: Path) -> None:
    page = text_layer.read(drawing.digital(tmp_path / "a.pdf"), 0)
    assert page is not None
    assert page.text.splitlines() == list(drawing.INVOICE)
    assert (page.source, page.rotation) == (Source.TEXT_LAYER, 0)
    assert page.width / page.height == pytest.approx(595 / 842)
    word = next(word for word in page.words if word.text == "Núñez")
    left = 72 + stringWidth("Cliente: ", "Helvetica", 16)
    x0, y0, x1, y1 = word.box
    assert (x0 * 595, x1 * 595) == pytest.approx((left, left + stringWidth("Núñez", "Helvetica", 16)), abs=1)
    baseline = 90 + 36
    assert baseline - 18 < y0 * 842 < baseline - 10 < baseline < y1 * 842 < baseline + 6


def test_rotated_page_gives_boxes_on_the_page_as_shown(tmp_path: Path) -> None:
    plain = text_layer.read(drawing.digital(tmp_path / "a.pdf"), 0)
    sideways = text_layer.read(drawing.digital(tmp_path / "b.pdf", rotate=90), 0)
    assert plain is not None and sideways is not None
    # Shown sideways by /Rotate, the text runs down: turned back, it stands as on the plain page.
    assert sideways.rotation == 270
    assert sideways.text == plain.text
    assert sideways.words[0].box == pytest.approx(plain.words[0].box, abs=1e-4)


def test_landscape_page_stored_upright_reads_level(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(842, 595))  # as shown; stored 595 by 842
    canvas.setPageRotation(90)
    canvas.translate(595, 0)
    canvas.rotate(90)
    drawing.write(canvas, drawing.INVOICE, (842, 595))
    canvas.save()
    page = text_layer.read(tmp_path / "a.pdf", 0)
    assert page is not None
    assert page.rotation == 0
    assert page.width / page.height == pytest.approx(842 / 595)
    assert page.text.splitlines() == list(drawing.INVOICE)
    assert page.words[0].box[0] * 842 == pytest.approx(72, abs=1.5)


def test_columns_share_lines_and_reading_goes_left_to_right(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=drawing.A4)
    for x, column in ((350, ["Fecha", "Total"]), (72, ["Emisor", "Concepto"])):  # written right column first
        for number, text in enumerate(column):
            canvas.drawString(x, 700 - 20 * number, text)
    canvas.save()
    page = text_layer.read(tmp_path / "a.pdf", 0)
    assert page is not None
    assert page.text == "Emisor Fecha\nConcepto Total"


def test_offset_crop_box_is_the_page(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(600, 800), cropBox=(100, 100, 500, 700))
    canvas.drawString(300, 400, "centro")
    canvas.save()
    page = text_layer.read(tmp_path / "a.pdf", 0)
    assert page is not None
    assert page.words[0].box[0] == pytest.approx(0.5, abs=0.01)
    assert page.words[0].box[3] == pytest.approx(0.5, abs=0.01)


def test_text_outside_the_page_is_left_out(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=drawing.A4)
    drawing.write(canvas, drawing.INVOICE)
    canvas.drawString(-300, 400, "fuera")
    canvas.drawString(100, 2000, "lejos")
    canvas.save()
    assert inspected(tmp_path / "a.pdf").page.text.splitlines() == list(drawing.INVOICE)


def test_hidden_words_on_a_visible_page_are_left_out(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=drawing.A4)
    drawing.write(canvas, drawing.INVOICE)
    drawing.write(canvas, ["Total 9.999,99"], (595, 300), mode=drawing.INVISIBLE)
    canvas.save()
    layer = inspected(tmp_path / "a.pdf")
    assert not layer.is_hidden
    assert layer.page.text.splitlines() == list(drawing.INVOICE)


def test_filled_in_form_fields_are_words(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=drawing.A4)
    drawing.write(canvas, drawing.INVOICE)
    canvas.acroForm.textfield(name="nif", value="B12345678", x=72, y=300, width=200, height=30)
    canvas.save()
    assert inspected(tmp_path / "a.pdf").page.lines[-1][0].text == "B12345678"


def test_slanted_watermark_does_not_tear_lines_apart(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=drawing.A4)
    drawing.write(canvas, drawing.INVOICE)
    canvas.rotate(45)
    canvas.setFont("Helvetica", 40)
    canvas.drawString(300, 200, "C O P I A")
    canvas.save()
    lines = inspected(tmp_path / "a.pdf").page.text.splitlines()
    assert [line for line in drawing.INVOICE if line in lines] == list(drawing.INVOICE)


def test_images_have_no_text_layer(tmp_path: Path) -> None:
    assert text_layer.inspect(drawing.saved(drawing.scan(tmp_path), tmp_path / "a.png"), 0) is None


def test_page_with_nothing_on_it_is_blank_and_believed(tmp_path: Path) -> None:
    layer = inspected(drawing.digital(tmp_path / "a.pdf", []))
    assert layer.is_blank
    assert text_trust.is_trustworthy(layer)


def test_white_shapes_are_blank_but_drawn_ones_are_not(tmp_path: Path) -> None:
    for name, grey in (("white", 1), ("dark", 0)):
        canvas = Canvas(str(tmp_path / name), pagesize=drawing.A4)
        canvas.setFillGray(grey)
        canvas.rect(100, 100, 300, 300, stroke=0, fill=1)
        canvas.save()
    assert inspected(tmp_path / "white").is_blank
    assert not inspected(tmp_path / "dark").is_blank
    assert text_trust.doubt(inspected(tmp_path / "dark")) == "there is no text"


def test_earlier_ocr_layer_that_fits_its_scan_is_believed(tmp_path: Path) -> None:
    layer = inspected(drawing.scanned_pdf(tmp_path / "a.pdf", drawing.scan(tmp_path), drawing.INVOICE))
    assert layer.is_hidden
    assert layer.image_share == 1.0
    assert text_trust.doubt(layer) == ""
    assert {word.confidence for word in layer.page.words} == {0.9}


def test_hidden_words_where_nothing_is_printed_are_not_believed(tmp_path: Path) -> None:
    layer = inspected(
        drawing.scanned_pdf(tmp_path / "a.pdf", drawing.scan(tmp_path), drawing.INVOICE, top=350)
    )
    assert text_trust.doubt(layer) == "its words lie where nothing is printed"


def test_hidden_layer_of_a_few_lines_only_is_not_believed(tmp_path: Path) -> None:
    lines = drawing.INVOICE * 2
    path = drawing.scanned_pdf(tmp_path / "a.pdf", drawing.scan(tmp_path, lines), lines[:3])
    assert text_trust.doubt(inspected(path)) in (
        "much of what is printed is not in it",
        "there is little text beside a picture",
    )


def test_scan_with_a_page_number_as_text_is_not_believed(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=drawing.A4)
    canvas.drawImage(ImageReader(drawing.scan(tmp_path)), 0, 0, *drawing.A4)
    canvas.drawString(280, 30, "Página 1 de 3")
    canvas.save()
    assert text_trust.doubt(inspected(tmp_path / "a.pdf")) == "there is little text beside a picture"


@pytest.mark.parametrize("leader", [".", "_", "…", "-", "· "])
def test_rows_of_dots_do_not_make_a_page_symbols(leader: str) -> None:
    lines = (f"Salario base {leader * 120} 1.828,89", f"Plus convenio {leader * 110} 111,69")
    assert text_trust.garbled("\n".join(lines)) == ""
    assert text_trust.garbled(leader * 200) == "it is mostly symbols"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SPANISH, ""),
        ("INV-2024/0012 A4477-XZ 12/03/2024 1.234,56 ES9121000418450200051332", ""),
        ("Rechnungsnummer Leistungszeitraum Zwischensumme Umsatzsteuer Gesamtbetrag Geschäftsführer", ""),
        ("Счёт на оплату поставщик покупатель сумма итого", ""),
        (
            "".join(chr(0xE000 + ord(letter)) if letter.isalpha() else letter for letter in SPANISH),
            "no meaning",
        ),
        (SPANISH.replace("a", "\ufffd"), "no meaning"),
        (SPANISH.replace("e", "\x07"), "no meaning"),
        (SPANISH.encode().decode("cp1252", "replace").replace("\ufffd", ""), "accents"),
        ("#$ %&/ ()= ?¿! ·$% &/( )=? |@# ~½¬ {[] }*^ Ç¨_ :;> <", "symbols"),
        ("bcdfg hjklm npqrs tvwxz bcdfg hjklm", "pronounced"),
        (shifted(SPANISH, 3), "not those of a language|pronounced"),
        (shifted(SPANISH, -3), "not those of a language|pronounced|symbols"),
        ("", "no text"),
    ],
)
def test_garbled_text_is_recognised(text: str, reason: str) -> None:
    found = text_trust.garbled(text)
    assert bool(found) == bool(reason)
    assert not reason or any(part in found for part in reason.split("|"))


@pytest.mark.parametrize(
    ("facts", "is_believed"),
    [
        ({}, True),
        ({"image_share": 0.4}, True),
        ({"image_share": 0.9, "ink": Ink(under_words=0.8, words_on_ink=1.0)}, True),
        ({"image_share": 0.9, "ink": Ink(under_words=0.1, words_on_ink=1.0)}, False),
        ({"is_hidden": True, "ink": Ink(under_words=0.8, words_on_ink=0.2)}, False),
    ],
)
def test_language_is_believed_only_where_it_covers_the_print(
    facts: dict[str, object], is_believed: bool
) -> None:
    assert text_trust.is_trustworthy(layer_of(SPANISH, **facts)) == is_believed


def test_four_quarter_turns_bring_a_box_back() -> None:
    box = (0.1, 0.2, 0.3, 0.5)
    for quarter in (90, 180, 270):
        assert turned(turned(box, quarter), -quarter) == pytest.approx(box)
    assert turned(box, 90) == pytest.approx((0.5, 0.1, 0.8, 0.3))
