"""The currency of a document: the signs and codes that it prints, the more often the likelier."""

from __future__ import annotations

import re

from docproc.apps.documents.understanding.extract import normalise
from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.layout import Document
from docproc.apps.documents.understanding.extract.score import Scored

_SIGN = re.compile(r"€|us\$|\$|£|(?<![a-z])(?:eur|euros|usd|gbp|rm|myr)(?![a-z])")
_ONCE, _EACH_TIME, _MOST_TIMES = 2.5, 0.6, 5


def currencies(document: Document) -> list[Scored]:
    """One candidate for each currency, where it is printed first."""
    by_code: dict[str, list[Candidate]] = {}
    for line in document.lines:
        for match in _SIGN.finditer(line.folded):
            if code := normalise.currency(match[0]):
                by_code.setdefault(code, []).append(Candidate(code, line.stretch(*match.span())))
    return [
        Scored(printed[0], _ONCE + _EACH_TIME * min(len(printed), _MOST_TIMES))
        for printed in by_code.values()
    ]
