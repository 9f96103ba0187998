"""The period a payslip is for: beside its label, or a writing of a month that nothing else has."""

from __future__ import annotations

import re
from collections.abc import Sequence

from docproc.apps.documents.understanding.extract import normalise
from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.layout import Document
from docproc.apps.documents.understanding.extract.score import Scored
from docproc.reading.folding import fold

_MONTH = "|".join(sorted((month for month in normalise.MONTHS if len(month) > 2), key=len, reverse=True))
_NUMERIC = r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}"
_YEAR = r"(?:\s(?:de\s|del\s)?(?:\d{4}|\d{2}))?"
_DAY = rf"(?:{_NUMERIC}|\d{{1,2}}(?:\s(?:de\s)?(?:{_MONTH}))?\.?{_YEAR})"
_LAST = rf"(?:{_NUMERIC}|\d{{1,2}}\s(?:de\s)?(?:{_MONTH})\.?{_YEAR})"
_RANGE = re.compile(
    rf"(?<![a-z0-9])(?:(?:mens(?:ual)?|extra|paga)\.?\s?-?\s?)?(?:del?\s|desde\s(?:el\s)?)?{_DAY}\s?(?:-|a|al|to|hasta(?:\sel)?)\s{{0,2}}{_LAST}(?![a-z0-9])"
)
_WHOLE_MONTH = re.compile(
    rf"(?<![a-z0-9])(?:{_MONTH})(?:\s?(?:de\s|del\s|/|-|,)?\s?)(?:20)\d\d(?![a-z0-9])|(?<![\d/.-])(?:0?[1-9]|1[0-2])/20\d\d(?![\d/])"
)
_LIKELY = re.compile(r"\d{4}|\d[/.-]\d|" + "|".join(month for month in normalise.MONTHS if len(month) > 3))
_DAY_BEFORE = re.compile(r"\d{1,2}\s?(?:de\s|of\s|-|/|\.)?\s?$")


def periods(document: Document, labelled: Sequence[Scored]) -> list[Scored]:
    """Every writing of a period, with what a label says for it; else what the label points at."""
    told = [each for each in labelled if _is_period(each.candidate.value)]
    scored = list(told)
    for line in document.lines:
        spans = [match.span() for match in _RANGE.finditer(line.folded)]
        whole = [
            match.span()
            for match in _WHOLE_MONTH.finditer(line.folded)
            if not _DAY_BEFORE.search(line.folded[: match.start()])
            and not any(start <= match.start() < end for start, end in spans)
        ]
        for start, end in spans + whole:
            at = line.stretch(start, end)
            # Where a label's text holds the period and more, the period alone is meant.
            label = max((each.score for each in told if _holds(each, start, end, line.index)), default=0.0)
            score = (
                2.4
                + 0.6 * ((start, end) in spans)
                - line.index / max(len(document.lines), 1)
                + max(label - 2.0, 0.0)
            )
            scored.append(Scored(Candidate(at.text, at), score, {"labelled": float(label > 0), "mixed": 1.0}))
    return scored


def _holds(each: Scored, start: int, end: int, line: int) -> bool:
    at = each.candidate.at
    return at.line == line and at.start <= start + 1 and end <= at.end + 1


def _is_period(text: str) -> bool:
    folded = fold(text)
    return len(text) < 60 and bool(_LIKELY.search(folded) or normalise.dates(folded, True))
