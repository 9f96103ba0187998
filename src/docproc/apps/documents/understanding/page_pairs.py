"""Two pages in a row as numbers: what speaks for a new document on the second, and what against."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy
import numpy.typing

Vector = numpy.typing.NDArray[numpy.float32]
Marks = Mapping[str, Any]

# Types of one page, and types that go on over many. Each has a column of the vector, in this order: trained
# weights (`boundaries.npz`) count on it, so that a change here means to train anew.
ONE_PAGE = ("receipt", "payslip", "id_card")
LONG = ("contract", "bank_statement", "invoice")
WIDTH = 43  # columns of the vector


def vector(before: Marks, page: Marks, kind: str) -> Vector:
    """For two pages with words; `kind` is the type of the document that the first belongs to.

    What type the second looks like is no part of it: `page_sequence` weighs that.
    """
    made = [
        1.0,
        *(float(kind == name) for name in (*ONE_PAGE, *LONG, "other")),
        *_numbering(before, page),
        *_changed(before.get("number"), page.get("number")),
        _changed(before.get("form"), page.get("form"))[1],
        *_changed(before.get("sum"), page.get("sum")),
        *_overlap(before.get("tax_ids", ()), page.get("tax_ids", ())),
        *_overlap(before.get("ids", ()), page.get("ids", ())),
        *_overlap(before.get("dates", ()), page.get("dates", ())),
        _likeness(before.get("head", ()), page.get("head", ())),
        _likeness(before.get("foot", ()), page.get("foot", ())),
        _sketched(before.get("sketch", ()), page.get("sketch", ())),
        float(abs(before.get("shape", 1.4) - page.get("shape", 1.4)) > 0.08),
        *(float(bool(page.get(name))) for name in ("title", "opens", "came_on", "midway", "short")),
        *(float(bool(before.get(name))) for name in ("title", "closes", "goes_on")),
        float(bool(before.get("title")) and not page.get("title")),
        float(_is_copy(before, page)),
        # Each has a title, or each ends in a total: two papers rather than two pages of one.
        float(bool(before.get("title")) and bool(page.get("title"))),
        float(bool(before.get("closes")) and bool(page.get("closes"))),
        float(bool(page.get("title")) and not set(before.get("dates", ())) & set(page.get("dates", ()))),
        float(kind in LONG and not page.get("title") and not page.get("opens")),
    ]
    return numpy.array(made, dtype=numpy.float32)


def vectors(before: Marks, page: Marks, kinds: Sequence[str]) -> Vector:
    """One row for each type that the document before may be of; what the pages say is looked at once."""
    made = numpy.repeat(vector(before, page, "")[None], len(kinds), axis=0)
    goes_on = not page.get("title") and not page.get("opens")
    columns = (*ONE_PAGE, *LONG, "other")
    for row, kind in enumerate(kinds):
        if kind in columns:
            made[row, 1 + columns.index(kind)] = 1.0
        made[row, -1] = float(kind in LONG and goes_on)
    return made


def said(before: Marks, page: Marks) -> float | None:
    """That it is a new document, where pages say so plainly: by numbering, or by their document's number."""
    if continues_numbering(before, page):
        return 0.02
    if "carried_to" in before and before["carried_to"] == page.get("carried_from"):
        return 0.03
    if page.get("zone") and not before.get("zone") and "sum" not in before:  # a card bears no amount
        return _back_of_card(before, page)
    numbers = before.get("number"), page.get("number")
    if None not in numbers:
        return 0.96 if numbers[0] != numbers[1] else 0.06
    if page.get("page") == 1 and "of" in page and not _is_copy(before, page):
        return 0.97
    if "of" in before and before["of"] == before["page"] and not _is_copy(before, page):
        return 0.9  # it was the last page of its document
    if any(_changed(before.get(name), page.get(name))[1] for name in ("form", "account")):
        return 0.93
    return None


def _back_of_card(before: Marks, page: Marks) -> float:
    """A page with a machine-readable zone after a card's front, which has none."""
    same, other = _overlap(before.get("tax_ids", ()), page.get("tax_ids", ()))
    if same:
        return 0.03
    return 0.9 if other or page.get("title") else 0.2


def is_next(before: Marks, page: Marks) -> bool:
    """Page 2 after page 1, whatever the number of pages is said to be."""
    return "page" in page and page["page"] == before.get("page", -1) + 1


def continues_numbering(before: Marks, page: Marks) -> bool:
    """`2 de 3` after `1 de 3`."""
    return "of" in page and page["of"] == before.get("of") and is_next(before, page)


def _is_copy(before: Marks, page: Marks) -> bool:
    """The same page once more."""
    same = all(before.get(name) == page.get(name) for name in ("number", "ids", "dates", "sum"))
    return same and _sketched(before.get("sketch", ()), page.get("sketch", ())) > 0.8


def _numbering(before: Marks, page: Marks) -> tuple[float, ...]:
    """The first; the next; perhaps the next; a later one after one without number; not the next; all came."""
    mine, theirs = page.get("page"), before.get("page")
    following = is_next(before, page)
    whole = continues_numbering(before, page)
    return (
        float(mine == 1),
        float(whole),
        float(following and not whole),
        float(mine is not None and mine > 1 and theirs is None),
        float(mine is not None and mine > 1 and theirs is not None and not following),
        float(theirs is not None and theirs == before.get("of")),
    )


def _changed(theirs: object, mine: object) -> tuple[float, float]:
    both = theirs is not None and mine is not None
    return float(both and theirs == mine), float(both and theirs != mine)


def _overlap(theirs: Collection[str], mine: Collection[str]) -> tuple[float, float]:
    """Some are the same; both name some, and none is the same."""
    shared = bool(set(theirs) & set(mine))
    return float(shared), float(bool(theirs) and bool(mine) and not shared)


def _likeness(theirs: Collection[str], mine: Collection[str]) -> float:
    one, other = set(theirs), set(mine)
    return len(one & other) / max(min(len(one), len(other)), 3)


def _sketched(theirs: Collection[int], mine: Collection[int]) -> float:
    one, other = set(theirs), set(mine)
    smallest = set(sorted(one | other)[: max(min(len(one), len(other)), 1)])
    return len(smallest & one & other) / max(len(smallest), 1)
