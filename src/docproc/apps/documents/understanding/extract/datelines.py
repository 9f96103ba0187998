"""Where and when a paper is signed: `En Madrid, a 28 de octubre`, `Oviedo, 19 de enero`."""

from __future__ import annotations

import re

from docproc.apps.documents.understanding.extract.layout import WIDE, Line, Stretch

_PLACE = r"[a-z][a-z'./ -]{2,32}(?: \([a-z ]+\))?"
_SIGNED = re.compile(rf"(?:.*[.;] )?en {_PLACE},? a(?: los?| dia| fecha)?:? ?$")
_HEAD = re.compile(rf"(?:en )?{_PLACE},(?: a)?(?: dia)? ?$")
# When something begins or ends, or what a law is called by.
_TERM = re.compile(
    r"(?:desde|hasta|a partir|inici|comienz|comenz|vigor|vigencia|efectos|plazo|finaliza|vencimiento|duracion"
    r"|commenc|starting|until|expir)[^.;]{0,60}$|\b(?:ley|decreto|reglamento|orden|escritura)\b[^.;]{0,80}$"
)
_WORTH = {"contract": 2.6, "invoice": 1.8}


def worth(doc_type: str, line: Line, at: Stretch) -> float:
    """What the words before a date say for it as the date of the document."""
    cell = line.folded[line.text.rfind(WIDE, 0, at.start) + 1 : at.start].lstrip()
    if doc_type not in _WORTH:
        return 0.0
    if _SIGNED.match(cell) or _HEAD.match(cell):
        return _WORTH[doc_type]
    return -2.0 if doc_type == "contract" and _TERM.search(cell) else 0.0
