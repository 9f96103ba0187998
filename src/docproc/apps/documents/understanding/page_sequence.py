"""Types and boundaries of pages in a row, decided together: a hidden Markov model over the sequence.

Each page either begins a document, and then looks like a first page of its type, or goes on with the
document before, and then often has no vocabulary of its own: terms of sale, meter readings, a signature. So
what a page looks like alone is weighed against what joins it to its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy
import numpy.typing

from docproc.apps.documents.understanding.page_evidence import OTHER
from docproc.apps.documents.understanding.page_pairs import ONE_PAGE

Floats = numpy.typing.NDArray[numpy.float64]

# The share of later pages that look like nothing in particular (`other`), for documents of one page by their
# nature and for all others.
_PLAIN_LATER, _PLAIN_LATER_OF_ONE = 0.3, 0.04
# The share of later pages that look like anything: an appendix, a form between the pages of a letter.
_ODD_LATER = 0.01
# How often the next document in a row is of the same type; else it is of any, as the classifier expects them.
_SAME_AGAIN = 0.6
_TYPES = 8  # as many are expected, `other` counting twice
# From this probability on, by the two pages alone, a document surely begins: what stands on either side is
# decided apart. So pages that are still to come cannot change what lies before such a cut.
SURELY_BEGINS = 0.8


@dataclass(frozen=True, slots=True)
class SequencePage:
    """A page with words. `looks` has the probability of each type by the page alone; `begins` the probability
    that a document begins here if the page before belongs to one of each type, by what joins the two.
    """

    looks: Mapping[str, float]
    begins: Mapping[str, float]
    default_begins: float = 1.0  # for types that `begins` does not name; 1 for the first page of a file

    def begin_chance(self, before: str) -> float:
        return self.begins.get(before, self.default_begins)


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a page: the type of its document, how sure that is, and whether a document begins."""

    doc_type: str
    sure: float
    begins: float


def surely_begins(before: SequencePage, page: SequencePage) -> float:
    """The probability that a document begins at `page`, by these two pages alone."""
    row = _Row.of([before, page])
    left = row.looks[0]
    new = float((left * row.chances[1] * row.began(1)).sum())
    on = float((left * (1 - row.chances[1]) * row.later[1]).sum())
    return new / max(new + on, 1e-12)


def decide(pages: Sequence[SequencePage]) -> list[Decided]:
    """Pages of one stretch, the first of which begins a document."""
    row = _Row.of(pages)
    ahead, behind = _forward(row), _backward(row)
    begins = [1.0, *(_begins(row, place, ahead, behind) for place in range(1, len(pages)))]
    return _documents(row, begins, ahead, behind)


@dataclass(frozen=True)
class _Row:
    """The pages of a stretch, each with a number for every type.

    `looks`: the classifier's probabilities. `first`: how much likelier such a page is as the first of a
    document of the type than of any document; `later`: the same as a later page. `chances`: that a document
    begins here if the one before is of the type.
    """

    types: tuple[str, ...]
    expected: Floats
    looks: list[Floats]
    first: list[Floats]
    later: list[Floats]
    chances: list[Floats]

    @classmethod
    def of(cls, pages: Sequence[SequencePage]) -> _Row:
        types = tuple(sorted({name for page in pages for name in page.looks} | {OTHER}))
        other = types.index(OTHER)
        expected = numpy.array([2.0 if name == OTHER else 1.0 for name in types]) / max(
            _TYPES, len(types) + 1
        )
        plain = numpy.array([_PLAIN_LATER_OF_ONE if name in ONE_PAGE else _PLAIN_LATER for name in types])
        looks = [_looks(page, types) for page in pages]
        first = [own / expected for own in looks]
        later = [(1 - plain - _ODD_LATER) * own + plain * own[other] + _ODD_LATER for own in first]
        chances = [numpy.array([page.begin_chance(name) for name in types]) for page in pages]
        return cls(types, expected, looks, first, later, chances)

    def began(self, place: int) -> Floats:
        """How much likelier the page is where a document begins after one of each type."""
        again: Floats = _SAME_AGAIN * self.first[place] + (1 - _SAME_AGAIN)
        return again


def _looks(page: SequencePage, types: Sequence[str]) -> Floats:
    """What a page leaves out is shared by all other types, named or not; nothing is impossible."""
    out = [name for name in types if name not in page.looks]
    rest = max(1 - sum(page.looks.values()), 0.0) / max(len(out), _TYPES - 1 - len(page.looks), 1)
    return _normal(numpy.array([page.looks.get(name, rest) for name in types]) + 1e-6)


def _normal(values: Floats) -> Floats:
    whole: Floats = values / max(float(values.sum()), 1e-300)
    return whole


# `ahead[i][t]`: of the pages up to i, that page i belongs to a document of type t. `behind[i][t]`: of the
# pages after i, given that. Both are kept normalised: only their proportions count.


def _forward(row: _Row) -> list[Floats]:
    ahead = [_normal(row.looks[0])]
    for place in range(1, len(row.looks)):
        before, chance = ahead[-1], row.chances[place]
        new = before * chance
        begun = _SAME_AGAIN * new * row.first[place] + (1 - _SAME_AGAIN) * float(new.sum()) * row.looks[place]
        ahead.append(_normal(begun + before * (1 - chance) * row.later[place]))
    return ahead


def _backward(row: _Row) -> list[Floats]:
    behind = [numpy.ones_like(row.looks[0])]
    for place in range(len(row.looks) - 1, 0, -1):
        after, chance = behind[0], row.chances[place]
        anew = _SAME_AGAIN * row.first[place] * after + (1 - _SAME_AGAIN) * float(
            (row.looks[place] * after).sum()
        )
        behind.insert(0, _normal(chance * anew + (1 - chance) * row.later[place] * after))
    return behind


def _begins(row: _Row, place: int, ahead: Sequence[Floats], behind: Sequence[Floats]) -> float:
    before, chance, after = ahead[place - 1], row.chances[place], behind[place]
    again = float((before * chance * row.first[place] * after).sum())
    other = float((before * chance).sum() * (row.looks[place] * after).sum())
    new = _SAME_AGAIN * again + (1 - _SAME_AGAIN) * other
    on = float((before * (1 - chance) * row.later[place] * after).sum())
    return new / max(new + on, 1e-300)


def _documents(
    row: _Row, begins: Sequence[float], ahead: Sequence[Floats], behind: Sequence[Floats]
) -> list[Decided]:
    """Cut where a document begins more likely than not; a document's type is the one its pages share best."""
    starts = [place for place, chance in enumerate(begins) if chance >= 0.5]
    decided: list[Decided] = []
    for start, end in pairwise([*starts, len(begins)]):
        shared = numpy.log(row.looks[start]) + sum(numpy.log(row.later[at]) for at in range(start + 1, end))
        best = int(numpy.argmax(shared))
        for place in range(start, end):
            sure = _normal(ahead[place] * behind[place])
            decided.append(Decided(row.types[best], float(sure[best]), begins[place]))
    return decided
