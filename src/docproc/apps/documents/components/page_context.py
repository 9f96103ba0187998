"""How sure a page's type is beside the pages around it, as far as those are known already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docproc.apps.documents.components.page_groups import StoredPage, group_pages
from docproc.apps.documents.components.page_jobs import Found
from docproc.apps.documents.tables import PageStatus
from docproc.apps.documents.understanding.classify import OTHER


@dataclass(frozen=True, slots=True)
class _Told:
    """A stored page with what has just been found of it, which is not stored yet."""

    page_index: int
    file_index: int
    status: str
    doc_type: str | None
    classification_confidence: float | None
    origin: str | None
    marks: Mapping[str, Any] | None


def in_context(
    rows: Sequence[StoredPage], found: Mapping[int, Found], weights: Path | None
) -> dict[int, float]:
    """By page index, how likely the type of the document is right that the page seems to belong to.

    A page without vocabulary of its own may be sure beside its neighbours: nobody need be asked about it.
    `found` has what is new, by page index; pages that are not known yet say nothing. Pages of no known type
    settle nothing for each other: that several are unlike everything makes none of them surer.
    """
    told = [_told(row, found[row.page_index]) if row.page_index in found else row for row in rows]
    return {
        index: sure
        for made in group_pages(told, weights=weights)
        if made.doc_type != OTHER
        for index, sure in zip(made.page_indices, made.sure, strict=True)
    }


def _told(row: StoredPage, found: Found) -> StoredPage:
    kind, said = found
    confidence = round(kind.confidence, 4)
    return _Told(row.page_index, row.file_index, PageStatus.CLASSIFIED, kind.doc_type, confidence, None, said)
