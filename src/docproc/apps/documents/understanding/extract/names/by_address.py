"""Names over an address: whom the document may be sent to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from docproc.apps.documents.understanding.extract.blocks import POSTCODE, STREET, Block, blocks
from docproc.apps.documents.understanding.extract.hits import Hit
from docproc.apps.documents.understanding.extract.layout import Document, Stretch
from docproc.apps.documents.understanding.extract.names.appearance import (
    LEGAL_FORM,
    is_person,
    merit,
    repeats,
    traits,
)
from docproc.apps.documents.understanding.extract.names.evidence import sites, whose_number
from docproc.apps.documents.understanding.extract.names.lines import (
    cleaned,
    named,
    runs_on_from_above,
    wrapped,
)
from docproc.apps.documents.understanding.extract.score import Scored
from docproc.reading.folding import fold

_BANK = re.compile(r"(?<![a-z])(?:banco|bank|caixa|caja|oficina|sucursal|branch)(?![a-z])")


def addressed(document: Document, hits: Sequence[Sequence[Hit]]) -> list[Scored]:
    """Whom the document may be sent to: the name over an address, best at the right and below the first."""
    candidates = []
    domains = sites(document.text)
    for block in blocks(document):
        first = block.cells[0]
        evidence = block.evidence
        at = cleaned(first, document)
        if at is None or evidence < 1.6 or merit(at.text) < 0 or _is_heading(first, hits) or ":" in at.text:
            continue
        if runs_on_from_above(first, document):
            continue
        at = wrapped(at, document) or at
        if STREET.search(fold(at.text)) or POSTCODE.search(fold(at.text)):
            continue
        right, goes_on = first.box[0] > 0.4, _goes_on_from(first, document)
        acts_for = _acts_for(block, document)
        goes_on = goes_on and not acts_for
        evidence -= 2.0 * (acts_for and not LEGAL_FORM.search(fold(first.text)))
        score = (
            1.0 + evidence + 0.8 * right - 1.0 * (first.line < 1) - 0.5 * (first.box[1] > 0.5) - 1.5 * goes_on
        )
        score -= 2.0 * bool(_BANK.search(fold(at.text)))
        # Whoever has a site or a mail address of this name wrote the document.
        score -= 1.5 * any(domain in fold(at.text).replace(" ", "") for domain in domains)
        parts = {
            "block": 1.0,
            "company": whose_number(first, document),
            "column": float(right),
            "top": min(first.line, 12) / 12,
            "continues": float(goes_on),
        }
        candidates.append(Scored(named(at, document), score, parts | traits(at.text)))
    return candidates


def _acts_for(block: Block, document: Document) -> bool:
    """A guest over the company that pays: the name with the legal form and the number is the one meant."""
    first, *below = block.cells
    above = document.lines[first.line - 1].columns() if first.line else ()
    near = [cell for cell in above if abs(cell.box[0] - first.box[0]) < 0.012 and is_person(cell.text)]
    has_form = bool(LEGAL_FORM.search(fold(first.text)))
    other = near[:1] if has_form else below[:1]
    return (
        whose_number(first, document) > 0
        and bool(other)
        and bool(LEGAL_FORM.search(fold(other[0].text))) != has_form
        and is_person(first.text if not has_form else other[0].text)
        and not repeats(fold(first.text), fold(other[0].text))
    )


def _goes_on_from(first: Stretch, document: Document) -> bool:
    """Another text stands right above it: then it is not the first line of its block."""
    above = document.lines[first.line - 1] if first.line else None
    if above is None or above.page != first.page:
        return False
    height = first.box[3] - first.box[1]
    return any(
        abs(cell.box[0] - first.box[0]) < 0.012
        and first.box[1] - cell.box[3] < 0.9 * height
        and merit(cell.text) >= 0
        and ":" not in cell.text
        for cell in above.columns()
    )


def _is_heading(at: Stretch, hits: Sequence[Sequence[Hit]]) -> bool:
    return any(
        hit.at.start < at.end and hit.at.end > at.start
        for hit in hits[at.line]
        if len(hit.at.text) > 2 or hit.at.start <= at.start  # the "de" of a surname is no label
    )
