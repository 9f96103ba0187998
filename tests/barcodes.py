"""Barcodes for tests, drawn as pictures and as shapes, and the texts that real ones carry."""

from __future__ import annotations

import numpy
import numpy.typing
import zxingcpp
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from docproc.reading.codes.ticketbai import crc8

Modules = numpy.typing.NDArray[numpy.bool_]
QR, PDF417, CODE128 = (
    zxingcpp.BarcodeFormat.QRCode,
    zxingcpp.BarcodeFormat.PDF417,
    zxingcpp.BarcodeFormat.Code128,
)
LICENCE = (
    "@\n\x1e\rANSI 636026080102DL00410288ZA03290015DLDAQD12345678\nDCSPUBLIC\nDDEN\nDACJOHN\nDDFN\nDADQUINCY"
    "\nDDGN\nDCAD\nDBD08242015\nDBB01311970\nDBA01312035\nDBC1\nDAU069 in\nDAG789 E OAK ST\nDAIANYTOWN"
    "\nDAJCA\nDAK902230000\nDCGUSA\rZAZAA\r"
)


def verifactu(
    number: str = "F-2026-0042", total: str = "121.00", nif: str = "B16596447", day: str = "12-03-2026"
) -> str:
    return (
        "https://www2.agenciatributaria.gob.es/wlpl/TIKE-CONT/ValidarQR"
        f"?nif={nif}&numserie={number.replace('/', '%2F')}&fecha={day}&importe={total}"
    )


def ticketbai(number: str = "27174", total: str = "4.70", nif: str = "B16596447") -> str:
    start = f"TBAI-{nif}-251019-btFpwP8dcLGAF-"
    address = f"https://batuz.eus/QRTBAI/?id={start}{crc8(start):03}&s=T&nf={number}&i={total}"
    return f"{address}&cr={crc8(address):03}"


def modules(text: str, form: zxingcpp.BarcodeFormat = QR) -> Modules:
    """True where a module is dark, without white around."""
    barcode = zxingcpp.create_barcode(text, form)
    dark: Modules = numpy.asarray(barcode.to_image(scale=1, add_quiet_zones=False)) < 128
    return dark


def picture(text: str, form: zxingcpp.BarcodeFormat = QR, scale: int = 4) -> Image.Image:
    dark = modules(text, form)
    image = Image.fromarray(numpy.where(dark, 0, 255).astype("uint8"))
    return image.resize((image.width * scale, image.height * scale), Image.Resampling.NEAREST)


def draw_picture(canvas: Canvas, text: str, x: float, y: float, side: float) -> None:
    canvas.drawImage(ImageReader(picture(text)), x, y, side, side)


def draw_shapes(canvas: Canvas, text: str, x: float, y: float, side: float) -> None:
    """A rectangle for each dark module, as most programs that draw codes do."""
    for left, bottom, step in _squares(text, x, y, side):
        canvas.rect(left, bottom, step, step, stroke=0, fill=1)


def draw_one_shape(canvas: Canvas, text: str, x: float, y: float, side: float) -> None:
    path = canvas.beginPath()
    for left, bottom, step in _squares(text, x, y, side):
        path.rect(left, bottom, step, step)
    canvas.drawPath(path, stroke=0, fill=1)


def _squares(text: str, x: float, y: float, side: float) -> list[tuple[float, float, float]]:
    dark = modules(text)
    step = side / dark.shape[1]
    return [
        (x + column * step, y + side - (row + 1) * step, step)
        for row, column in numpy.argwhere(dark).tolist()
    ]
