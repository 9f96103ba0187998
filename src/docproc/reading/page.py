"""What is known of a page once it is read: words, where they stand, and how sure the reading is."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

import orjson

if TYPE_CHECKING:  # workers that only move messages read workflow files, and do without it
    import numpy
    import numpy.typing

# [x0, y0, x1, y1] as fractions of the upright page, origin top left.
Box = tuple[float, float, float, float]
Edge = TypeVar("Edge", float, "numpy.typing.NDArray[numpy.float64]")


class Source(StrEnum):
    """Where a text or value came from, best evidence first."""

    EMBEDDED = "embedded"
    CODE = "code"
    TEXT_LAYER = "text_layer"
    OCR = "ocr"
    MEMORY = "memory"  # what a person said of an earlier document of the same issuer; not printed on this one
    MODEL = "model"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Code:
    """Something made for machines: a barcode on the page, or data attached to its file (then no box)."""

    kind: str  # "qr", "pdf417", "code128", "factur-x", "facturae", …
    text: str
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """A word on the upright page. Words of one printed line share `line`; lines count from the top."""

    text: str
    box: Box
    confidence: float
    line: int


@dataclass(frozen=True)
class PageText:
    """A page as read. `rotation` is how far the file's page was turned clockwise to stand upright."""

    words: tuple[Word, ...]
    source: Source
    width: float = 1.0  # of the upright page, in any unit: only the ratio to `height` matters
    height: float = 1.0
    rotation: int = 0
    engine: str = ""
    codes: tuple[Code, ...] = ()

    @cached_property
    def lines(self) -> tuple[tuple[Word, ...], ...]:
        """The words by printed line, in reading order."""
        return tuple(tuple(line) for _, line in groupby(self.words, key=lambda word: word.line))

    @cached_property
    def text(self) -> str:
        return "\n".join(" ".join(word.text for word in line) for line in self.lines)

    @property
    def confidence(self) -> float:
        """The mean over characters, so that a doubtful full stop weighs little; 1 for a blank page."""
        letters = sum(len(word.text) for word in self.words)
        if not letters:
            return 1.0
        return sum(len(word.text) * word.confidence for word in self.words) / letters


def union(boxes: Sequence[Box]) -> Box:
    """The smallest box around all of them."""
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


_SCALE = 10_000  # a hundredth of a percent of the page is far below what an eye can place


def pack(page: PageText) -> bytes:
    """A page as it is kept in the database: some kilobytes."""
    rows = [
        [word.text, *_packed_box(word.box), round(word.confidence * 100), word.line] for word in page.words
    ]
    head = [page.source, page.width, page.height, page.rotation, page.engine]
    codes = [[code.kind, code.text, code.box] for code in page.codes]
    return zlib.compress(orjson.dumps([head, rows, codes] if codes else [head, rows]), 1)


def _packed_box(box: Box) -> tuple[int, int, int, int]:
    """On a vast page a word may be smaller than a step of the scale: it keeps one, so as not to vanish."""
    x0, y0, x1, y1 = (round(edge * _SCALE) for edge in box)
    return x0, y0, max(x1, x0 + 1), max(y1, y0 + 1)


def unpack(packed: bytes) -> PageText:
    (source, width, height, rotation, engine), rows, *more = orjson.loads(zlib.decompress(packed))
    words = tuple(
        Word(text, (x0 / _SCALE, y0 / _SCALE, x1 / _SCALE, y1 / _SCALE), confidence / 100, line)
        for text, x0, y0, x1, y1, confidence, line in rows
    )
    codes = tuple(
        Code(kind, text, tuple(box) if box else None) for kind, text, box in (more[0] if more else ())
    )
    return PageText(words, Source(source), width, height, rotation, engine, codes)


def turned(box: tuple[Edge, Edge, Edge, Edge], clockwise: int) -> tuple[Edge, Edge, Edge, Edge]:
    """The box after its page was turned by whole quarters clockwise; also many, as arrays of edges."""
    x0, y0, x1, y1 = box
    match clockwise % 360:
        case 90:
            return (1 - y1, x0, 1 - y0, x1)
        case 180:
            return (1 - x1, 1 - y1, 1 - x0, 1 - y0)
        case 270:
            return (y0, 1 - x1, y1, 1 - x0)
    return box
