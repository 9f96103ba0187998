"""Where one document ends and the next begins: pages in a row become documents, with how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy

from docproc.apps.documents.understanding import page_pairs, page_sequence
from docproc.apps.documents.understanding.models import PACKAGED, arrays
from docproc.apps.documents.understanding.page_marks import marks
from docproc.apps.documents.understanding.page_sequence import SURELY_BEGINS, Decided, SequencePage

__all__ = ["MODEL", "Group", "PageKind", "group", "marks", "probabilities"]

MODEL = "boundaries"
# Probabilities are kept between this and 1 minus this: the model has not seen enough to be surer.
_LEAST = 0.005
# Probability that a blank page begins a document; most are the empty back of the sheet before.
_BLANK = 0.1
# Probability that a document begins where pages say nothing of themselves: one of the same type, or another.
_NOTHING_SAID, _ANOTHER_TYPE = 0.3, 0.9


@dataclass(frozen=True, slots=True)
class PageKind:
    """What grouping knows of a page; `doc_type` is None while nobody knows it, or when the page failed.

    `looks` has the probabilities of all likely types; without, they are made from `confidence`. `begins` is a
    person's word on whether a document begins here; it is not doubted.
    """

    doc_type: str | None
    confidence: float = 1.0  # of the type
    marks: Mapping[str, Any] = field(default_factory=dict)
    file_index: int = 0
    begins: bool | None = None
    looks: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_blank(self) -> bool:
        return bool(self.marks.get("blank"))


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive pages of one document in one file. `is_final`: no page to come can change it.

    `places` count in the sequence that was given; `begins` has, for each of them, the probability that a
    document begins there: from one half up for the first, below for the others. A page's type is its group's;
    `sure` says for each page how likely that type is right.
    """

    doc_type: str
    places: tuple[int, ...]
    is_final: bool = True
    begins: tuple[float, ...] = ()
    sure: tuple[float, ...] = ()

    @property
    def confidence(self) -> float:
        """That it begins at its first page and goes on to its last."""
        first, *others = self.begins or (1.0,)
        return min([first, *(1 - other for other in others)])


