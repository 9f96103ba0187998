"""Where documents begin and of what type they are, as a supervisor says: what that changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.review.classification import BACKOFFICE, choices
from docproc.apps.documents.store import corrections, pages
from docproc.apps.documents.store.corrections import Review
from docproc.apps.documents.store.corrections import Said as SaidOne
from docproc.apps.documents.tables import CorrectionSubject, Document, PageStatus
from docproc.engine.store.tables import Request
from docproc.engine.workflow.definition import Workflow
from docproc.errors import InvalidAnswerError
from docproc.people.audit import Change, change


@dataclass(frozen=True, slots=True)
class Said:
    """By page index: whether a document begins there, and the type of the document that does.

    What is left out stays as it is.
    """

    begins: Mapping[int, bool] = field(default_factory=dict)
    types: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Group:
    """Pages that are one document from now on."""

    indices: tuple[int, ...]
    doc_type: str | None
    type_before: str | None
    retyped: bool
    is_new: bool  # these pages were not one document of this type before


@dataclass(frozen=True, slots=True)
class Grouping:
    """What is asked for: every boundary, the groups, and what of it is new."""

    request_id: UUID
    begins: Mapping[int, bool]
    moved: tuple[int, ...]  # boundaries that were not so before
    groups: Sequence[Group]

    @property
    def changes(self) -> list[Change]:
        return list(self._changes())

    def _changes(self) -> Iterator[Change]:
        for page in self.moved:
            yield change(f"begins:{page}", not self.begins[page], self.begins[page])
        for group in self.retyped:
            yield change(f"doc_type:{group.indices[0]}", group.type_before, group.doc_type)

    @property
    def retyped(self) -> list[Group]:
        return [group for group in self.groups if group.retyped]

    @property
    def new(self) -> list[Group]:
        return [group for group in self.groups if group.is_new]

    @property
    def first_changed(self) -> int:
        return min([*self.moved, *(group.indices[0] for group in self.retyped)])

    def page_rows(self) -> list[dict[str, Any]]:
        """All pages of a retyped document get its type, or they would be grouped by their own."""
        return [
            {
                "id": pages.page_id(self.request_id, index),
                "doc_type": group.doc_type,
                "classification_confidence": 1.0,
                "origin": BACKOFFICE,
                "status": PageStatus.CLASSIFIED,
            }
            for group in self.retyped
            for index in group.indices
        ]


def plan(
    request_id: UUID, rows: Sequence[Row[Any]], known: Sequence[Document], said: Said, flow: Workflow
) -> Grouping:
    """Raises InvalidAnswerError for pages and types that cannot be."""
    fixed = first_of_files(rows)
    now = {**_begins_now(rows, known), **dict.fromkeys(fixed, True)}
    _refuse_impossible(rows, fixed, said, choices(flow))
    begins = {**now, **{page: value for page, value in said.begins.items() if page not in fixed}}
    own = {row.page_index: row.doc_type for row in rows}
    groups = [_group(run, said, known, own) for run in _runs(begins)]
    moved = tuple(page for page in begins if begins[page] != now[page])
    stated = {page: value for page, value in begins.items() if page not in fixed}
    return Grouping(request_id, stated, moved, groups)


def _begins_now(rows: Sequence[Row[Any]], known: Sequence[Document]) -> dict[int, bool]:
    first = {one.page_indices[0] for one in known if one.page_indices}
    return {row.page_index: row.page_index in first for row in rows}


def first_of_files(rows: Sequence[Row[Any]]) -> set[int]:
    """A document never crosses files."""
    first: dict[int, int] = {}
    for row in rows:
        first.setdefault(row.file_index, row.page_index)
    return set(first.values())


def _refuse_impossible(
    rows: Sequence[Row[Any]], fixed: set[int], said: Said, known_types: Sequence[str]
) -> None:
    there = {row.page_index for row in rows}
    problems = {f"page.{page}": "there is no such page" for page in {*said.begins, *said.types} - there}
    for page in fixed & {page for page, begins in said.begins.items() if not begins}:
        problems[f"page.{page}"] = "a file begins here, so a document does"
    for page, doc_type in said.types.items():
        if doc_type not in known_types:
            problems[f"page.{page}"] = "there is no such type"
    if problems:
        told = "; ".join(f"{where}: {what}" for where, what in problems.items())
        raise InvalidAnswerError(told, problems=problems, remedy="Correct these pages and send it again")


def _runs(begins: Mapping[int, bool]) -> list[list[int]]:
    runs: list[list[int]] = []
    for page in sorted(begins):
        if begins[page] or not runs:
            runs.append([])
        runs[-1].append(page)
    return runs


def _group(run: Sequence[int], said: Said, known: Sequence[Document], own: Mapping[int, str | None]) -> Group:
    first = run[0]
    of_first = next((one for one in known if first in one.page_indices), None)
    before = of_first.doc_type if of_first else None
    # A page that was inside a document and begins one now would be grouped by its own type.
    follows = before if of_first and of_first.page_indices[0] == first else own.get(first)
    wanted = said.types.get(first) or follows
    retyped = wanted != follows
    same_pages = of_first is not None and list(of_first.page_indices) == list(run)
    return Group(tuple(run), wanted, before, retyped, retyped or not same_pages)


async def reviews(session: AsyncSession, request: Request, wanted: Grouping, operator: str) -> list[Review]:
    """What was said, as labels; only of documents that are new, the rest may not have been looked at."""
    made = []
    for group in wanted.new:
        if group.doc_type is None:
            continue
        of = await corrections.subject_of(session, request.tenant_id, request.id, None, group.indices)
        splits = [_split(page, wanted.begins[page]) for page in wanted.moved if page in group.indices]
        made.append(Review(of, group.doc_type, [_type(group), *splits], operator))
    return made


def _split(page: int, begins: bool) -> SaidOne:
    return SaidOne(
        CorrectionSubject.SPLIT, str(begins).lower(), str(not begins).lower(), changed=True, page_index=page
    )


def _type(group: Group) -> SaidOne:
    is_other = group.doc_type != group.type_before
    return SaidOne(CorrectionSubject.TYPE, group.doc_type, group.type_before, changed=is_other)
