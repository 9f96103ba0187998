"""The issuer's address: lines below the sign at the head of a paper that read like one."""

from __future__ import annotations

import re
from functools import cache

from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.layout import Document, Line, Stretch
from docproc.apps.documents.understanding.extract.normalise import Conventions
from docproc.apps.documents.understanding.extract.score import Scored
from docproc.apps.documents.understanding.words import read_words
from docproc.reading.page import union

_HEAD_LINES = 16
_MOST_LINES = 6
_POSTCODE = re.compile(r"(?<![\d.,/-])\d{5}(?![\d.,/-])")
_NUMBERED = re.compile(r"^(?:no|nº|lot|unit|suite|level|blk|block)\W{0,2}[a-z]{0,3}\W?\d|^\d{1,4}\W?[a-z]?,")
# Lines that belong to the head, but not to the address.
_ELSE = re.compile(
    r"(?<![a-z])(?:tel|phone|fax|hp|gst|sst|reg|roc|co\.? ?no|company no|email|e-mail|www|http|invoice|"
    r"receipt|cash|date|bill|nif|cif|tlf|telf|factura|ticket|fecha|welcome|bienvenid|customer|table|cashier|doc|tax)(?![a-z])"
)
_LEGAL = re.compile(r"(?<![a-z])(?:sdn|bhd|s\.?l\.?u?|s\.?a\.?|ltd|inc|enterprise|trading)(?![a-z])")


@cache
def _words(name: str) -> re.Pattern[str]:
    phrases = sorted(read_words("addresses")[name], key=len, reverse=True)
    return re.compile(rf"(?<![a-z])(?:{'|'.join(map(re.escape, phrases))})(?![a-z])")


def addresses(document: Document, _how: Conventions) -> list[Scored]:
    """Runs of lines near the top that read like an address; the first is the issuer's."""
    found: list[Scored] = []
    run: list[Line] = []
    for line in [one for one in document.lines if one.page == 0][:_HEAD_LINES]:
        like = _likeness(line, bool(run))
        if like <= 0 or len(run) == _MOST_LINES:
            found += _scored(run, len(found))
            run = []
        if like > 0:
            run.append(line)
    return [*found, *_scored(run, len(found))]


def _likeness(line: Line, goes_on: bool) -> float:
    folded = line.folded
    if _ELSE.search(folded) and not _POSTCODE.search(folded):
        return 0.0
    signs = (
        1.0 * bool(_words("street").search(folded))
        + 1.2 * bool(_POSTCODE.search(folded))
        + 0.8 * bool(_words("region").search(folded))
        + 0.8 * bool(_NUMBERED.match(folded))
        + 0.4 * (goes_on and folded.rstrip().endswith(","))
    )
    return signs - 0.9 * bool(_LEGAL.search(folded))


def _scored(run: list[Line], earlier: int) -> list[Scored]:
    if not run:
        return []
    text = " ".join(" ".join(line.text.split()) for line in run)
    if sum(map(str.isalpha, text)) < 8:
        return []
    first = run[0]
    sure = min(word.confidence for line in run for word in line.words)
    box = union([line.box for line in run])
    at = Stretch(text, box, sure, first.page, first.index, 0, len(first.text))
    complete = bool(_POSTCODE.search(run[-1].folded) or _words("region").search(run[-1].folded))
    score = 2.0 + 0.4 * min(len(run), 3) + 1.0 * complete - 0.8 * earlier
    return [Scored(Candidate(text.strip(" ,."), at), score, {"labelled": 0.0})]
