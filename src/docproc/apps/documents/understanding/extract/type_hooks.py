"""What the search does otherwise for some types of documents. A type's file names its hook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from docproc.apps.documents.understanding.extract import identity, identity_print, names, periods
from docproc.apps.documents.understanding.extract.layout import Document, layout
from docproc.apps.documents.understanding.extract.parties import parties
from docproc.apps.documents.understanding.extract.score import Choice, Scored, choose, less_likely
from docproc.apps.documents.understanding.types import loader
from docproc.reading.codes import Claim
from docproc.reading.page import PageText

if TYPE_CHECKING:
    from docproc.apps.documents.understanding.extract.search import Search


class TypeHook:
    """Most types: nothing is done otherwise."""

    # Its two parties are not the same; false where only one is named.
    has_two_parties = True
    # Of the parties the one that is named first is party_a.
    orders_parties = False
    # A date in a row of entries counts only where there is no other.
    is_dated_by_its_head = False
    # What it takes from a date as the document's that it stands in one of several rows of entries.
    entry_costs = 0.0
    # What it says for a date that it stands where papers are signed (`En Madrid, a 28 de octubre`), and what
    # it takes from one that it says when something begins or ends.
    signing_worth = 0.0
    term_costs = 0.0
    # Fields that are put together from others: their candidates alone do not tell what is answered.
    composed: frozenset[str] = frozenset()

    def decided(self, search: Search, name: str) -> tuple[Choice | None] | None:
        """The choice for a field in a tuple, where it is made in another way than by candidates."""
        return None

    def issuers(self, heads: list[Scored], document: Document) -> list[Scored]:
        """The letterhead's candidates for who wrote the document, weighed anew."""
        return heads

    def persons(self, name: str, document: Document) -> list[Scored]:
        """More candidates for the name of a party."""
        return []

    def claims(self, pages: Sequence[PageText]) -> list[Claim]:
        """What parts of the print that were made for machines claim."""
        return []


class InvoiceHook(TypeHook):
    entry_costs = 1.5  # a visit or a delivery among others
    signing_worth = 1.8

    def issuers(self, heads: list[Scored], document: Document) -> list[Scored]:
        return names.owners(heads, document)


class ReceiptHook(TypeHook):
    has_two_parties = False

    def issuers(self, heads: list[Scored], document: Document) -> list[Scored]:
        return names.signs(heads)


class PayslipHook(TypeHook):
    """Its period is also told as the first and the last day, as dates."""

    composed = frozenset({"period_from", "period_to"})

    def decided(self, search: Search, name: str) -> tuple[Choice | None] | None:
        if name not in self.composed:
            return None
        if "period" not in search.rules:
            return (None,)
        period = choose(search.scored("period"), search.doc_type, "period", "period")
        both = periods.days(period.candidate.value, search.how.day_first) if period else None
        if period is None or both is None:
            return (None,)
        value = both[name == "period_to"]
        return (replace(period, candidate=replace(period.candidate, value=value)),)

    def issuers(self, heads: list[Scored], document: Document) -> list[Scored]:
        return [less_likely(each, each.parts["company"] < 0) for each in heads]


class ContractHook(TypeHook):
    orders_parties = True
    signing_worth = 2.6
    term_costs = 2.0

    def persons(self, name: str, document: Document) -> list[Scored]:
        return parties(document).get(name, [])


class StatementHook(TypeHook):
    """A statement is dated by its head or its period; by its movements only where it says no more."""

    is_dated_by_its_head = True


class CardHook(TypeHook):
    """Cards that print which field is which, names in parts, and the machine-readable zone."""

    composed = frozenset({"full_name"})

    def decided(self, search: Search, name: str) -> tuple[Choice | None] | None:
        if told := identity_print.printed(name, search.document):
            return (told,)
        return (_full_name(search),) if name in self.composed else None

    def claims(self, pages: Sequence[PageText]) -> list[Claim]:
        return identity.zone(layout(pages))


def _full_name(search: Search) -> Choice | None:
    """Given name and surname as the card prints them apart, or the name where it stands in one."""
    document, hits = search.document, search.hits
    whole = choose(search.scored("full_name"), search.doc_type, "full_name", "name")
    given, surname = identity.given(document, hits), identity.surname(document, hits)
    if given is None or surname is None:
        return whole
    second = choose(names.labelled("second_surname", document, hits))
    parts = identity.joined(given, identity.joined(surname, second) if second else surname)
    return parts if whole is None or parts.confidence >= whole.confidence else whole


HOOKS: dict[str, TypeHook] = {
    "bank_statement": StatementHook(),
    "contract": ContractHook(),
    "id_card": CardHook(),
    "invoice": InvoiceHook(),
    "payslip": PayslipHook(),
    "receipt": ReceiptHook(),
}
_PLAIN = TypeHook()


def hook_of(doc_type: str) -> TypeHook:
    document_type = loader.known().get(doc_type)
    return HOOKS.get(document_type.hook, _PLAIN) if document_type else _PLAIN