def group(pages: Sequence[PageKind], *, by_file: bool = False) -> list[Group]:
    """The documents that pages in a row make up; pages of unknown type belong to none and end one.

    `by_file` takes each file as one document.
    """
    groups: list[Group] = []
    for stretch in _stretches(pages, by_file):
        groups += _grouped(pages, stretch, by_file)
    return groups


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Known pages of a file without a sure cut between them.

    `is_open`: a page that is not known yet stands before or behind it, and may belong to it. `begins` is the
    probability that a document begins at its first page.
    """

    places: tuple[int, ...]
    is_open: bool
    begins: float


def _stretches(pages: Sequence[PageKind], by_file: bool) -> list[_Stretch]:
    """Files, parted at unknown pages and where a document surely begins."""
    found: list[_Stretch] = []
    run: list[int] = []
    begins, is_open = 1.0, False  # of the stretch that `run` is
    for place, page in enumerate(pages):
        is_first = place == 0 or pages[place - 1].file_index != page.file_index
        after_unknown = not is_first and pages[place - 1].doc_type is None
        cut = 1.0 if is_first or after_unknown else 0.0 if by_file else _cut(pages, run, page)
        # After blank pages alone: what is not known before them may turn out to be of this document.
        still_open = is_open and not is_first and all(pages[at].is_blank for at in run)
        if run and (page.doc_type is None or cut >= SURELY_BEGINS):
            unknown_behind = page.doc_type is None and not is_first
            found.append(_Stretch(tuple(run), is_open or unknown_behind, begins))
            run = []
        if page.doc_type is not None:
            if not run:
                begins, is_open = cut, after_unknown or still_open
            run.append(place)
    return [*found, _Stretch(tuple(run), is_open, begins)] if run else found


def _cut(pages: Sequence[PageKind], run: Sequence[int], page: PageKind) -> float:
    """The probability that a document begins at `page`, by it and the page with words before it alone."""
    if page.begins is not None:
        return float(page.begins)
    if page.is_blank or not run:
        return 0.0
    spoken = [pages[place] for place in run if not pages[place].is_blank]
    if not spoken:  # only blank pages so far
        return 1 - _BLANK
    return page_sequence.surely_begins(_first_of(spoken[-1]), _beside(spoken[-1], page))


def _grouped(pages: Sequence[PageKind], stretch: _Stretch, by_file: bool) -> list[Group]:
    decided = _decided(pages, stretch, by_file)
    groups: list[Group] = []
    run: list[int] = []
    for number in range(len(stretch.places)):
        run.append(number)
        if number + 1 == len(decided) or decided[number + 1].begins >= 0.5:
            own = [decided[at] for at in run]
            places = tuple(stretch.places[at] for at in run)
            chances, sure = tuple(one.begins for one in own), tuple(one.sure for one in own)
            groups.append(Group(own[0].doc_type, places, not stretch.is_open, chances, sure))
            run = []
    return groups


def _decided(pages: Sequence[PageKind], stretch: _Stretch, by_file: bool) -> list[Decided]:
    """Every page of a stretch; a blank one follows the page before it."""
    kinds = [pages[place] for place in stretch.places]
    if by_file:
        return [
            Decided(kind.doc_type or "", kind.confidence, float(number == 0))
            for number, kind in enumerate(kinds)
        ]
    spoken = [kind for kind in kinds if not kind.is_blank]
    if not spoken:
        answers = [Decided(kinds[0].doc_type or "", kinds[0].confidence, 1.0)]
    else:
        row = [_first_of(spoken[0]), *(_beside(*pair) for pair in pairwise(spoken))]
        answers = page_sequence.decide(row)
    decided: list[Decided] = []
    for kind in kinds:
        own = (
            answers.pop(0)
            if not kind.is_blank
            else replace(decided[-1] if decided else answers[0], begins=_BLANK)
        )
        decided.append(own if kind.begins is None else replace(own, begins=float(kind.begins)))
    return [replace(decided[0], begins=stretch.begins), *decided[1:]]


def _first_of(kind: PageKind) -> SequencePage:
    return SequencePage(_looks(kind), {})


def _beside(before: PageKind, kind: PageKind) -> SequencePage:
    """A page as it stands after another one with words."""
    looks = _looks(kind)
    if kind.begins is not None:
        return SequencePage(looks, {}, float(kind.begins))
    known = ("", *{*_looks(before), *looks})
    if not before.marks or not kind.marks:  # only the types are known: another type is another document
        begins = {name: _NOTHING_SAID if name == kind.doc_type else _ANOTHER_TYPE for name in known}
        return SequencePage(looks, begins, _ANOTHER_TYPE)
    begins = dict(zip(known, probabilities(before.marks, kind.marks, known), strict=True))
    return SequencePage(looks, begins, begins[""])


def _looks(kind: PageKind) -> Mapping[str, float]:
    return kind.looks or {kind.doc_type or "": kind.confidence}


def probabilities(
    before: Mapping[str, Any], page: Mapping[str, Any], doc_types: Sequence[str]
) -> list[float]:
    """That `page` begins a document, by what it and the page before say of themselves, for each type that the
    document before may be of; not by what type the page looks like."""
    if (plainly := page_pairs.said(before, page)) is not None:
        return [plainly] * len(doc_types)
    weights = arrays(MODEL)["weights"]
    if len(weights) != page_pairs.WIDTH:  # trained by a version with other features
        weights = arrays(MODEL, PACKAGED)["weights"]
    scores = page_pairs.vectors(before, page, doc_types) @ weights.astype(numpy.float32)
    return [min(max(1 / (1 + math.exp(-score)), _LEAST), 1 - _LEAST) for score in scores.tolist()]
