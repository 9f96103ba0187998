"""Whose number a candidate is: numbers of a party stand in that party's block of lines."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.hits import Hit, belongs
from docproc.apps.documents.understanding.extract.score import choose
from docproc.reading.folding import fold

if TYPE_CHECKING:
    from docproc.apps.documents.understanding.extract.search import Search

# Numbers that the law gives to people, not to companies: DNI and NIE, social security numbers of the United
# States, national insurance numbers of the United Kingdom.
_PERSON = re.compile(r"[xyzklm]?\d+[- ]?[a-z]$|\d{3}-\d{2}-|[a-z]{2} ?\d{2} ?\d{2} ?\d{2}")


class NumberOwners:
    """The owners of the numbers in one document that is being searched."""

    def __init__(self, search: Search) -> None:
        self._search = search

    def worth(self, name: str, candidate: Candidate) -> float:
        """What a candidate's place and form add to its score as the number `name`; 0 for other fields."""
        if name in ("vendor_tax_id", "customer_tax_id"):
            return self._of_trade(name, candidate)
        if name in ("employee_tax_id", "company_tax_id"):
            return self._of_work(name, candidate)
        return 0.0

    def _of_trade(self, name: str, candidate: Candidate) -> float:
        """By the block in which it stands."""
        theirs = belongs(candidate.at, self._customers)
        ours = not theirs and belongs(candidate.at, self._vendors)
        if name == "vendor_tax_id":
            return 1.0 * ours - 2.5 * theirs
        return 3.0 * theirs - 1.0 - 1.0 * ours

    def _of_work(self, name: str, candidate: Candidate) -> float:
        """By its form: a person's number is not a company's."""
        is_person = bool(_PERSON.match(fold(candidate.value)))
        row = self._search.document.lines[candidate.at.line].columns()[0]
        theirs = belongs(row, self._search.headings("employee_name"), 2)
        own = 1.5 if theirs and is_person and name == "employee_tax_id" else 0.0
        return 1.0 + own if is_person == (name == "employee_tax_id") else -2.5

    @cached_property
    def _customers(self) -> list[Hit]:
        """The labels of the customer's block, and what seems to be its first line."""
        headings = self._search.headings("customer_name")
        best = max((hit.worth["customer_name"] for hit in headings), default=0.0)
        # "Nombre" may head either party; "Cliente" tells whose it is.
        surest = [hit for hit in headings if hit.worth["customer_name"] >= best - 0.5]
        return [*surest, *self._first_line("customer_name", "name")]

    @cached_property
    def _vendors(self) -> list[Hit]:
        """What seems to be the first line of the vendor's block."""
        return self._first_line("vendor_name", "place_name")

    def _first_line(self, name: str, kind: str) -> list[Hit]:
        """Where the party's name stands, if it is asked for and one is chosen."""
        if name not in self._search.rules:
            return []
        choice = choose(self._search.scored(name), self._search.doc_type, name, kind)
        return [Hit(choice.candidate.at, {})] if choice else []
