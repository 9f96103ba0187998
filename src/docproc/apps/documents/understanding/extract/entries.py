"""Rows of dated entries: the movements of a statement, the nights of a hotel, deliveries."""

from __future__ import annotations

from collections.abc import Sequence

from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.layout import WIDE, Document, Stretch

_AT_THE_BEGINNING = 3  # characters
_NAMES_SOMETHING = 5  # letters between a date and a price


def entry_lines(document: Document, dates: Sequence[Candidate], amounts: Sequence[Candidate]) -> set[int]:
    """The lines that begin with a date and have amounts."""
    prices: dict[int, int] = {}
    for each in amounts:
        if each.merit > 0:
            prices[each.at.line] = max(each.at.start, prices.get(each.at.line, 0))
    dated = {each.at.line for each in dates if each.at.start < _AT_THE_BEGINNING}
    return {
        each.at.line
        for each in dates
        if each.at.line in prices
        and (each.at.line in dated or _begins_entry(document, each.at, prices[each.at.line]))
    }


def _begins_entry(document: Document, at: Stretch, price: int) -> bool:
    """The date begins a cell, then a service is named, then its price."""
    text = document.lines[at.line].text
    begins = not text[: at.start].strip() or text[: at.start].endswith(WIDE)
    return begins and sum(map(str.isalpha, text[at.end : max(price, at.end)])) > _NAMES_SOMETHING
