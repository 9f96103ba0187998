"""A packet: all pages of a request on one strip, where somebody settles the types and cuts that are in doubt.

Every question about them that the person holds is answered at once. Whoever sees the whole file may also
correct what was not asked: that goes with the first answer (`Besides`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components.page_groups import group_pages
from docproc.apps.documents.review.classification import is_split
from docproc.apps.documents.review.grouping import first_of_files
from docproc.apps.documents.store import pages
from docproc.apps.documents.tables import PageStatus
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.engine.store.tasks import OPEN
from docproc.errors import InvalidAnswerError
from docproc.people.kinds import asked
from docproc.people.standing import Standing, standing

TASK_TYPE = "classification"


@dataclass(frozen=True, slots=True)
class _Known:
    """A page as grouping sees it; what is in doubt counts as it was suggested."""

    page_index: int
    file_index: int
    status: str
    doc_type: str | None
    classification_confidence: float | None
    origin: str | None
    marks: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page on the strip. `percent`: how sure the machine is of a type or a cut that is asked about."""

    index: int
    file: str
    doc_type: str | None
    begins: bool
    is_fixed: bool  # a file begins here, so a document does
    type_percent: int | None = None
    cut_percent: int | None = None
    is_other: bool = False  # somebody else is asked about it

    @property
    def is_doubtful(self) -> bool:
        return self.type_percent is not None or self.cut_percent is not None


async def questions(session: AsyncSession, request_id: UUID) -> list[BackofficeTask]:
    """All open ones about types and cuts of a request, but for those that somebody reads a second time."""
    one = BackofficeTask
    query = select(one).where(
        one.request_id == request_id,
        one.task_type == TASK_TYPE,
        one.status.in_(OPEN),
        one.second_of.is_(None),
    )
    return list(await session.scalars(query.execution_options(populate_existing=True)))


def held(tasks: Sequence[BackofficeTask], operator: Operator) -> list[BackofficeTask]:
    """Types first: where documents begin follows from them."""
    mine = [task for task in tasks if standing(task, operator) is Standing.HELD]
    return sorted(mine, key=lambda task: (is_split(task), asked(task).get("page_index") or 0))


async def strip(
    session: AsyncSession,
    request_id: UUID,
    tasks: Sequence[BackofficeTask],
    operator: Operator,
    weights: Path | None,
) -> list[Sheet]:
    """The pages in order, grouped as the machine would if all its suggestions were right."""
    rows = [row for row in await pages.of_request(session, request_id) if row.doc_type is not None]
    names = {file.file_index: file.name for file in await pages.files(session, request_id)}
    made = group_pages([_known(row) for row in rows], weights=weights)
    first = {one.page_indices[0] for one in made}
    type_of = {index: one.doc_type for one in made for index in one.page_indices}
    fixed = first_of_files(rows)
    sheets = {
        row.page_index: Sheet(
            row.page_index,
            names.get(row.file_index, ""),
            type_of.get(row.page_index, row.doc_type),
            row.page_index in first or row.page_index in fixed,
            row.page_index in fixed,
        )
        for row in rows
    }
    for task in tasks:
        _mark(sheets, task, is_mine=standing(task, operator) is Standing.HELD)
    return list(sheets.values())


def _known(row: Any) -> _Known:
    status = PageStatus.CLASSIFIED if row.status == PageStatus.IN_REVIEW else row.status
    return _Known(
        row.page_index,
        row.file_index,
        status,
        row.doc_type,
        row.classification_confidence,
        row.origin,
        row.marks,
    )


def _mark(sheets: dict[int, Sheet], task: BackofficeTask, *, is_mine: bool) -> None:
    seen = asked(task)
    if is_split(task):
        for doubt in seen["splits"]:
            index, percent = int(doubt["pages"][1]), int(doubt["confidence"] * 100)
            if index in sheets:
                begins = sheets[index].is_fixed or bool(doubt["suggested"])
                sheets[index] = replace(
                    sheets[index],
                    begins=begins,
                    cut_percent=percent,
                    is_other=sheets[index].is_other or not is_mine,
                )
        return
    index = int(seen.get("page_index") or 0)
    if index in sheets:
        percent = int((seen.get("confidence") or 0) * 100)
        sheets[index] = replace(sheets[index], type_percent=percent, is_other=not is_mine)


@dataclass(frozen=True, slots=True)
class Said:
    """The whole strip: of every page its type, and whether a document begins there."""

    types: Mapping[int, str]
    begins: Mapping[int, bool]


def read(said: Mapping[str, Any]) -> Said:
    try:
        types = {int(page): str(kind) for page, kind in (said.get("types") or {}).items()}
        begins = {int(page): value for page, value in (said.get("begins") or {}).items()}
        if not types or not all(isinstance(value, bool) for value in begins.values()):
            raise ValueError
    except (AttributeError, TypeError, ValueError):
        raise InvalidAnswerError(
            "types and begins are by page",
            problems={"types": "every page has a type"},
            remedy='Send {"types": {"0": "invoice", "1": "invoice"}, "begins": {"1": false}}',
        ) from None
    return Said(types, begins)


def answers(
    tasks: Sequence[BackofficeTask], sheets: Sequence[Sheet], said: Said
) -> list[tuple[UUID, dict[str, Any]]]:
    """What each task is answered with. What the strip says beyond them goes with the first: every cut, since
    somebody has looked at all of them, and types that differ from the machine's."""
    free = {sheet.index: sheet for sheet in sheets if not sheet.is_other}
    given: list[tuple[UUID, dict[str, Any]]] = []
    asked_types: set[int] = set()
    for task in tasks:
        if is_split(task):
            places = [int(doubt["pages"][1]) for doubt in asked(task)["splits"]]
            given.append((task.id, {"splits": {str(page): _cut(said, free, page) for page in places}}))
        else:
            page = int(asked(task).get("page_index") or 0)
            asked_types.add(page)
            given.append((task.id, {"doc_type": said.types.get(page)}))
    types = {
        str(page): kind
        for page, kind in said.types.items()
        if page in free and page not in asked_types and kind != free[page].doc_type
    }
    begins = {
        str(page): begins for page, begins in said.begins.items() if page in free and not free[page].is_fixed
    }
    if given:
        given[0][1]["besides"] = {"types": types, "begins": begins}
    return given


def _cut(said: Said, sheets: Mapping[int, Sheet], page: int) -> bool:
    if page in sheets and sheets[page].is_fixed:
        return True
    return bool(said.begins.get(page, sheets[page].begins if page in sheets else True))
