"""Pages for tests of understanding, drawn as monospaced text."""

from __future__ import annotations

import re

from docproc.reading.page import PageText, Source, Word

COLUMNS, ROWS = 100, 70  # of a whole page


def page_of(text: str, source: Source = Source.TEXT_LAYER, confidence: float = 1.0) -> PageText:
    """A page as wide as 100 characters and as tall as 70 lines; each word stands where it is drawn."""
    words = []
    for row, line in enumerate(text.strip("\n").split("\n")):
        for match in re.finditer(r"\S+", line):
            box = (match.start() / COLUMNS, row / ROWS, match.end() / COLUMNS, (row + 0.8) / ROWS)
            words.append(Word(match[0], box, confidence, row))
    return PageText(tuple(words), source, 210, 297)
