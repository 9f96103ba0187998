"""The rows of a tax table: a base, a rate and the tax they make, checked by multiplying."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.layout import Document, Stretch
from docproc.reading.page import union

# Of Spain (VAT, IGIC) and its neighbours; another rate counts where it is printed with its sign.
_RATES = frozenset(
    Decimal(rate)
    for rate in ("21", "10", "4", "7", "3", "9.5", "15", "20", "5", "5.5", "6", "13", "23", "19", "22", "9")
)
_PERCENT = re.compile(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?)\s?%")
_WITHHELD = re.compile(r"(?<![a-z])(?:i\.? ?r\.? ?p\.? ?f|retencion|recargo|r\.e)(?![a-z])")
_CENT = Decimal("0.01")
_ROUNDED = Decimal("0.05")  # the tax of a further row may be the sum of what each line was rounded to
_GAP = 3  # lines between rows of one table
_ALIGNED = 0.03
_CENTS = re.compile(r"[.,]\s?\d{2}(?!\d)")


@dataclass(frozen=True, slots=True)
class Row:
    rate: Decimal
    base: Candidate
    tax: Candidate


@dataclass(frozen=True, slots=True)
class Table:
    """Rows near each other: what they are together."""

    rows: tuple[Row, ...]

    @property
    def net(self) -> Candidate:
        return _sum([row.base for row in self.rows])

    @property
    def tax(self) -> Candidate:
        return _sum([row.tax for row in self.rows])


def tables(document: Document, amounts: Sequence[Candidate]) -> list[Table]:
    """The tax tables of a document, from all amounts on it."""
    by_line: dict[int, list[Candidate]] = {}
    for amount in amounts:
        by_line.setdefault(amount.at.line, []).append(amount)
    groups: list[list[Row]] = []
    for index, on_line in by_line.items():
        folded = document.lines[index].folded
        before = groups[-1] if groups and index - groups[-1][-1].base.at.line <= _GAP else []
        row = _row(folded, on_line)
        if row is None and before:
            row = _row(folded, on_line, _ROUNDED)
            row = row if row and _another(row, before) else None
        if row is None:
            continue
        if before and _another(row, before):
            before.append(row)
        else:
            groups.append([row])
    return [Table(tuple(rows)) for rows in groups]


def _another(row: Row, before: Sequence[Row]) -> bool:
    """A row of the same columns at another rate; the line of sums has no rate of its own."""
    last = before[-1]
    return all(row.rate != other.rate for other in before) and (
        _under(row.base, last.base) and _under(row.tax, last.tax)
    )


def _under(below: Candidate, above: Candidate) -> bool:
    first, second = below.at.box, above.at.box
    return abs(first[2] - second[2]) < _ALIGNED or abs(first[0] - second[0]) < _ALIGNED


def _row(folded: str, amounts: Sequence[Candidate], slack: Decimal = _CENT) -> Row | None:
    if len(amounts) < 2 or _WITHHELD.search(folded):
        return None
    printed = {Decimal(match[1].replace(",", ".")) for match in _PERCENT.finditer(folded)}
    bare = {value for each in amounts if (value := Decimal(each.value)) in _RATES}
    values = [(Decimal(each.value), each) for each in amounts if _CENTS.search(each.at.text)]
    if printed == {Decimal(0)} and any(value == 0 for value, _ in values):
        base = next((each for value, each in values if value > 0), None)
        nothing = next(each for value, each in values if value == 0)
        return Row(Decimal(0), base, nothing) if base else None
    for rate in sorted(printed | bare, reverse=True):
        for row in _products(rate, values, slack):
            return row
    return None


def _products(rate: Decimal, values: Sequence[tuple[Decimal, Candidate]], slack: Decimal) -> Iterator[Row]:
    for base, first in values:
        wanted = (base * rate / 100).quantize(_CENT, ROUND_HALF_UP)
        for tax, second in values:
            if (
                second is not first
                and abs(base) > abs(tax) > 0 < base * tax
                and rate > 0
                and abs(tax - wanted) <= slack
            ):
                yield Row(rate.normalize(), first, second)


def _sum(parts: Sequence[Candidate]) -> Candidate:
    if len(parts) == 1:
        return parts[0]
    total = sum((Decimal(part.value) for part in parts), Decimal(0))
    first = parts[0].at
    same_page = [part.at.box for part in parts if part.at.page == first.page]
    at = Stretch(
        " + ".join(part.at.text for part in parts), union(same_page),
        min(part.at.confidence for part in parts), first.page, first.line, first.start, first.end,
    )  # fmt: skip
    return Candidate(f"{total:.2f}", at)
