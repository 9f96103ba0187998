"""A name on its lines: what belongs to it, and the next line where it runs on."""

from __future__ import annotations

import re

from docproc.apps.documents.understanding.extract.blocks import POSTCODE, STREET, TAX_ID
from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.layout import WIDE, Document, Stretch
from docproc.apps.documents.understanding.extract.names.appearance import (
    ADDRESS,
    LEGAL_FORM,
    NOT_A_NAME,
    merit,
    repeats,
)
from docproc.apps.documents.understanding.extract.spelling import repaired
from docproc.reading.folding import fold
from docproc.reading.page import Source, union

_HONORIFIC = re.compile(
    r"^(?:d\.ª|d\.a|d\.|da\.?|d[ªa]|don|dona|sr\.?|sra\.?|mr\.?|mrs\.?|ms\.?|mme|d\./da\.?)\s+", re.IGNORECASE
)
# A company's number after its name: `(123456-X)`, `(123456 X)`, `Co. Reg. No. …`, `123456-X (KL)`.
REGISTERED = re.compile(
    r"\s*\(?(?:co\.? ?(?:reg|no)\.?[^)]*|company no\.?[^)]*|[0-9A-Z]{5,}-[A-Z])\)?\s*$"
    r"|\s*\(\s?\d{4,9}\s?[-–.·]?\s?[A-Z]{0,2}\s?\)?\s*$|\s+\(?\d{5,7}\s?[-·.]\s?[A-Z]\)?(?:\s.*)?$",
    re.IGNORECASE,
)
_TRADE_NAME = re.compile(r"(?<=\w{3})\s*\((?=\D*$)[^()]{4,}\)\s*$")  # `María Pérez Gil (Bar Tere)`
_GLYPHS = "◆◇■□●○▲△▼►▶★☆✦✓✔•·†♦♣♥♠❖"
# There is more on the next line.
RUNS_ON = (
    "&",
    "-",
    ",",
    " y",
    " e",
    " i",
    " de",
    " del",
    " la",
    " las",
    " los",
    " para",
    " and",
    " of",
    " the",
)
_FORM_ONLY = re.compile(rf"(?:sucursal )?en espana|(?:{LEGAL_FORM.pattern})\W*")


def named(at: Stretch, document: Document) -> Candidate:
    """A name as it was printed, as far as the reader's usual mistakes can be undone."""
    scanned = document.pages[at.page].source == Source.OCR
    return Candidate(repaired(at.text) if scanned else at.text, at)


def cleaned(at: Stretch, document: Document, person: bool = True) -> Stretch | None:
    """The name alone: no honorific, nothing after a middle dot, no number of an identity or a register."""
    line = document.lines[at.line]
    text = re.split(r" [·|•] |\s{3}|\s\(?(?:NIF|CIF|DNI|N\.I\.F|C\.I\.F)\b", at.text)[0]
    start = at.start
    text = REGISTERED.sub("", text)
    if person:
        text = _TRADE_NAME.sub("", text)
    if person and (honorific := _HONORIFIC.match(text)):
        start, text = start + honorific.end(), text[honorific.end() :]
    text = text.strip(" :;-_*|" + _GLYPHS)
    start = line.text.find(text, start)
    return line.stretch(start, start + len(text)) if text else None


def wrapped(at: Stretch, document: Document, told: bool = False) -> Stretch | None:
    """The name with the line it runs on to: it ends in a preposition or a comma, or its legal form is below.

    With `told`, where a label says that it is a name, also when the whole second half stands below.
    """
    below = text_below(at, document)
    if below is None or not _completes(at.text, below.text, told):
        return None
    both = f"{at.text} {REGISTERED.sub('', below.text)}"
    return Stretch(
        both, union([at.box, below.box]), min(at.confidence, below.confidence), at.page, at.line,
        at.start, at.end,
    )  # fmt: skip


def _completes(first: str, below: str, told: bool) -> bool:
    name, rest = fold(first).strip(), fold(below).strip()
    if not _could_go_on(rest) or merit(first) < -0.5 or ADDRESS.search(name) or repeats(name, rest):
        return False
    has_form = any(len(name) - form.end() < 3 for form in LEGAL_FORM.finditer(name))
    if _FORM_ONLY.fullmatch(rest):
        return not has_form or rest.endswith("espana")
    ends = any(len(rest) - form.end() < 3 for form in LEGAL_FORM.finditer(rest))
    if has_form or len(name.split()) < 2:
        return False
    return (name.endswith(RUNS_ON) and (ends or not name.endswith(","))) or (told and ends)


def _could_go_on(rest: str) -> bool:
    return (
        not (ADDRESS.search(rest) or STREET.search(rest) or POSTCODE.search(rest) or TAX_ID.search(rest))
        and not NOT_A_NAME.search(rest)
        and ":" not in rest
        and len(rest.split()) <= 6
        and not any(map(str.isdigit, rest))
    )


def runs_on_from_above(at: Stretch, document: Document) -> bool:
    """It is the second line of a name."""
    for line in document.lines[max(at.line - 2, 0) : at.line]:
        for cell in line.columns():
            below = text_below(cell, document) if line.page == at.page else None
            if below is not None and below.line == at.line and below.start == at.start:
                return _completes(cell.text, at.text, False)
    return False


def text_below(at: Stretch, document: Document, alike: bool = True) -> Stretch | None:
    """What stands close under a text, beginning where it or its cell begins; `alike`: in letters as large."""
    if at.line + 1 >= len(document.lines):
        return None
    cell = document.lines[at.line].stretch(*cell_of(document, at)).box[0]
    height = at.box[3] - at.box[1]
    for later in document.lines[at.line + 1 : at.line + 3]:
        for below in later.columns():
            other = below.box[3] - below.box[1]
            if (
                later.page == at.page
                and min(abs(below.box[0] - cell), abs(below.box[0] - at.box[0])) < 0.012
                and (not alike or 0.6 < other / max(height, 1e-6) < 1.5)
                and -0.5 * height < below.box[1] - at.box[3] < 1.2 * height
            ):
                return below
    return None


def cell_of(document: Document, at: Stretch) -> tuple[int, int]:
    line = document.lines[at.line]
    start = line.text.rfind(WIDE, 0, at.start)
    return (start + len(WIDE) if start >= 0 else 0), at.end
