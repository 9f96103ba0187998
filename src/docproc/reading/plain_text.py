"""A page made of plain text, its words placed as a typewriter would: for what comes without a layout."""

from __future__ import annotations

import re

from docproc.reading.page import PageText, Source, Word

_A4 = (595.0, 842.0)
_COLUMNS, _ROWS = 90, 60  # of a full sheet; longer lines and pages are written smaller
_MARGIN = 0.06
_WORD = re.compile(r"\S+")


def page_of(
    text: str, *, width: float = _A4[0], height: float = _A4[1], columns: int = _COLUMNS, rows: int = _ROWS
) -> PageText:
    """Each line of `text` is a printed line; spaces keep their width, so that columns stay columns."""
    lines = [line for line in text.split("\n") if line.strip()]
    step_x = (1 - 2 * _MARGIN) / max(columns, *(len(line) for line in lines), 1)
    step_y = (1 - 2 * _MARGIN) / max(rows, len(lines))
    words = []
    for number, line in enumerate(lines):
        top = _MARGIN + number * step_y
        for match in _WORD.finditer(line):
            left, right = (_MARGIN + at * step_x for at in match.span())
            words.append(Word(match[0], (left, top, right, top + 0.8 * step_y), 1.0, number))
    return PageText(tuple(words), Source.TEXT_LAYER, width, height)
