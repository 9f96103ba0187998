"""The period a payslip is for: beside its label, or a writing of a month that nothing else has."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence

from docproc.apps.documents.understanding.extract import normalise
from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.layout import Document
from docproc.apps.documents.understanding.extract.months import MONTHS
from docproc.apps.documents.understanding.extract.score import Scored
from docproc.reading.folding import fold

_MONTH = "|".join(sorted((month for month in MONTHS if len(month) > 2), key=len, reverse=True))
_NUMERIC = r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}"
_YEAR = r"(?:\s(?:de\s|del\s)?(?:\d{4}|\d{2}))?"
_DAY = rf"(?:{_NUMERIC}|\d{{1,2}}(?:\s(?:de\s)?(?:{_MONTH}))?\.?{_YEAR})"
_LAST = rf"(?:{_NUMERIC}|\d{{1,2}}\s(?:de\s)?(?:{_MONTH})\.?{_YEAR})"
# Words before it (`mensual`, `del`, `desde el`) are no part of the period.
_RANGE = re.compile(
    rf"(?<![a-z0-9])(?P<first>{_DAY})\s?(?:-|a|al|to|hasta(?:\sel)?)\s{{0,2}}(?P<last>{_LAST})(?![a-z0-9])"
)
_WHOLE_MONTH = re.compile(
    rf"(?<![a-z0-9])(?P<name>{_MONTH})(?:\s?(?:de\s|del\s|/|-|,)?\s?)(?P<year>20\d\d)(?![a-z0-9])"
    r"|(?<![\d/.-])(?P<number>0?[1-9]|1[0-2])/(?P<of>20\d\d)(?![\d/])"
)
_LIKELY = re.compile(r"\d{4}|\d[/.-]\d|" + "|".join(month for month in MONTHS if len(month) > 3))
_DAY_BEFORE = re.compile(r"\d{1,2}\s?(?:de\s|of\s|-|/|\.)?\s?$")
_PARTS = re.compile(
    rf"(?P<day>\d{{1,2}})(?:\s(?:de\s)?(?P<month>{_MONTH}))?\.?(?:\s(?:de\s|del\s)?(?P<year>\d{{4}}|\d{{2}}))?"
)


def periods(document: Document, labelled: Sequence[Scored]) -> list[Scored]:
    """Every writing of a period, with what a label says for it; else what the label points at."""
    told = [each for each in labelled if _is_period(each.candidate.value)]
    scored: list[Scored] = []
    held: set[int] = set()  # of `told`: texts that hold a period and more, of which the period alone is meant
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
            around = [number for number, each in enumerate(told) if _holds(each, start, end, line.index)]
            held |= {number for number in around if (start, end) in spans}
            label = max((told[number].score for number in around), default=0.0)
            score = (
                2.4
                + 0.6 * ((start, end) in spans)
                - line.index / max(len(document.lines), 1)
                + max(label - 2.0, 0.0)
            )
            scored.append(Scored(Candidate(at.text, at), score, {"labelled": float(label > 0), "mixed": 1.0}))
    return [*(each for number, each in enumerate(told) if number not in held), *scored]


def days(period: str, day_first: bool = True) -> tuple[str, str] | None:
    """The first and the last day of a period as it is written; None where it does not say them."""
    folded = fold(period)
    if written := _RANGE.search(folded):
        last = _day(written["last"], day_first, None)
        first = _day(written["first"], day_first, last)
        return (first, last) if first and last and first <= last else None
    if whole := _WHOLE_MONTH.search(folded):
        month = MONTHS[whole["name"]] if whole["name"] else int(whole["number"])
        year = int(whole["year"] or whole["of"])
        return f"{year}-{month:02d}-01", f"{year}-{month:02d}-{calendar.monthrange(year, month)[1]:02d}"
    return None


def _day(written: str, day_first: bool, last: str | None) -> str | None:
    """A day; what the first day of a period leaves out (`del 1 al 31 de enero de 2026`) the last one says."""
    if found := normalise.dates(written, day_first):
        return found[0][2]
    parts = _PARTS.search(written)
    if parts is None or (last is None and not (parts["month"] and parts["year"])):
        return None
    year = normalise.year_of(parts["year"]) if parts["year"] else int((last or "")[:4])
    month = MONTHS[parts["month"]] if parts["month"] else int((last or "")[5:7])
    return normalise.iso(year, month, int(parts["day"]))


def _holds(each: Scored, start: int, end: int, line: int) -> bool:
    at = each.candidate.at
    return at.line == line and at.start <= start + 1 and end <= at.end + 1


def _is_period(text: str) -> bool:
    folded = fold(text)
    return len(text) < 60 and bool(_LIKELY.search(folded) or normalise.dates(folded, True))
