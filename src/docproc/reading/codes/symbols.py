"""Barcodes in a picture: what they say, and where they are."""

from __future__ import annotations

import zxingcpp
from PIL import Image

from docproc.reading.page import Box, Code

MOST_TEXT = 10_000  # characters; the largest barcode holds some seven thousand
# Only those that carry a check of their own: the others are found in every second table.
_KINDS = {
    zxingcpp.BarcodeFormat.QRCode: "qr",
    zxingcpp.BarcodeFormat.DataMatrix: "datamatrix",
    zxingcpp.BarcodeFormat.Aztec: "aztec",
    zxingcpp.BarcodeFormat.PDF417: "pdf417",
    zxingcpp.BarcodeFormat.Code128: "code128",
    zxingcpp.BarcodeFormat.EAN13: "ean13",
    zxingcpp.BarcodeFormat.EAN8: "ean8",
    zxingcpp.BarcodeFormat.UPCA: "upca",
}
_FORMATS = zxingcpp.BarcodeFormats(list(_KINDS))


def decode(image: Image.Image) -> tuple[Code, ...]:
    """The barcodes in the picture, from top to bottom; boxes are fractions of it."""
    grey = image if image.mode == "L" else image.convert("L")
    found = zxingcpp.read_barcodes(
        grey, formats=_FORMATS, text_mode=zxingcpp.TextMode.Plain, try_invert=False
    )
    codes = [
        _code(barcode, grey.size) for barcode in found if barcode.text and len(barcode.text) <= MOST_TEXT
    ]
    return tuple(sorted(codes, key=lambda code: (code.box or (0, 0, 0, 0))[1]))


def _code(barcode: zxingcpp.Barcode, size: tuple[int, int]) -> Code:
    kind = _KINDS.get(barcode.format) or _KINDS.get(barcode.symbology, "barcode")
    return Code(kind, _text(barcode.text), _box(barcode.position, size))


def _text(text: str) -> str:
    """As it can be stored: whoever prints a code may put anything into it."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _box(position: zxingcpp.Position, size: tuple[int, int]) -> Box:
    corners = (position.top_left, position.top_right, position.bottom_right, position.bottom_left)
    across = [corner.x / size[0] for corner in corners]
    down = [corner.y / size[1] for corner in corners]
    x0, y0, x1, y1 = (min(max(edge, 0.0), 1.0) for edge in (min(across), min(down), max(across), max(down)))
    return (x0, y0, x1, y1)
