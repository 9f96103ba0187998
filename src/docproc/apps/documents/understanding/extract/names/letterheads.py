"""Who wrote a document, by its first lines and its small print."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from docproc.apps.documents.understanding.extract.blocks import TAX_ID
from docproc.apps.documents.understanding.extract.hits import Hit, belongs, is_label
from docproc.apps.documents.understanding.extract.layout import Document, Line
from docproc.apps.documents.understanding.extract.names.appearance import LEGAL_FORM, merit, traits
from docproc.apps.documents.understanding.extract.names.evidence import (
    REGISTRY,
    TOP_LINES,
    address_below,
    is_of_brand,
    logos,
    owns_number,
    sites,
    whose_number,
)
from docproc.apps.documents.understanding.extract.names.lines import RUNS_ON, named
from docproc.apps.documents.understanding.extract.names.readings import STATE, readings
from docproc.apps.documents.understanding.extract.score import Scored
from docproc.reading.folding import fold

_FOOT = 0.85
_BRAND_LINES = 4
_BEGAN_ABOVE = ("& ", "co. (", "and ")


def letterhead(document: Document, customers: Sequence[Hit], hits: Sequence[Sequence[Hit]]) -> list[Scored]:
    """Who wrote the document, by what its first lines and its legal forms look like."""
    first = [line for line in document.lines if line.page == 0]
    if not first:
        return []
    # The small print of a later page may be the only place where the company is named.
    first += [line for line in document.lines if line.page and line.box[1] > _FOOT and _small_print(line)]
    usual = median(line.height for line in first)
    domains = sites(document.text)
    brands = logos(first[:_BRAND_LINES])
    candidates: list[Scored] = []
    for rank, line in enumerate(first):
        for number, column in enumerate(line.columns()):
            owner = owns_number(column, line, document)
            if rank >= TOP_LINES and owner < 1 and not LEGAL_FORM.search(fold(column.text)):
                continue
            heading, whose = is_label(column, hits), whose_number(column, document)
            for at, joined in readings(column, document):
                tall = min(max((column.box[3] - column.box[1]) / usual - 1, 0.0), 1.0)
                known = any(domain in fold(at.text).replace(" ", "") for domain in domains)
                known = known or is_of_brand(at.text, brands)
                theirs = belongs(at, customers)
                score = 2.6 - 0.3 * min(rank, 6) - 0.3 * number + 1.2 * tall + merit(at.text)
                score -= 1.5 * fold(at.text).startswith(_BEGAN_ABOVE)
                score -= 2.5 * bool(STATE.fullmatch(fold(at.text)))
                score += 0.8 * known - 3.0 * theirs - 0.6 * joined - 2.5 * heading + 0.8 * (owner == 1)
                parts = {
                    "letterhead": 1.0, "top": min(rank, 12) / 12, "column": min(number, 3) / 3, "tall": tall,
                    "domain": float(known), "customer": float(theirs), "joined": float(joined), "role": owner,
                    "company": whose,
                    "continues": float(at.text.rstrip().endswith(RUNS_ON)),
                    "position": float(heading),
                    "address_below": address_below(column, document), **traits(at.text),
                }  # fmt: skip
                candidates.append(Scored(named(at, document), score, parts))
    return candidates


def _small_print(line: Line) -> bool:
    return bool(REGISTRY.search(line.folded) or TAX_ID.search(line.folded)) and bool(
        LEGAL_FORM.search(line.folded)
    )
