"""Two parties of a document are not the same: which of two fields keeps a value that both would take."""

from __future__ import annotations

from docproc.apps.documents.understanding.extract.layout import Stretch
from docproc.apps.documents.understanding.extract.scorer import Ranking
from docproc.reading.folding import fold

PARTIES = ("party_a", "party_b")
# A field -> the pair of fields, it among them, that never have one value.
PAIRS = {
    name: pair
    for pair in (
        ("vendor_name", "customer_name"),
        ("company_name", "employee_name"),
        PARTIES,
        ("vendor_tax_id", "customer_tax_id"),
    )
    for name in pair
}
_TAKEN = 0.9  # the share with which a number is the vendor's, and so not the customer's
_NEAR = 12  # lines between the headings of two parties


def loser(pair: tuple[str, str], one: Ranking, other: Ranking) -> str | None:
    """The field that has to do without the first one's value: the other one needs it more."""
    first, second = pair
    if not is_same(one.best.value, other.best.value):
        return second if first == "vendor_tax_id" and one.share > _TAKEN else None
    first_keeps = one.share * max(other.next, 0.1 * other.nothing) >= other.share * max(
        one.next, 0.1 * one.nothing
    )
    return second if first_keeps else first


def are_swapped(one: Stretch, other: Stretch) -> bool:
    """Of two parties named side by side or one after the other, party_b (`other`) stands first."""
    near = one.page == other.page and 0 <= one.line - other.line < _NEAR
    return near and (other.line, other.start) < (one.line, one.start)


def is_same(one: str, other: str) -> bool:
    return _letters(one) == _letters(other)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, fold(name)))
