"""Stored pages become documents: for the aggregator those of a request, for `docproc eval` of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

from docproc.apps.documents.components import doubts
from docproc.apps.documents.components.doubts import Standing
from docproc.apps.documents.components.page_jobs import LOOKS
from docproc.apps.documents.store import documents
from docproc.apps.documents.tables import PageStatus
from docproc.apps.documents.understanding import boundaries, models
from docproc.apps.documents.understanding.boundaries import Group, PageKind

# In a page's marks: whether a person said that a document begins there; null where nobody could say.
BEGINS = "begins"
# Who decided a page's type when a person did.
BY_A_PERSON = "BACKOFFICE"


class StoredPage(Protocol):
    """The columns of a page that grouping looks at."""

    @property
    def page_index(self) -> int: ...
    @property
    def file_index(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def doc_type(self) -> str | None: ...
    @property
    def classification_confidence(self) -> float | None: ...
    @property
    def origin(self) -> str | None: ...
    @property
    def marks(self) -> Mapping[str, Any] | None: ...


@dataclass(frozen=True, slots=True)
class Made:
    """A document that pages make up. `is_final`: no page to come can change it.

    `begins` has, for each page, the probability that a document begins there. Whoever was asked about
    `unsayable` pages could not say.
    """

    doc_type: str
    page_indices: tuple[int, ...]
    is_final: bool
    begins: tuple[float, ...]
    standing: Standing
    unsayable: tuple[int, ...] = ()
    sure: tuple[float, ...] = ()  # for each page, how likely the document's type is right of it

    def document_id(self, request_id: UUID) -> UUID:
        return documents.document_id(request_id, self.doc_type, self.page_indices)


def group_pages(
    rows: Sequence[StoredPage], given_type: str | None = None, weights: Path | None = None
) -> list[Made]:
    """The documents that the pages of a request make up as far as they are known."""
    kinds = [_kind(row, given_type) for row in rows]
    with models.using(weights):
        groups = boundaries.group(kinds, by_file=given_type is not None)
    return [_made(rows, kinds, *beside) for beside in zip_longest(groups, groups[1:])]


def _made(rows: Sequence[StoredPage], kinds: Sequence[PageKind], group: Group, after: Group | None) -> Made:
    own = [kinds[place] for place in group.places]
    sure = doubts.type_confidence([(s, k.marks) for s, k in zip(group.sure, own, strict=True)])
    standing = Standing(sure, doubts.boundary_confidence(group.begins, after.begins[0] if after else 1.0))
    indices = tuple(rows[place].page_index for place in group.places)
    unsayable = tuple(
        index for index, kind in zip(indices, own, strict=True) if kind.marks.get(BEGINS, True) is None
    )
    return Made(group.doc_type, indices, group.is_final, group.begins, standing, unsayable, group.sure)


def _kind(row: StoredPage, given_type: str | None) -> PageKind:
    marks = row.marks or {}
    said = row.origin == BY_A_PERSON or given_type is not None
    sure = None if said else row.classification_confidence
    looks = {} if said else _looks(row, marks)
    return PageKind(
        _type(row, given_type), 1.0 if sure is None else sure, marks, row.file_index, marks.get(BEGINS), looks
    )


def _looks(row: StoredPage, marks: Mapping[str, Any]) -> Mapping[str, float]:
    """The probabilities of types that the classifier left, unless somebody else has said the type since."""
    looks: Mapping[str, float] = marks.get(LOOKS) or {}
    return looks if looks and max(looks, key=lambda name: looks[name]) == row.doc_type else {}


def _type(row: StoredPage, given_type: str | None) -> str | None:
    if given_type is not None and row.status in (PageStatus.READ, PageStatus.CLASSIFIED):
        return given_type
    return row.doc_type if row.status == PageStatus.CLASSIFIED else None
