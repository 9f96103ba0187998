"""How a cell of a letterhead may be read as a name: alone, shortened, or with the next line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docproc.apps.documents.understanding.extract.layout import WIDE, Document, Stretch
from docproc.apps.documents.understanding.extract.names.appearance import ADDRESS, LEGAL_FORM, merit, repeats
from docproc.apps.documents.understanding.extract.names.lines import (
    REGISTERED,
    cleaned,
    runs_on_from_above,
    wrapped,
)
from docproc.reading.folding import fold
from docproc.reading.page import union

STATE = re.compile(r"(?:gobierno|reino) de espana")
TITLED = re.compile(r"(?:lda|ldo|lcda|lcdo|dra|dr|farm|tit|titular)\b")
_GOES_ON = re.compile(r"(?:enterprise|trading|sdn|bhd|ltd|limited|s\.?l\.?u?|s\.?a\.?|inc|llc)(?![a-z])")


def readings(column: Stretch, document: Document) -> Iterator[tuple[Stretch, bool]]:
    """The cell as a name; up to its legal form where more follows; and with the line on which it runs on."""
    if runs_on_from_above(column, document):
        return
    whole = wrapped(column, document) or _with_next_line(column, document)
    at = cleaned(column, document, person=False) if whole is column else whole
    if at is None:
        return
    yield at, False
    if (short := _up_to_form(at, document)) is not None:
        yield short, False
    if whole is column and (longer := _joined(column, document)) is not None:
        yield longer, True


def _up_to_form(at: Stretch, document: Document) -> Stretch | None:
    """`Acme, S.A. Calle Mayor 1. CIF …`: in the small print the name ends with its legal form."""
    form = LEGAL_FORM.search(fold(at.text))
    if form is None or len(at.text) - form.end() < 4 or form.start() < 3:
        return None
    return document.lines[at.line].stretch(at.start, at.start + form.end()) if at.end > at.start else None


def _joined(column: Stretch, document: Document) -> Stretch | None:
    """With the next line, where that is as large, begins or centres alike and may be more of the name."""
    if column.line + 1 >= len(document.lines) or column.line > 6:
        return None
    line = document.lines[column.line + 1]
    below = next(iter(line.columns()), None)
    if below is None or line.page != column.page or below.text.count(" ") > 6 or merit(below.text) < -0.2:
        return None
    height, other = column.box[3] - column.box[1], below.box[3] - below.box[1]
    middle = abs(column.box[0] + column.box[2] - below.box[0] - below.box[2]) / 2
    alike = min(middle, abs(column.box[0] - below.box[0])) < 0.06
    near = below.box[1] - column.box[3] < 0.8 * max(height, other)
    if not alike or not near or not 0.7 < other / max(height, 1e-6) < 1.4:
        return None
    if repeats(fold(column.text), fold(below.text)):
        return None
    if TITLED.match(fold(below.text)) or STATE.fullmatch(fold(column.text)):
        return None  # a person under the sign, a ministry under the state
    text = REGISTERED.sub("", below.text)
    return Stretch(
        f"{column.text} {text}".strip(), union([column.box, below.box]),
        min(column.confidence, below.confidence), column.page, column.line, column.start, column.end,
    )  # fmt: skip


def _with_next_line(column: Stretch, document: Document) -> Stretch:
    """A name may run on: the next line closes its bracket or begins with the rest of a company's name."""
    for line in document.lines[column.line + 1 : column.line + 3]:
        folded = fold(line.text)
        opened = column.text.count("(") > column.text.count(")")
        if line.page != column.page or not (opened or _GOES_ON.match(folded)) or ADDRESS.search(folded):
            break
        if (not opened and len(line.columns()) > 1) or line.box[2] < column.box[0]:
            break  # it stands under another column
        below = line.stretch(0, len(REGISTERED.sub("", line.text)))
        column = Stretch(
            f"{column.text} {below.text}".replace(WIDE, " "), union([column.box, below.box]),
            min(column.confidence, below.confidence), column.page, column.line, column.start, column.end,
        )  # fmt: skip
    return column
