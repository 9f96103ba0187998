"""Codes found on pages: digital ones where only likely places are drawn, and scans."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy
import pikepdf
import pytest
import zxingcpp
from facturx import generate_from_binary
from PIL import Image, ImageFilter
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from docproc.reading import rendering, text_layer
from docproc.reading.codes import on_page, symbols
from docproc.reading.page import Code, PageText, Source
from docproc.reading.reading import trusted_layer
from tests import barcodes, einvoices, papers

Draw = Callable[[Canvas, str, float, float, float], None]
SIDE = 85.0  # points: 30 mm, the least that the tax agency asks for
X, Y = 50.0, 80.0


def invoice(path: Path, draw: Draw | None, *, rotate: int = 0, text: str = barcodes.verifactu()) -> Path:
    """A digital invoice with a code at its lower left."""
    canvas = Canvas(str(path), pagesize=(842, 595) if rotate % 180 else (595, 842))
    canvas.setPageRotation(rotate)
    canvas.setFont("Courier", 11)
    for number, line in enumerate(papers.INVOICE):
        canvas.drawString(50, 780 - number * 24, line)
        canvas.line(50, 775 - number * 24, 545, 775 - number * 24)
    if draw is not None:
        draw(canvas, text, X, Y, SIDE)
    canvas.showPage()
    canvas.save()
    return path


def read(path: Path) -> PageText:
    page = trusted_layer(path, 0)
    assert page is not None
    return page


@pytest.mark.parametrize("draw", [barcodes.draw_picture, barcodes.draw_shapes, barcodes.draw_one_shape])
@pytest.mark.parametrize("rotate", [0, 90])
def test_code_of_a_digital_page_is_read_where_it_is(tmp_path: Path, draw: Draw, rotate: int) -> None:
    page = read(invoice(tmp_path / "a.pdf", draw, rotate=rotate))
    assert [(code.kind, code.text) for code in page.codes] == [("qr", barcodes.verifactu())]
    expected = (X / 595, 1 - (Y + SIDE) / 842, (X + SIDE) / 595, 1 - Y / 842)
    assert page.codes[0].box == pytest.approx(expected, abs=0.005)


def test_code_inside_a_form_is_read(tmp_path: Path) -> None:
    def in_form(canvas: Canvas, text: str, x: float, y: float, side: float) -> None:
        canvas.beginForm("code")
        barcodes.draw_shapes(canvas, text, 0, 0, 100)
        canvas.endForm()
        canvas.translate(x, y)
        canvas.scale(side / 100, side / 100)
        canvas.doForm("code")

    assert len(read(invoice(tmp_path / "a.pdf", in_form)).codes) == 1


def test_wide_barcode_drawn_in_bars_is_read(tmp_path: Path) -> None:
    def bars(canvas: Canvas, text: str, x: float, y: float, side: float) -> None:
        dark = barcodes.modules(text, barcodes.CODE128)[0]
        for number in numpy.flatnonzero(dark).tolist():
            canvas.rect(x + number, y, 1, 40, stroke=0, fill=1)

    codes = read(invoice(tmp_path / "a.pdf", bars, text="90521B16596447")).codes
    assert [(code.kind, code.text) for code in codes] == [("code128", "90521B16596447")]


def test_page_of_text_and_rules_is_not_drawn(tmp_path: Path) -> None:
    layer = text_layer.inspect(invoice(tmp_path / "a.pdf", None), 0)
    assert layer is not None and not layer.code_places.few and not layer.code_places.is_scan


def test_photograph_is_looked_at_and_holds_no_code(tmp_path: Path) -> None:
    def photograph(canvas: Canvas, text: str, x: float, y: float, side: float) -> None:
        tones = numpy.linspace(0, 255, 90_000).reshape(300, 300).astype("uint8")
        canvas.drawImage(ImageReader(Image.fromarray(tones)), x, y, side, side)

    path = invoice(tmp_path / "a.pdf", photograph)
    layer = text_layer.inspect(path, 0)
    assert layer is not None and len(layer.code_places.few) == 1
    assert read(path).codes == ()
    again = text_layer.inspect(path, 0)
    assert again is not None and not again.code_places.few  # as on every other page with this letterhead


def test_table_of_short_rules_is_not_drawn(tmp_path: Path) -> None:
    def table(canvas: Canvas, text: str, x: float, y: float, side: float) -> None:
        for row in range(20):
            canvas.line(x, y + row * 5, x + 100, y + row * 5)
            canvas.line(x + 10 * (row % 5), y + row * 5, x + 10 * (row % 5), y + row * 5 + 5)

    layer = text_layer.inspect(invoice(tmp_path / "a.pdf", table), 0)
    assert layer is not None and not layer.code_places.few


def degraded(path: Path) -> Image.Image:
    """As a cheap scanner at 150 dpi gives it: askew, soft, noisy, grey."""
    image = rendering.page_image(path, 0, dpi=150).convert("L").rotate(1.5, fillcolor=235)
    noise = numpy.random.default_rng(3).normal(0, 14, (image.height, image.width))
    grey = numpy.asarray(image.filter(ImageFilter.GaussianBlur(0.9)), dtype=float) * 0.8 + 30 + noise
    return Image.fromarray(grey.clip(0, 255).astype("uint8"))


@pytest.mark.parametrize("rotation", [0, 90, 180])
def test_code_of_a_bad_scan_is_read_on_the_upright_page(tmp_path: Path, rotation: int) -> None:
    upright = degraded(invoice(tmp_path / "a.pdf", barcodes.draw_picture))
    lying = rendering.turned(upright, -rotation)
    lying.save(tmp_path / "scan.jpg", quality=60)
    page = PageText((), Source.OCR, upright.width, upright.height, rotation)
    found = on_page.of_scan(page, tmp_path / "scan.jpg", 0, Image.open(tmp_path / "scan.jpg"))
    assert [code.text for code in found.codes] == [barcodes.verifactu()]
    assert found.codes[0].box == pytest.approx((0.095, 0.809, 0.243, 0.913), abs=0.005)


def test_scan_with_a_hidden_text_layer_is_looked_at_as_a_whole(tmp_path: Path) -> None:
    scan = rendering.page_image(invoice(tmp_path / "a.pdf", barcodes.draw_picture), 0, dpi=150)
    canvas = Canvas(str(tmp_path / "scan.pdf"), pagesize=(595, 842))
    canvas.drawImage(ImageReader(scan), 0, 0, 595, 842)
    canvas.showPage()
    canvas.save()
    layer = text_layer.inspect(tmp_path / "scan.pdf", 0)
    assert layer is not None and layer.code_places.is_scan
    found = on_page.of_digital(layer.page, tmp_path / "scan.pdf", 0, layer.code_places)
    assert [code.text for code in found.codes] == [barcodes.verifactu()]


@pytest.mark.parametrize(
    ("kind", "form"), [("qr", barcodes.QR), ("pdf417", barcodes.PDF417), ("code128", barcodes.CODE128)]
)
def test_kinds_of_codes(kind: str, form: zxingcpp.BarcodeFormat) -> None:
    image = Image.new("L", (900, 500), 255)
    image.paste(barcodes.picture("ABC-123", form, scale=3), (60, 60))
    assert [(code.kind, code.text) for code in symbols.decode(image)] == [(kind, "ABC-123")]


def test_factur_x_made_by_another_program_is_found(tmp_path: Path) -> None:
    made = generate_from_binary(
        papers.pdf(papers.INVOICE), einvoices.FACTUR_X.encode(), flavor="factur-x", check_xsd=True
    )
    (tmp_path / "a.pdf").write_bytes(made)
    (code,) = read(tmp_path / "a.pdf").codes
    assert (code.kind, code.box) == ("factur-x", None) and "GrandTotalAmount" in code.text


def test_attachments_belong_to_the_first_page_and_only_invoices_count(tmp_path: Path) -> None:
    (tmp_path / "plain.pdf").write_bytes(papers.pdf(papers.INVOICE, papers.LETTER))
    with pikepdf.open(tmp_path / "plain.pdf") as pdf:
        contents = {
            "a.xsig": einvoices.FACTURAE.encode(),
            "b.xml": b"<other/>",
            "c.txt": b"<Facturae/>",
            "d.xml": b"<",
        }
        for name, content in contents.items():
            pdf.attachments[name] = pikepdf.AttachedFileSpec(
                pdf, content, filename=name, description="", mime_type="", creation_date="", mod_date=""
            )
        pdf.save(tmp_path / "a.pdf")
    assert [code.kind for code in read(tmp_path / "a.pdf").codes] == ["facturae"]
    second = trusted_layer(tmp_path / "a.pdf", 1)
    assert second is not None and second.codes == ()


def test_codes_are_seen_once(tmp_path: Path) -> None:
    def twice(canvas: Canvas, text: str, x: float, y: float, side: float) -> None:
        barcodes.draw_picture(canvas, text, x, y, side)
        barcodes.draw_picture(canvas, "https://example.com", x + 200, y, side)

    codes: tuple[Code, ...] = read(invoice(tmp_path / "a.pdf", twice)).codes
    assert sorted(code.text for code in codes) == ["https://example.com", barcodes.verifactu()]
