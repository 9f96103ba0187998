"""Reads scans that lie turned or askew: words come back on the upright page.

An upright, straight page costs some milliseconds more. A page lying on its side or upside down betrays itself
in its first reading (tall words, low confidence) and is read a second time; so is one that is only hard to
read, and the better reading is kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
import numpy.typing
from PIL import Image, ImageFilter

from docproc.reading.ocr.engine import OcrEngine
from docproc.reading.page import Box, Word, turned
from docproc.reading.rendering import turned as turned_image

_SOUND = 0.85  # pages standing right measure 0.95 and more, wrong ones below 0.8
_LEAST_SKEW_DEGREES = 0.7
_MOST_SKEW_DEGREES = 15
_COARSE = range(-_MOST_SKEW_DEGREES, _MOST_SKEW_DEGREES + 1)
_SKEW_LONG_SIDE = 800
_SKEW_POINTS = 40_000
_SKEW_GAIN = 1.15  # how much sharper the lines must get for a skew to be believed

Floats = numpy.typing.NDArray[numpy.float64]


@dataclass(frozen=True)
class Reading:
    """What an engine found; `rotation` is how far the image was turned clockwise to stand upright."""

    words: tuple[Word, ...]
    rotation: int = 0
    width: int = 1
    height: int = 1


def read(image: Image.Image, engine: OcrEngine) -> Reading:
    """The words with boxes on the upright, not straightened, image."""
    angle = skew(image)
    straight = _rotated(image, angle)
    rotation, words = _best_turn(straight, engine)
    upright = turned_image(image, rotation) if rotation else image
    if straight is not image:
        words = _back_on_page(words, angle, rotation, straight.size, image.size)
    return Reading(tuple(words), rotation, upright.width, upright.height)


def _best_turn(image: Image.Image, engine: OcrEngine) -> tuple[int, list[Word]]:
    words = engine.read(image)
    best, best_worth = (0, words), _worth(words, image.size)
    for rotation in _suspected_turns(words, image.size):
        candidate = turned_image(image, rotation)
        found = engine.read(candidate)
        worth = _worth(found, candidate.size)
        if worth > best_worth:
            best, best_worth = (rotation, found), worth
            if _confidence(found) >= _SOUND:
                break
    return best


def _suspected_turns(words: Sequence[Word], size: tuple[int, int]) -> tuple[int, ...]:
    """How the page may have to be turned, likeliest first; nothing for a page that reads well."""
    is_sure = _confidence(words) >= _SOUND
    if _lies_on_side(words, size):
        # Engines that read strips running down read them well only when they do run down.
        return (270, 90) if is_sure else (90, 270)
    return () if is_sure or not words else (180,)


def _lies_on_side(words: Sequence[Word], size: tuple[int, int]) -> bool:
    width, height = size
    tall = wide = 0
    for word in words:
        if len(word.text) > 2:
            x0, y0, x1, y1 = word.box
            if (y1 - y0) * height > 1.2 * (x1 - x0) * width:
                tall += len(word.text)
            else:
                wide += len(word.text)
    return tall > wide


def _confidence(words: Sequence[Word]) -> float:
    letters = sum(len(word.text) for word in words)
    return sum(len(word.text) * word.confidence for word in words) / letters if letters else 0.0


def _worth(words: Sequence[Word], size: tuple[int, int]) -> float:
    """Letters read; the doubtful ones hardly count, those of a page on its side half."""
    letters = sum(len(word.text) * max(0.0, word.confidence - 0.5) for word in words)
    return letters / 2 if _lies_on_side(words, size) else letters


def skew(image: Image.Image) -> float:
    """How many degrees anticlockwise the image must be rotated for its lines to run level; 0 when they do."""
    x, y = _ink_points(image)
    if len(x) < 200:
        return 0.0
    # Whichever way the text runs, its lines are sharpest along one axis.
    x, y = max(((x, y), (y, -x)), key=_sharpest)
    rough = max(_COARSE, key=lambda angle: _sharpness(x, y, angle))
    fine = numpy.arange(rough - 0.9, rough + 1.0, 0.1)
    angle = float(max(fine, key=lambda angle: _sharpness(x, y, angle)))
    if abs(angle) < _LEAST_SKEW_DEGREES or abs(angle) > _MOST_SKEW_DEGREES:
        return 0.0
    return angle if _sharpness(x, y, angle) >= _SKEW_GAIN * _sharpness(x, y, 0.0) else 0.0


def _sharpest(axis: tuple[Floats, Floats]) -> float:
    return max(_sharpness(*axis, angle) for angle in _COARSE)


def _ink_points(image: Image.Image) -> tuple[Floats, Floats]:
    small = image.convert("L")
    small.thumbnail((_SKEW_LONG_SIDE, _SKEW_LONG_SIDE), reducing_gap=2.0)
    paper = small.filter(ImageFilter.BoxBlur(12))  # shadows and coloured ground go with it
    darker = numpy.asarray(paper, dtype=numpy.int16) - numpy.asarray(small, dtype=numpy.int16)
    edge = max(2, min(darker.shape) // 50)
    rows, columns = numpy.nonzero(darker[edge:-edge, edge:-edge] > 20)
    step = max(1, len(rows) // _SKEW_POINTS)
    return columns[::step].astype(numpy.float64), rows[::step].astype(numpy.float64)


def _sharpness(x: Floats, y: Floats, degrees: float) -> float:
    """How much rows of ink differ from their neighbours when the image is rotated anticlockwise."""
    radians = math.radians(degrees)
    rows = y * math.cos(radians) - x * math.sin(radians)
    counts = numpy.bincount((rows - rows.min()).astype(numpy.int64)).astype(numpy.float64)
    return float((numpy.diff(counts) ** 2).sum())


def _rotated(image: Image.Image, angle: float) -> Image.Image:
    if not angle:
        return image
    paper: float | tuple[int, ...] = 255 if image.mode == "L" else (255, 255, 255)
    return image.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=paper)


def _back_on_page(
    words: list[Word], angle: float, rotation: int, straight: tuple[int, int], size: tuple[int, int]
) -> list[Word]:
    return [
        Word(
            word.text,
            turned(_unrotated(turned(word.box, -rotation), angle, straight, size), rotation),
            word.confidence,
            word.line,
        )
        for word in words
    ]


def _unrotated(box: Box, angle: float, straight: tuple[int, int], size: tuple[int, int]) -> Box:
    """Where a box of the straightened image lies on the image as it was: the box around its corners."""
    cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    xs, ys = [], []
    for x in (box[0], box[2]):
        for y in (box[1], box[3]):
            across, down = (x - 0.5) * straight[0], (y - 0.5) * straight[1]
            xs.append((across * cosine - down * sine) / size[0] + 0.5)
            ys.append((across * sine + down * cosine) / size[1] + 0.5)
    return max(0.0, min(xs)), max(0.0, min(ys)), min(1.0, max(xs)), min(1.0, max(ys))
