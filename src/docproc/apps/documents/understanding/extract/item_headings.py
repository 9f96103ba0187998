"""Headings of the items of an invoice: what stands there is a label of a column, not of the document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from docproc.apps.documents.understanding.extract.hits import Hit
from docproc.apps.documents.understanding.words import read_words

_HEADING = re.compile(rf"(?<![a-z])(?:{'|'.join(map(re.escape, read_words('item_headings')))})(?![a-z])")
_LEAST = 3  # different headings on a line: fewer also stand in other lines


def without_column_labels(hits: Sequence[Hit], folded: str) -> list[Hit]:
    """The labels on a line. `Ref.` over the items of an invoice heads their codes, not its number."""
    if len(set(_HEADING.findall(folded))) < _LEAST:
        return list(hits)
    return [
        replace(hit, worth={name: worth for name, worth in hit.worth.items() if name != "invoice_number"})
        for hit in hits
    ]
