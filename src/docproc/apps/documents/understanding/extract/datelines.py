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


def worth(line: Line, at: Stretch, signing: float, term: float) -> float:
    """What the words before a date say for it as the date of the document.

    `signing` is what a place of signing is worth to the type; `term` is what it costs a date to say when
    something begins or ends.
    """
    cell = line.folded[line.text.rfind(WIDE, 0, at.start) + 1 : at.start].lstrip()
    if signing and (_SIGNED.match(cell) or _HEAD.match(cell)):
        return signing
    return -term if term and _TERM.search(cell) else 0.0
