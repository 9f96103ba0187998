"""Documents written out as real ones are printed, a character a cell: layouts that nobody draws."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docproc.reading.page import PageText, Source, Word

FOLDER = Path(__file__).parent / "prints"
# Texts with narrower lines are till rolls, as long as their lines need; others are A4 sheets of so many rows.
_NARROW, _A4_ROWS = 70, 70
_LINE_HEIGHT = 0.75  # height of the letters, as a share of a row


@dataclass(frozen=True)
class Print:
    name: str
    doc_type: str
    fields: dict[str, str]
    page: PageText


def prints(folder: Path = FOLDER) -> Iterator[Print]:
    """`@@ name type`, its fields as `name=value`, `---`, and the page as it looks."""
    for path in sorted(folder.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("@@ ")[1:]:
            head, text = part.split("---\n", 1)
            title, *fields = head.strip().split("\n")
            name, doc_type = title.split()
            known = dict(field.split("=", 1) for field in fields)
            yield Print(name, doc_type, known, page(text.rstrip("\n")))


def page(text: str) -> PageText:
    """Each character takes a cell of the page: what stands under each other in the text does on the page."""
    rows = text.split("\n")
    width = max(60, *map(len, rows)) + 2
    height = max(len(rows), _A4_ROWS if width > _NARROW else len(rows) + 4) + 2
    words, line = [], 0
    for number, row in enumerate(rows, start=1):
        matches = list(re.finditer(r"\S+", row))
        for match in matches:
            x0, x1 = (match.start() + 1) / width, (match.end() + 1) / width
            words.append(
                Word(match[0], (x0, number / height, x1, (number + _LINE_HEIGHT) / height), 0.99, line)
            )
        line += bool(matches)
    return PageText(tuple(words), Source.TEXT_LAYER, width * 6.0, height * 12.0)
