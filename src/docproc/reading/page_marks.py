"""What is on a PDF page besides its text: pictures, drawings, and the ink one would see."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass

import numpy
import numpy.typing
import pypdfium2
import pypdfium2.raw as pdfium

from docproc.reading import rendering
from docproc.reading.page import Box, Edge, PageText, turned

Mask = numpy.typing.NDArray[numpy.bool_]

_CELLS = 50  # the page as a grid, to add up pictures that overlap
_FORM_DEPTH = 4
_INK_LONG_SIDE = 800
_INK_STEPS = 40  # of 255: how much darker than the paper ink is
_MARGIN = 0.02  # scanners leave dark edges
_INK_IN_A_WORD = 0.03


@dataclass(frozen=True, slots=True)
class Frame:
    """Turns PDF coordinates of a page into fractions of the page as viewers show it."""

    left: float
    bottom: float
    width: float
    height: float
    rotation: int

    @classmethod
    def of(cls, page: pypdfium2.PdfPage) -> Frame:
        box = pdfium.FS_RECTF()
        pdfium.FPDF_GetPageBoundingBox(page.raw, ctypes.byref(box))
        width, height = max(box.right - box.left, 1e-3), max(box.top - box.bottom, 1e-3)
        return cls(box.left, box.bottom, width, height, page.get_rotation())

    def fractions(self, left: Edge, bottom: Edge, right: Edge, top: Edge) -> tuple[Edge, Edge, Edge, Edge]:
        box = (
            (left - self.left) / self.width,
            1 - (top - self.bottom) / self.height,
            (right - self.left) / self.width,
            1 - (bottom - self.bottom) / self.height,
        )
        return turned(box, self.rotation)


@dataclass(frozen=True, slots=True)
class Marks:
    """`image_share` of the page's area is covered by pictures; `drawings` counts paths and shadings."""

    image_share: float
    drawings: int


@dataclass(frozen=True, slots=True)
class Ink:
    """How a page's words lie on its ink."""

    under_words: float  # share of the ink that lies under a word
    words_on_ink: float  # share of the words that have ink beneath


def marks(page: pypdfium2.PdfPage, frame: Frame) -> Marks:
    grid = numpy.zeros((_CELLS, _CELLS), dtype=bool)
    drawings = 0
    for kind, corners in _objects(page):
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            _fill(grid, frame.fractions(*corners))
        else:
            drawings += 1
    return Marks(float(grid.mean()), drawings)


def ink_mask(page: pypdfium2.PdfPage) -> Mask:
    """True where something darker than the paper is seen; the page as viewers show it, small."""
    scale = _INK_LONG_SIDE / max(*page.get_size(), 1.0)
    grey = numpy.asarray(rendering.draw(page, scale).convert("L"), dtype=numpy.int16)
    mask: Mask = grey < numpy.percentile(grey, 80) - _INK_STEPS
    rows, columns = (max(1, int(side * _MARGIN)) for side in mask.shape)
    mask[:rows], mask[-rows:], mask[:, :columns], mask[:, -columns:] = False, False, False, False
    return mask


def ink(mask: Mask, page: PageText) -> Ink:
    """Words that were made for this page lie on its ink, and most of its ink lies under them."""
    under = numpy.zeros_like(mask)
    on_ink = 0
    for word in page.words:
        box = turned(word.box, -page.rotation)
        grown = (box[3] - box[1]) * 0.2
        under_word = _fill(under, (box[0] - grown, box[1] - grown, box[2] + grown, box[3] + grown))
        on_ink += mask[under_word].mean() >= _INK_IN_A_WORD if mask[under_word].size else False
    total = int(mask.sum())
    return Ink(
        float((mask & under).sum() / total) if total else 1.0,
        on_ink / len(page.words) if page.words else 1.0,
    )


def _fill(grid: Mask, box: Box) -> tuple[slice, slice]:
    rows, columns = grid.shape
    area = (
        slice(max(0, round(box[1] * rows)), max(0, round(box[3] * rows))),
        slice(max(0, round(box[0] * columns)), max(0, round(box[2] * columns))),
    )
    grid[area] = True
    return area


_Corners = tuple[float, float, float, float]
_NOWHERE: _Corners = (0.0, 0.0, 0.0, 0.0)


def _objects(page: pypdfium2.PdfPage) -> Iterator[tuple[int, _Corners]]:
    """Everything drawn but text, also inside form objects: its kind and its corners on the page."""
    raw, get_type, get_object = page.raw, pdfium.FPDFPageObj_GetType, pdfium.FPDFPage_GetObject
    on_page = numpy.identity(3)
    for number in range(pdfium.FPDFPage_CountObjects(raw)):
        pageobject = get_object(raw, number)
        kind = get_type(pageobject)
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            yield kind, _NOWHERE
        elif kind != pdfium.FPDF_PAGEOBJ_TEXT:
            yield from _parts(pageobject, kind, on_page, _FORM_DEPTH)


def _parts(
    pageobject: object, kind: int, matrix: numpy.typing.NDArray[numpy.float64], depth: int
) -> Iterator[tuple[int, _Corners]]:
    if kind != pdfium.FPDF_PAGEOBJ_FORM:
        yield kind, _corners(pageobject, matrix) if kind == pdfium.FPDF_PAGEOBJ_IMAGE else _NOWHERE
        return
    if not depth:
        return
    own = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(pageobject, ctypes.byref(own))
    inner = numpy.array([[own.a, own.b, 0], [own.c, own.d, 0], [own.e, own.f, 1]]) @ matrix
    for number in range(pdfium.FPDFFormObj_CountObjects(pageobject)):
        part = pdfium.FPDFFormObj_GetObject(pageobject, number)
        part_kind = pdfium.FPDFPageObj_GetType(part)
        if part_kind != pdfium.FPDF_PAGEOBJ_TEXT:
            yield from _parts(part, part_kind, inner, depth - 1)


def _corners(pageobject: object, matrix: numpy.typing.NDArray[numpy.float64]) -> _Corners:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(pageobject, *(ctypes.byref(edge) for edge in (left, bottom, right, top)))
    corners = [(x.value, y.value, 1) for x in (left, right) for y in (bottom, top)]
    moved = numpy.array(corners) @ matrix
    (x0, y0), (x1, y1) = moved[:, :2].min(axis=0), moved[:, :2].max(axis=0)
    return float(x0), float(y0), float(x1), float(y1)
