"""Where on a digital PDF page a barcode may be: its pictures, and places crowded with small shapes."""

from __future__ import annotations

import ctypes
import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

import pypdfium2
import pypdfium2.raw as pdfium

# Left, bottom, right, top in the page's own points.
Area = tuple[float, float, float, float]
_Matrix = tuple[float, float, float, float, float, float]

_SMALLEST, _LARGEST = 18.0, 300.0  # points: no reader is offered a code smaller or larger than this
_FEWEST_PIXELS = 20  # the smallest QR code has 21 modules a side
_THIN = 9.0  # of a module or a bar, in points, by its thinner side …
_LONG = 130.0  # … and by its longer
_REACH = 14.0  # shapes of one code lie this close to the others
_FEWEST_SHAPES = 80  # of a square code …
_FEWEST_BARS = 20  # … and of one whose bars stand in a row
_EVEN = 1.0  # points
_FEWEST_CORNERS = 120  # of a code drawn as one shape
_MOST_OBJECTS = 5_000  # of a map or a drawing the rest is not looked at
_MOST_AREAS = 6
_MOST_REMEMBERED = 2_000
_FORM_DEPTH = 4
_WHOLE: _Matrix = (1, 0, 0, 1, 0, 0)


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a page; `picture` is what a picture there is known by, to skip a letterhead seen before."""

    area: Area
    picture: bytes = b""


@dataclass(frozen=True, slots=True)
class Places:
    """`few` are worth a look one by one; `is_scan`: a picture fills the page, so all of it is."""

    few: tuple[Place, ...] = ()
    is_scan: bool = False


NOWHERE = Places()
# Pictures that hold no code, by what they are known by: a logo is on every page of its company.
_empty: OrderedDict[bytes, None] = OrderedDict()


def remember_empty(place: Place) -> None:
    """The picture there was looked at and is no code."""
    if place.picture:
        _empty[place.picture] = None
        if len(_empty) > _MOST_REMEMBERED:
            _empty.popitem(last=False)


@dataclass(slots=True)
class _Cluster:
    area: Area
    shapes: int = 1
    level: bool = True  # all begin and end at the same height, as bars do
    plumb: bool = True  # or, lying, at the same left and right

    def holds(self, area: Area) -> bool:
        own = self.area
        return (
            area[0] <= own[2] + _REACH
            and area[2] >= own[0] - _REACH
            and area[1] <= own[3] + _REACH
            and area[3] >= own[1] - _REACH
        )

    def add(self, area: Area) -> None:
        self.level = self.level and max(abs(area[1] - self.area[1]), abs(area[3] - self.area[3])) < _EVEN
        self.plumb = self.plumb and max(abs(area[0] - self.area[0]), abs(area[2] - self.area[2])) < _EVEN
        self.area = _around(self.area, area)
        self.shapes += 1

    def may_be_code(self) -> bool:
        enough = _FEWEST_BARS if self.level or self.plumb else _FEWEST_SHAPES
        return self.shapes >= enough and _may_hold_code(*_sides(self.area))


def find(page: pypdfium2.PdfPage, scan_share: float = 0.5) -> Places:
    """The places worth a look, most crowded first; a page of text and a few rules has none."""
    width, height = page.get_size()
    found: list[Place] = []
    clusters: list[_Cluster] = []
    for kind, area, pageobject in _objects(page):
        across, up = area[2] - area[0], area[3] - area[1]
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            if across * up >= scan_share * width * height:
                return Places(is_scan=True)
            if _may_hold_code(across, up) and _has_pixels(pageobject):
                found.append(Place(area, _known_by(pageobject, across, up)))
        if min(across, up) <= _THIN and max(across, up) <= _LONG:
            _gather(clusters, area)
        elif kind == pdfium.FPDF_PAGEOBJ_PATH and _may_hold_code(across, up) and _has_corners(pageobject):
            found.append(Place(area))
    crowded = sorted((each for each in clusters if each.may_be_code()), key=lambda each: -each.shapes)
    worth = [Place(each.area) for each in crowded] + [each for each in found if each.picture not in _empty]
    return Places(tuple(worth[:_MOST_AREAS]))


def _gather(clusters: list[_Cluster], area: Area) -> None:
    """A code's shapes are drawn one after the other: only the last cluster may grow."""
    if clusters and clusters[-1].holds(area):
        clusters[-1].add(area)
    else:
        clusters.append(_Cluster(area))


