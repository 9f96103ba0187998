"""Sums that are carried over from page to page (`suma y sigue`): they look like totals and are none."""

from __future__ import annotations

import re
from functools import cache

from docproc.apps.documents.understanding.extract.layout import Document
from docproc.apps.documents.understanding.words import read_words

COSTS = 4.0  # what it takes from an amount that its line says so: more than a label of a total gives


@cache
def _phrase() -> re.Pattern[str]:
    phrases = sorted(read_words("carried"), key=len, reverse=True)
    return re.compile(rf"(?<![a-z])(?:{'|'.join(map(re.escape, phrases))})(?![a-z])")


def lines(document: Document) -> frozenset[int]:
    """The lines whose amounts are carried over."""
    return frozenset(line.index for line in document.lines if _phrase().search(line.folded))
