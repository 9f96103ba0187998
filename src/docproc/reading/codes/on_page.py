"""The codes of a page: those printed on it, and what is attached to its file.

Blocking and native: call it in a killable child process.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy
import pypdfium2
from PIL import Image

from docproc.errors import PermanentError
from docproc.reading import rendering
from docproc.reading.codes import attached, symbols
from docproc.reading.codes.places import Area, Places, remember_empty
from docproc.reading.page import Box, Code, PageText, turned
from docproc.reading.page_marks import Frame

_QUIET = 8.0  # points of white around a code that readers rely on
_PIXELS = 280  # along the longer side: at least four for each module of a VeriFactu code …
_LEAST_SCALE = 2.8  # … and more for each point of a wide barcode
_SCAN_DPI = 200
_LEAST_CONTRAST = 60  # of 255
_LEAST_INK = 0.06  # of the area, and as a share of it …
_MOST_BETWEEN = 0.25  # … the tones that are neither dark nor light
_MOST_PIXELS = 10_000_000  # a sheet at 300 dpi; larger photographs are read as well at half the size


def of_scan(page: PageText, path: Path, index: int, image: Image.Image) -> PageText:
    """The page with the codes seen in its picture, and those attached to its file."""
    seen = _turned(symbols.decode(_shrunk(image)), page.rotation)
    return replace(page, codes=(*_attached(path, index), *seen))


def of_blank(page: PageText, path: Path, index: int) -> PageText:
    """A page with nothing to see may still have its data attached."""
    return replace(page, codes=_attached(path, index))


def of_digital(page: PageText, path: Path, index: int, where: Places) -> PageText:
    """The same for a page that was not read from a picture: only places that may hold a code are drawn."""
    codes = _attached(path, index)
    if where.is_scan or where.few:
        with rendering.open_page(path, index) as opened:
            codes += _turned(_printed(opened, where), page.rotation)
    return replace(page, codes=codes) if codes else page


def _printed(page: pypdfium2.PdfPage, where: Places) -> tuple[Code, ...]:
    if where.is_scan:
        return _on_whole(page)
    frame = Frame.of(page)
    codes: list[Code] = []
    for place in where.few:
        seen = _within(page, frame, place.area)
        codes += [code for code in seen if code not in codes]
        if not seen:
            remember_empty(place)
    return tuple(codes)


def _on_whole(page: pypdfium2.PdfPage) -> tuple[Code, ...]:
    try:
        image = rendering.draw(page, _SCAN_DPI / rendering.POINTS_PER_INCH, _MOST_PIXELS)
    except PermanentError:  # its text was read: the page is not lost for a code that cannot be drawn
        return ()
    return symbols.decode(image)


def _within(page: pypdfium2.PdfPage, frame: Frame, area: Area) -> list[Code]:
    """The codes in a part of the page, drawn large enough to be read."""
    width, height = page.get_size()
    x0, y0, x1, y1 = frame.fractions(*area)
    part = (
        max(x0 - _QUIET / width, 0.0),
        max(y0 - _QUIET / height, 0.0),
        min(x1 + _QUIET / width, 1.0),
        min(y1 + _QUIET / height, 1.0),
    )
    longer = max((part[2] - part[0]) * width, (part[3] - part[1]) * height)
    image = _drawn(page, part, max(_LEAST_SCALE, _PIXELS / longer))
    if image is None or not _has_two_tones(image):
        return []
    return [replace(code, box=_on_page(code.box, part)) for code in symbols.decode(image)]


def _has_two_tones(image: Image.Image) -> bool:
    """Whether it is dark on light with little between, as codes are and photographs are not."""
    counts = numpy.asarray(image.histogram()[:256], dtype=float).cumsum()
    counts /= counts[-1]
    darkest, lightest = int(numpy.searchsorted(counts, 0.02)), int(numpy.searchsorted(counts, 0.98))
    spread = lightest - darkest
    if spread < _LEAST_CONTRAST:
        return False
    dark, not_light = (float(counts[darkest + int(share * spread)]) for share in (0.35, 0.65))
    return dark >= _LEAST_INK and not_light - dark <= _MOST_BETWEEN


def _drawn(page: pypdfium2.PdfPage, part: Box, scale: float) -> Image.Image | None:
    """A part of the page in grey; None where it cannot be drawn or lies off the page."""
    width, height = page.get_size()
    left, top, right, bottom = part
    if right <= left or bottom <= top:
        return None
    crop = (left * width, (1 - bottom) * height, (1 - right) * width, top * height)
    try:
        bitmap = page.render(scale=scale, crop=crop, grayscale=True, fill_color=(255, 255, 255, 255))
    except (pypdfium2.PdfiumError, MemoryError, ValueError):  # as above
        return None
    try:
        image: Image.Image = bitmap.to_pil()
        return image.copy()  # the bitmap's memory goes with it
    finally:
        bitmap.close()


def _on_page(box: Box | None, part: Box) -> Box | None:
    if box is None:
        return None
    width, height = part[2] - part[0], part[3] - part[1]
    return (
        round(part[0] + box[0] * width, 4),
        round(part[1] + box[1] * height, 4),
        round(part[0] + box[2] * width, 4),
        round(part[1] + box[3] * height, 4),
    )


def _turned(codes: tuple[Code, ...], rotation: int) -> tuple[Code, ...]:
    return tuple(replace(code, box=turned(code.box, rotation) if code.box else None) for code in codes)


def _shrunk(image: Image.Image) -> Image.Image:
    factor = math.ceil(math.sqrt(image.width * image.height / _MOST_PIXELS))
    return image.convert("L").reduce(factor) if factor > 1 else image


def _attached(path: Path, index: int) -> tuple[Code, ...]:
    """Data attached to a file speaks of its first page's document."""
    return attached.to(rendering.open_document(path)) if index == 0 and rendering.is_pdf(path) else ()
