"""Turns pages into pictures of paper: scanned, photographed or faxed, and squeezed by JPEG."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from random import Random

import pypdfium2 as pdfium
from PIL import Image

from docproc_samples.drawing.spoiling import spoil

RESOLUTIONS = (120, 150, 150, 150, 150, 170, 200, 240)  # dots per inch
GREY_SHARE = 0.7
WRITTEN_AT = re.compile(rb"/CreationDate\(D:\d{14}")
INVENTED_ID = re.compile(rb"/ID\[<[0-9A-F]{32}><[0-9A-F]{32}>\](?=>>\s+startxref)")


def scan(pdf: bytes, random: Random, indices: Sequence[int] | None = None) -> dict[int, tuple[bytes, int]]:
    """Pages of a PDF, all or those wanted, as JPEGs, each with its resolution in dots per inch."""
    dpi = random.choice(RESOLUTIONS)
    grey = random.random() < GREY_SHARE
    return {
        index: (_squeeze(spoil(image, random), random, dpi), dpi)
        for index, image in _render(pdf, dpi, indices, grey)
    }


def _render(
    pdf: bytes, dpi: int, indices: Sequence[int] | None, grey: bool
) -> Iterator[tuple[int, Image.Image]]:
    document = pdfium.PdfDocument(pdf)
    try:
        for index in sorted(indices) if indices is not None else range(len(document)):
            page = document[index]
            yield index, page.render(scale=dpi / 72).to_pil().convert("L" if grey else "RGB")
            page.close()
    finally:
        document.close()


def image_pdf(pages: list[tuple[bytes, int]]) -> bytes:
    """A PDF of pictures only, as scanners write it."""
    with pdfium.PdfDocument.new() as result:
        for jpeg, dpi in pages:
            _add_picture(result, jpeg, dpi)
        return _saved(result)


def replace_pages(pdf: bytes, pages: dict[int, tuple[bytes, int]]) -> bytes:
    """The same PDF with some pages exchanged for pictures."""
    with pdfium.PdfDocument(pdf) as digital, pdfium.PdfDocument.new() as result:
        for index in range(len(digital)):
            if index in pages:
                _add_picture(result, *pages[index])
            else:
                result.import_pages(digital, [index])
        return _saved(result)


def _add_picture(document: pdfium.PdfDocument, jpeg: bytes, dpi: int) -> None:
    """Add a page that shows a JPEG, embedded as it is."""
    picture = pdfium.PdfImage.new(document)
    picture.load_jpeg(BytesIO(jpeg), inline=True)
    width, height = (pixels * 72 / dpi for pixels in picture.get_px_size())
    picture.set_matrix(pdfium.PdfMatrix().scale(width, height))
    page = document.new_page(width, height)
    page.insert_obj(picture)
    page.gen_content()
    page.close()


def _saved(document: pdfium.PdfDocument) -> bytes:
    buffer = BytesIO()
    document.save(buffer)
    return _timeless(buffer.getvalue())


def _timeless(pdf: bytes) -> bytes:
    """Overwrite the identifier and the time that PDFium notes; all else is the same from run to run."""
    pdf = INVENTED_ID.sub(b"/ID[<" + b"0" * 32 + b"><" + b"0" * 32 + b">]", pdf)
    return WRITTEN_AT.sub(b"/CreationDate(D:20000101000000", pdf)


def _squeeze(image: Image.Image, random: Random, dpi: int) -> bytes:
    buffer = BytesIO()
    image.save(buffer, "JPEG", quality=random.randint(45, 80), dpi=(dpi, dpi))
    return buffer.getvalue()
