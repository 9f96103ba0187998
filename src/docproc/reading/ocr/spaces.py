"""Finds the spaces that the recognizer swallowed, mostly between words in capitals.

The recognizer says which letters it saw and roughly where; the picture of the line says how much white is
between them. Much white is a space by itself, a little more than usual is one where words meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy
import numpy.typing

from docproc.reading.ocr import lexicon

Pixels = numpy.typing.NDArray[Any]

# A character, where its middle stands along the line (0–1), and how sure it is.
Character = tuple[str, float, float]

_LEAST_WHITE = 0.2  # of the line's height, which is about twice that of a capital
_WIDER = 2.5  # than the white between letters of the line usually is
_FARTHER = 1.5  # apart than neighbouring letters of the line usually are
_INKED = 0.35  # of the darkest stroke of the line


def restored(characters: list[Character], line: Pixels) -> list[Character]:
    """The characters with the missing spaces; `line` is the grey picture they were read from."""
    pairs = [
        number
        for number in range(1, len(characters))
        if characters[number - 1][0].isupper() and characters[number][0].isupper()
    ]
    if len(pairs) < 4:
        return characters
    blank = _blank_columns(line)
    whites = {pair: _widest(blank, characters[pair - 1][1], characters[pair][1]) for pair in pairs}
    least = _LEAST_WHITE * line.shape[0]
    gaps = _wide(characters, whites, least) | _between_words(characters, whites, least)
    return [
        piece
        for number, character in enumerate(characters)
        for piece in ((_space(characters, number), character) if number in gaps else (character,))
    ]


def _wide(characters: list[Character], whites: dict[int, int], least: float) -> set[int]:
    """Where there is so much white that it can be nothing else."""
    steps = {pair: characters[pair][1] - characters[pair - 1][1] for pair in whites}
    wide = max(least, _WIDER * float(numpy.median(list(whites.values()))))
    far = _FARTHER * float(numpy.median(list(steps.values())))
    return {pair for pair, white in whites.items() if white >= wide and steps[pair] >= far}


def _between_words(characters: list[Character], whites: dict[int, int], least: float) -> set[int]:
    """Where words meet, and there is more white than anywhere inside them."""
    found: set[int] = set()
    for start, end in _runs(whites):
        cuts = {start + cut for cut in lexicon.cuts("".join(sign for sign, _, _ in characters[start:end]))}
        inside = max((whites[pair] for pair in range(start + 1, end) if pair not in cuts), default=0)
        if cuts and min(whites[cut] for cut in cuts) > max(inside, least):
            found |= cuts
    return found


def _runs(pairs: Iterable[int]) -> Iterator[tuple[int, int]]:
    """From where to where capitals follow each other, given the second of each two that do."""
    start = end = 0
    for pair in sorted(pairs):
        if pair != end:
            if end:
                yield start, end
            start = pair - 1
        end = pair + 1
    if end:
        yield start, end


def _space(characters: list[Character], number: int) -> Character:
    (_, before, _), (_, after, _) = characters[number - 1], characters[number]
    return " ", (before + after) / 2, 1.0


def _blank_columns(line: Pixels) -> Pixels:
    """Dark print on light paper or light on dark; a rule above or below the letters does not count."""
    height = line.shape[0]
    paper = numpy.median(numpy.concatenate([line[: height // 8], line[-(height // 8) :]]))
    strokes = abs(line[height // 5 : height - height // 5].astype(numpy.float32) - paper).max(axis=0)
    return numpy.asarray(strokes < _INKED * strokes.max(initial=1.0))


def _widest(blank: Pixels, start: float, end: float) -> int:
    """The longest run of blank columns between two places."""
    columns = blank[int(start * len(blank)) : int(end * len(blank)) + 1]
    inked = numpy.nonzero(~columns)[0]
    return int(numpy.diff(inked, prepend=-1, append=len(columns)).max() - 1)
