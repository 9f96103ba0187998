"""Prepares a page for the text detector: reduced, without its blank parts, in strips.

Detection costs about 0.4 µs a pixel and, over a whole page at once, some hundred megabytes; where nothing is
printed there is nothing to find.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import cv2
import numpy
import numpy.typing

Pixels = numpy.typing.NDArray[Any]

_LONG_SIDE = 1280  # finds what 2000 finds, in a third of the time
_SHORT_SIDE = 736  # what small pictures are enlarged to
_PAPER = 15  # pixels around a point, at half the size, that say how bright its paper is
_CONTRAST = 14
_SOLID = 5  # of the 25 pixels around: grain of the paper is never that dense
_MARGIN = 14  # blank pixels kept around print
_SHAPE_STEP = 64  # few different shapes: each new one costs OpenVINO time once and memory for good
_STRIP = 640
_OVERLAP = 48  # context on both sides of a cut through print


class Canvas(NamedTuple):
    """The printed parts of a page, scaled; `rows` are those of the scaled page, from column `left` on."""

    pixels: Pixels
    ink: Pixels
    rows: Pixels
    left: int
    ratio: float

    def on_page(self, corners: Pixels) -> Pixels:
        """The corners of a piece of print in pixels of the page.

        It moves as a whole: the rim of a large title may reach over rows that were left out.
        """
        middle = int(corners[:, 1].mean().clip(0, len(self.rows) - 1))
        shift = numpy.array([self.left, self.rows[middle] - middle], dtype=numpy.float32)
        return numpy.asarray((corners + shift) / numpy.float32(self.ratio))


def prepare(page: Pixels) -> Canvas | None:
    """None when nothing is printed on the page."""
    ratio = _ratio(page)
    scaled = _scaled(page, ratio)
    ink = _ink(scaled)
    rows, columns = _near(ink.max(axis=1)), _near(ink.max(axis=0))
    if not len(rows):
        return None
    left, right = int(columns[0]), int(columns[-1]) + 1
    return Canvas(scaled[rows, left:right], ink[rows, left:right], rows, left, ratio)


def in_strips(canvas: Canvas, detect: Callable[[Pixels], Pixels]) -> Pixels:
    """What `detect` makes of the canvas (a map of the same size), called with white-padded strips of it."""
    height, width = canvas.ink.shape
    found = numpy.zeros((height, width), dtype=numpy.float32)
    for start, end, before, after in _strips(canvas.ink):
        first, last = start - before, end + after
        padded = numpy.full((_stepped(last - first), _stepped(width), 3), 255, numpy.uint8)
        padded[: last - first, :width] = canvas.pixels[first:last]
        found[start:end] = detect(padded)[before : end - first, :width]
    # Where there is hardly anything to see, such as the foot of a page on a grainy table, the detector
    # sees print in the blank, and one vast box swallows the real lines.
    return found * _around(canvas.ink)


def _strips(ink: Pixels) -> Iterator[tuple[int, int, int, int]]:
    """Start and end of each strip, and how much to show of what lies before and after it.

    Cut in blank rows where there are some about the right place; else through print, with some overlap.
    """
    height = len(ink)
    strips = math.ceil(height / _STRIP)
    blank = numpy.convolve(ink.any(axis=1), numpy.ones(7), "same") == 0
    edges = [(0, 0)]
    for number in range(1, strips):
        even = number * height // strips
        nearby = numpy.nonzero(blank[even - _STRIP // 8 : even + _STRIP // 8])[0] + even - _STRIP // 8
        edges.append((int(nearby[abs(nearby - even).argmin()]), 0) if len(nearby) else (even, _OVERLAP))
    edges.append((height, 0))
    for (start, before), (end, after) in pairwise(edges):
        yield start, end, min(before, start), min(after, height - end)


def _ratio(page: Pixels) -> float:
    height, width = map(int, page.shape[:2])
    return min(_LONG_SIDE / max(width, height), max(1.0, _SHORT_SIDE / min(width, height)))


def _scaled(page: Pixels, ratio: float) -> Pixels:
    height, width = page.shape[:2]
    size = max(1, round(width * ratio)), max(1, round(height * ratio))
    method = cv2.INTER_AREA if ratio < 1 else cv2.INTER_CUBIC
    return numpy.asarray(cv2.resize(page, size, interpolation=method))


def _ink(scaled: Pixels) -> Pixels:
    """Where something stands out from its paper, dark on light or light on dark."""
    grey = cv2.cvtColor(scaled, cv2.COLOR_BGR2GRAY)
    half = cv2.resize(grey, (max(1, grey.shape[1] // 2), max(1, grey.shape[0] // 2)))
    paper = cv2.resize(cv2.medianBlur(half, _PAPER), (grey.shape[1], grey.shape[0]))
    stands_out = cv2.absdiff(grey, paper) > _CONTRAST
    around = cv2.boxFilter(stands_out.astype(numpy.uint8), -1, (5, 5), normalize=False)
    return numpy.asarray((around >= _SOLID) & stands_out)


def _around(ink: Pixels) -> Pixels:
    size = 2 * _MARGIN + 1
    return numpy.asarray(cv2.dilate(ink.astype(numpy.uint8), numpy.ones((size, size), numpy.uint8)))


def _near(inked: Pixels) -> Pixels:
    """The numbers of the rows or columns that are inked or near one that is."""
    kernel = numpy.ones(2 * _MARGIN + 1)
    reach = numpy.convolve(inked.astype(numpy.float64), kernel)[_MARGIN : _MARGIN + len(inked)]
    return numpy.nonzero(reach > 0.5)[0]


def _stepped(size: int) -> int:
    return math.ceil(size / _SHAPE_STEP) * _SHAPE_STEP
