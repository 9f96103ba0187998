"""Amounts of an invoice or a payslip: what tax tables and sums say of them beyond their labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from docproc.apps.documents.understanding.extract import sums
from docproc.apps.documents.understanding.extract.layout import Document
from docproc.apps.documents.understanding.extract.score import Scored, less_likely
from docproc.apps.documents.understanding.extract.tax_table import Table
from docproc.reading.page import Source

_SUM_AGREES = 2.2
_TAX_TABLE = 5.0  # what a row whose base, rate and tax fit is worth: as much as a good label
_WELL_TOLD = 3.0  # the score of an amount with a label of its own
_NO_MARK = re.compile(r"\d{1,2} ?\d{3,7}|\d{3,9}")  # an amount of a scan without point or comma
_TAX_INCLUDED = re.compile(
    r"(?:incluye|incluid[oa]s?|includes|including|incl\.?) (?:€|eur)? ?\d[\d.,]*\d ?(?:€|eur|euros)?"
    r"(?= (?:de |en concepto de )?(?:\d{1,2} ?% )?(?:de )?(?:iva|i\.v\.a|igic|vat|impuestos)(?![a-z]))"
    r"|\((?:iva|i\.v\.a\.?|igic|vat) (?:\d{1,2} ?% )?(?:incluido|included):? ?(?:€|eur)? ?"
    r"\d[\d.,]*\d ?(?:€|eur|euros)?(?=\))"
)


def add_tax_tables(scored: dict[str, list[Scored]], tables: Sequence[Table]) -> None:
    """Where several rates make the tax, no single amount may be the net or the tax: their sums are."""
    for table in tables:
        several = len(table.rows) > 1
        parts = {row.base.at for row in table.rows} if several else set()
        scored["net_amount"] = [
            less_likely(each, each.candidate.at in parts) for each in scored["net_amount"]
        ]
        for name, candidate in (("net_amount", table.net), ("tax_amount", table.tax)):
            scored[name].append(
                Scored(candidate, _TAX_TABLE + several, {"row": 1.0, "joined": float(several)})
            )


def included(scored: list[Scored], document: Document) -> list[Scored]:
    """`Total 66,20 € (incluye 11,49 € IVA)` says what the tax is: nothing else is, whatever adds up."""
    told = [
        each
        for each in scored
        if any(
            match.start() <= each.candidate.at.start and each.candidate.at.end <= match.end() + 1
            for match in _TAX_INCLUDED.finditer(document.lines[each.candidate.at.line].folded)
        )
    ]
    return [Scored(each.candidate, _TAX_TABLE, each.parts) for each in told] or scored


def with_lost_marks(scored: Sequence[Scored], document: Document) -> list[Scored]:
    """The amounts, then once more those of a scan that have neither point nor comma, as if it had been lost.

    `185000` is perhaps 1 850,00: alone that says nothing, so a sum must prove it.
    """
    lost = [
        Scored(
            replace(each.candidate, value=f"{Decimal(each.candidate.value) / 100:.2f}"),
            each.score,
            each.parts,
        )
        for each in scored
        if document.pages[each.candidate.at.page].source == Source.OCR
        and _NO_MARK.fullmatch(each.candidate.at.text.strip(" €$-"))
    ]
    return [*scored, *lost]


def agreeing(
    parts: Sequence[str], scored: Mapping[str, Sequence[Scored]], beside: Sequence[Decimal]
) -> dict[str, str]:
    """By part, the value of which the first two make the third; all empty where no three do."""
    values = sums.agreeing([scored[name] for name in parts], beside)
    values = None if values and _too_small(values[0], scored) else values
    return dict(zip(parts, values or ("", "", ""), strict=True))


def raised(scored: Mapping[str, Sequence[Scored]], agreed: Mapping[str, str]) -> dict[str, list[Scored]]:
    """The same amounts, those that agree worth more."""
    told = {name for name, value in agreed.items() if _is_told(value, scored[name])}
    return {
        name: [_agreed(each, value, len(told - {name}) > 1) for each in scored[name]]
        for name, value in agreed.items()
    }


def lacking(scored: list[Scored], agreed: Sequence[Decimal]) -> list[Scored]:
    """What is held back: worth more where it is what lacks between net, tax and total."""
    if len(agreed) < 3:
        return scored
    missing = agreed[0] + agreed[1] - agreed[2]
    return [
        _agreed(each, each.candidate.value, True)
        if missing > 0
        and each.score > _WELL_TOLD
        and abs(Decimal(each.candidate.value) - missing) <= Decimal("0.02")
        else each
        for each in scored
    ]


def _too_small(net: str, scored: Mapping[str, Sequence[Scored]]) -> bool:
    """Less than what the rows of a tax table make together cannot be the net amount: a sum by chance."""
    joined = [each for each in scored.get("net_amount", ()) if each.parts.get("joined")]
    return any(abs(Decimal(net)) < abs(Decimal(each.candidate.value)) for each in joined)


def _is_told(value: str, scored: Sequence[Scored]) -> bool:
    return any(each.score > _WELL_TOLD for each in scored if each.candidate.value == value)


def _agreed(each: Scored, value: str, others_told: bool = False) -> Scored:
    """A sum says more of an amount when the two others are known by their labels."""
    if each.candidate.value != value:
        return each
    more = 1.0 if others_told else 0.0
    return Scored(each.candidate, each.score + _SUM_AGREES + more, {**each.parts, "sum": 1.0 + more})
