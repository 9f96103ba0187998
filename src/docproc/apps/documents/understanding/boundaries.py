"""Where one document ends and the next begins: pages in a row become documents, with how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from docproc.apps.documents.understanding import page_pairs
from docproc.apps.documents.understanding.models import PACKAGED, arrays
from docproc.apps.documents.understanding.page_marks import marks

__all__ = ["MODEL", "Group", "PageKind", "group", "marks", "probability"]

MODEL = "boundaries"
# Probabilities are kept between this and 1 minus this: the model has not seen enough to be surer.
_LEAST = 0.005
# Probability that a blank page begins a document; most are the empty back of the sheet before.
_BLANK = 0.1
_NOTHING_SAID = 0.3
_DOUBTFUL_TYPE, _FOR_SURE_NOT = 0.8, 0.2


@dataclass(frozen=True, slots=True)
class PageKind:
    """What grouping knows of a page; `doc_type` is None while nobody knows it, or when the page failed.

    `begins` is a person's word on whether a document begins here; it is not doubted.
    """

    doc_type: str | None
    confidence: float = 1.0  # of the type
    marks: Mapping[str, Any] = field(default_factory=dict)
    file_index: int = 0
    begins: bool | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive pages of one document in one file. `is_final`: no page to come can change it.

    `places` count in the sequence that was given; `begins` has, for each of them, the probability that a
    document begins there: from one half up for the first, below for the others. A page's type is its group's.
    """

    doc_type: str
    places: tuple[int, ...]
    is_final: bool = True
    begins: tuple[float, ...] = ()

    @property
    def confidence(self) -> float:
        """That it begins at its first page and goes on to its last."""
        first, *others = self.begins or (1.0,)
        return min([first, *(1 - other for other in others)])


def group(pages: Sequence[PageKind], *, by_file: bool = False) -> list[Group]:
    """The documents that pages in a row make up; pages of unknown type belong to none and end one.

    `by_file` takes each file as one document.
    """
    seen = _settled(pages, by_file)
    groups: list[Group] = []
    run: list[int] = []
    for place, now in enumerate(seen):
        if now.kind is None:
            continue
        run.append(place)
        after = seen[place + 1] if place + 1 < len(seen) else None
        if after is None or after.kind is None or after.begins >= 0.5:
            chances = tuple(seen[at].begins for at in run)
            groups.append(Group(now.kind, tuple(run), _is_final(pages, seen, run), chances))
            run = []
    return groups


@dataclass(frozen=True, slots=True)
class _Seen:
    """A page once its neighbours count: its document's type, and what pages to come can still change."""

    kind: str | None
    begins: float = 1.0
    is_settled: bool = True  # where its document begins
    is_sure: bool = True  # of what type it is
    spoke: PageKind | None = None  # the last page of its file that has words: itself, unless it is blank


def _settled(pages: Sequence[PageKind], by_file: bool) -> list[_Seen]:
    seen: list[_Seen] = []
    for place, page in enumerate(pages):
        is_first = place == 0 or pages[place - 1].file_index != page.file_index
        own = None if page.marks.get("blank") else page
        if page.doc_type is None:
            seen.append(_Seen(None, is_settled=False, is_sure=False))
        elif is_first:
            seen.append(_Seen(page.doc_type, spoke=own))
        elif seen[-1].kind is None:  # the page before may turn out to be of its document
            seen.append(_Seen(page.doc_type, is_settled=False, is_sure=not _may_follow(page), spoke=own))
        else:
            seen.append(_beside(page, seen[-1], by_file))
    return seen


def _may_follow(page: PageKind) -> bool:
    """Whether the page before may give it another type than its own."""
    marks = page.marks
    little = marks.get("blank") or marks.get("short") or marks.get("page", 1) > 1
    return bool(little) or page.confidence < _DOUBTFUL_TYPE


def _beside(page: PageKind, left: _Seen, by_file: bool) -> _Seen:
    """A page whose left neighbour is known."""
    chance = 0.0 if by_file else _begins(left, page)
    spoke = left.spoke if page.marks.get("blank") else page
    if chance < 0.5:
        return _Seen(left.kind, chance, left.is_settled and left.is_sure, left.is_sure, spoke)
    return _Seen(page.doc_type, chance, left.is_sure, left.is_sure or not _may_follow(page), spoke)


def _begins(left: _Seen, page: PageKind) -> float:
    """The probability that a document begins here."""
    before, kind, own = left.spoke, left.kind or "", page.doc_type or ""
    if page.begins is not None:
        return float(page.begins)
    if page.marks.get("blank"):  # the back of the sheet before
        return _BLANK
    if before is None:  # only blank pages so far
        return 1 - _BLANK
    chance = probability(before.marks, page.marks, kind, own)
    if own == kind or page_pairs.continues_numbering(before.marks, page.marks):
        return chance
    says_little = page.marks.get("short") or page_pairs.is_next(before.marks, page.marks)
    if chance < _FOR_SURE_NOT and (says_little or page.confidence < _DOUBTFUL_TYPE):
        return chance
    return max(chance, 0.5 + 0.5 * page.confidence * before.confidence)  # another type is another document


def probability(
    before: Mapping[str, Any],
    page: Mapping[str, Any],
    kind_before: str,
    kind: str,
) -> float:
    """That `page` begins a document, by what both pages say of themselves."""
    if not before or not page:
        return _NOTHING_SAID if kind == kind_before else 1 - _NOTHING_SAID
    if (plainly := page_pairs.said(before, page)) is not None:
        return plainly
    weights = arrays(MODEL)["weights"]
    if len(weights) != page_pairs.WIDTH:  # trained by a version with other features
        weights = arrays(MODEL, PACKAGED)["weights"]
    score = float(weights.astype(numpy.float32) @ page_pairs.vector(before, page, kind_before, kind))
    return min(max(1 / (1 + math.exp(-score)), _LEAST), 1 - _LEAST)


def _is_final(pages: Sequence[PageKind], seen: Sequence[_Seen], run: Sequence[int]) -> bool:
    """Whether neither what comes before it nor what comes after can still change it."""
    after = run[-1] + 1
    ends = after == len(pages) or pages[after].file_index != pages[after - 1].file_index
    return seen[run[0]].is_settled and (ends or seen[after].kind is not None)