def _may_hold_code(across: float, up: float) -> bool:
    return min(across, up) >= _SMALLEST and max(across, up) <= _LARGEST


def _sides(area: Area) -> tuple[float, float]:
    return area[2] - area[0], area[3] - area[1]


def _around(one: Area, other: Area) -> Area:
    return (
        min(one[0], other[0]),
        min(one[1], other[1]),
        max(one[2], other[2]),
        max(one[3], other[3]),
    )


def _known_by(picture: object, across: float, up: float) -> bytes:
    """A digest of its data as it lies in the file, and its size on the page."""
    length = pdfium.FPDFImageObj_GetImageDataRaw(picture, None, 0)
    if not length:
        return b""
    data = (ctypes.c_ubyte * length)()
    pdfium.FPDFImageObj_GetImageDataRaw(picture, data, length)
    return hashlib.blake2b(data, digest_size=16, key=f"{across:.0f}x{up:.0f}".encode()).digest()


def _has_corners(shape: object) -> bool:
    return bool(pdfium.FPDFPath_CountSegments(shape) >= _FEWEST_CORNERS)


def _has_pixels(picture: object) -> bool:
    width, height = ctypes.c_uint(), ctypes.c_uint()
    known = pdfium.FPDFImageObj_GetImagePixelSize(picture, ctypes.byref(width), ctypes.byref(height))
    return not known or (max(width.value, height.value) >= _FEWEST_PIXELS)


_Found = tuple[int, Area, object]


def _objects(page: pypdfium2.PdfPage) -> Iterator[_Found]:
    """Pictures and shapes with where they are, also inside forms, as far as a sane page goes."""
    raw, get_object = page.raw, pdfium.FPDFPage_GetObject
    for number in range(min(pdfium.FPDFPage_CountObjects(raw), _MOST_OBJECTS)):
        yield from _parts(get_object(raw, number), _WHOLE, _FORM_DEPTH)


def _parts(pageobject: object, matrix: _Matrix, depth: int) -> Iterator[_Found]:
    kind = pdfium.FPDFPageObj_GetType(pageobject)
    if kind in (pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_IMAGE):
        yield kind, _area(pageobject, matrix), pageobject
    elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth:
        own = pdfium.FS_MATRIX()
        pdfium.FPDFPageObj_GetMatrix(pageobject, ctypes.byref(own))
        inner = _then((own.a, own.b, own.c, own.d, own.e, own.f), matrix)
        for number in range(min(pdfium.FPDFFormObj_CountObjects(pageobject), _MOST_OBJECTS)):
            yield from _parts(pdfium.FPDFFormObj_GetObject(pageobject, number), inner, depth - 1)


def _then(first: _Matrix, second: _Matrix) -> _Matrix:
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def _area(pageobject: object, matrix: _Matrix) -> Area:
    left, bottom, right, top = ctypes.c_float(), ctypes.c_float(), ctypes.c_float(), ctypes.c_float()
    reference = ctypes.byref
    pdfium.FPDFPageObj_GetBounds(
        pageobject, reference(left), reference(bottom), reference(right), reference(top)
    )
    area = (left.value, bottom.value, right.value, top.value)
    if matrix is _WHOLE:
        return area
    a, b, c, d, e, f = matrix
    corners = [(x, y) for x in (area[0], area[2]) for y in (area[1], area[3])]
    across = [a * x + c * y + e for x, y in corners]
    up = [b * x + d * y + f for x, y in corners]
    return min(across), min(up), max(across), max(up)
