"""The sign over a shop or the company behind it: which of the two is wanted."""

from __future__ import annotations

from collections.abc import Sequence

from docproc.apps.documents.understanding.extract.layout import Document, Stretch
from docproc.apps.documents.understanding.extract.names.appearance import LEGAL_FORM, full_name
from docproc.apps.documents.understanding.extract.names.lines import text_below
from docproc.apps.documents.understanding.extract.names.readings import TITLED
from docproc.apps.documents.understanding.extract.score import Scored
from docproc.reading.folding import fold


def signs(heads: Sequence[Scored]) -> list[Scored]:
    """A till prints the shop's sign over its company: where both are one name, the sign is wanted."""
    tops = {
        _bare(each.candidate.value): each.candidate for each in reversed(heads) if not each.parts["legal"]
    }
    titled = [bool(TITLED.match(fold(each.candidate.value))) for each in heads]
    # The chemist's own name stands under the sign.
    heads = [
        Scored(each.candidate, each.score - 2.0 * own, each.parts)
        for each, own in zip(heads, titled, strict=True)
    ]
    return [
        each
        for each in heads
        if not each.parts["legal"]
        or (sign := tops.get(_bare(each.candidate.value))) is None
        or sign.at.line > each.candidate.at.line
    ]


def owners(heads: Sequence[Scored], document: Document) -> list[Scored]:
    """On an invoice whoever has the tax id is the vendor, not the brand or the sign over it."""
    return [Scored(each.candidate, each.score + _ownership(each, document), each.parts) for each in heads]


def _ownership(each: Scored, document: Document) -> float:
    parts = each.parts
    if parts["customer"]:
        return 0.0
    if parts["role"] == 1 and parts["legal"]:
        return 1.5 + 0.8 * (parts["company"] > 0)
    if parts["role"] and parts["legal"] and parts["company"] > 0:
        return 0.8
    return -2.0 * (parts["company"] < 0 and _is_trade_name(each.candidate.at, document))


def _is_trade_name(at: Stretch, document: Document) -> bool:
    """A sign, and right under it the full name of the person whose number follows."""
    below = text_below(at, document, alike=False)
    return below is not None and full_name(below.text) and not full_name(at.text)


def _bare(name: str) -> str:
    return "".join(filter(str.isalnum, LEGAL_FORM.sub("", fold(name))))
