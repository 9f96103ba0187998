"""The amounts of a document that make a sum (net + tax = total), chosen together rather than one by one."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING

from docproc.apps.documents.understanding.extract import amounts, tax_table
from docproc.apps.documents.understanding.extract.labels import sum_of
from docproc.apps.documents.understanding.extract.score import Scored

if TYPE_CHECKING:
    from docproc.apps.documents.understanding.extract.search import Search

_WELL_LABELLED = 3.0  # a score that an amount reaches only beside a label of its own


class SummedAmounts:
    """The sum of one document that is being searched; its parts are named by the type."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self.parts = sum_of(search.doc_type)

    def scored(self, name: str) -> list[Scored]:
        """The candidates of a part; those that agree with candidates of the other parts are raised."""
        return self._raised[name]

    def withheld(self, scored: list[Scored]) -> list[Scored]:
        """Candidates for what is held back; the best is what lacks between net, tax and total."""
        return amounts.lacking(scored, [Decimal(value) for value in self._agreeing.values() if value])

    @cached_property
    def _raised(self) -> dict[str, list[Scored]]:
        return amounts.raised(self._by_label, self._agreeing)

    @cached_property
    def _by_label(self) -> dict[str, list[Scored]]:
        """The candidates of all parts; those whose separator OCR lost are repaired where a sum proves it."""
        scored = self._printed
        if any(amounts.agreeing(self.parts, scored, self._beside()).values()):
            return scored
        repaired = {
            name: amounts.with_lost_marks(each, self._search.document) for name, each in scored.items()
        }
        proven = amounts.agreeing(self.parts, repaired, self._beside())
        if not any(proven.values()):
            return scored
        return {
            name: [
                *scored[name],
                *(
                    each
                    for each in repaired[name][len(scored[name]) :]
                    if each.candidate.value == proven[name]
                ),
            ]
            for name in self.parts
        }

    @cached_property
    def _printed(self) -> dict[str, list[Scored]]:
        scored = {name: self._search.by_label(name) for name in self.parts}
        if "tax_amount" in self.parts:
            printed = [each.candidate for each in self._search.told("amount")]
            amounts.add_tax_tables(scored, tax_table.tables(self._search.document, printed))
            scored["tax_amount"] = amounts.included(scored["tax_amount"], self._search.document)
        return scored

    @cached_property
    def _agreeing(self) -> Mapping[str, str]:
        """By part, the values that add up best; empty where none do."""
        return amounts.agreeing(self.parts, self._by_label, self._beside())

    def _beside(self) -> list[Decimal]:
        """What comes off or on between net + tax and the total: income tax withheld, surcharges."""
        off = [Decimal(0), *self._well_labelled("withheld")]
        return [less - more for less in off for more in (Decimal(0), *self._well_labelled("surcharge"))]

    def _well_labelled(self, name: str) -> set[Decimal]:
        if name not in self._search.rules:
            return set()
        scored = self._search.by_label(name)
        return {abs(Decimal(each.candidate.value)) for each in scored if each.score > _WELL_LABELLED}
