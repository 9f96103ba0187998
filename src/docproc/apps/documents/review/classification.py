"""Tasks about types and splits: what may be answered, and what an answer changes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components import type_memory
from docproc.apps.documents.components.page_groups import BEGINS
from docproc.apps.documents.schemas import schemas_of
from docproc.apps.documents.store import corrections, pages
from docproc.apps.documents.store.corrections import Memory, Review, Said
from docproc.apps.documents.tables import CorrectionSubject, Page, PageStatus
from docproc.apps.documents.understanding import classify
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store.task_tables import BackofficeTask
from docproc.engine.workflow.definition import Workflow
from docproc.errors import InvalidAnswerError
from docproc.people.kinds import asked

BACKOFFICE = "BACKOFFICE"
SPLIT = "split"


def is_split(task: BackofficeTask) -> bool:
    return asked(task).get("kind") == SPLIT


def choices(flow: Workflow) -> list[str]:
    """The types a person can choose: those of the workflow first, then all that are known."""
    return list(dict.fromkeys([*schemas_of(flow), *classify.TYPES]))


@dataclass(frozen=True, slots=True)
class Besides:
    """What somebody who saw the whole file said of other pages: their types, and where documents begin."""

    types: Mapping[int, str] = field(default_factory=dict)
    begins: Mapping[int, bool] = field(default_factory=dict)

    def output(self) -> dict[str, Any]:
        if not self.types and not self.begins:
            return {}
        return {"besides": {"types": _by_text(self.types), "begins": _by_text(self.begins)}}


def _by_text(values: Mapping[int, Any]) -> dict[str, Any]:
    return {str(page): value for page, value in values.items()}


@dataclass(frozen=True, slots=True)
class TypeAnswer:
    """The page is of this type."""

    doc_type: str
    besides: Besides = Besides()

    def output(self) -> dict[str, Any]:
        return {"doc_type": self.doc_type, **self.besides.output()}


@dataclass(frozen=True, slots=True)
class SplitAnswer:
    """Page index -> whether a document begins there."""

    begins: Mapping[int, bool]
    besides: Besides = Besides()

    def output(self) -> dict[str, Any]:
        return {"splits": _by_text(self.begins), **self.besides.output()}


def read_type(said: Mapping[str, Any], flow: Workflow) -> TypeAnswer:
    doc_type = said.get("doc_type")
    known = choices(flow)
    if not isinstance(doc_type, str) or doc_type not in known:
        problem = "it is missing" if not doc_type else f"there is no type {doc_type!r}"
        raise InvalidAnswerError(
            f"doc_type: {problem}", problems={"doc_type": problem}, remedy=f"Use one of: {', '.join(known)}"
        )
    return TypeAnswer(doc_type, read_besides(said, known))


def read_besides(said: Mapping[str, Any], known: Sequence[str]) -> Besides:
    """`{"types": {"3": "letter"}, "begins": {"3": true}}`, by page index; raises InvalidAnswerError."""
    given = said.get("besides") or {}
    try:
        types = {int(page): str(kind) for page, kind in (given.get("types") or {}).items()}
        begins = {int(page): value for page, value in (given.get("begins") or {}).items()}
        if not set(types.values()) <= set(known) or not all(isinstance(one, bool) for one in begins.values()):
            raise ValueError
    except (AttributeError, TypeError, ValueError):
        raise InvalidAnswerError(
            "besides: types and begins are by page",
            problems={"besides": "types and begins are by page"},
            remedy='Send besides={"types": {"3": "letter"}, "begins": {"3": true}}',
        ) from None
    return Besides(types, begins)


def read_split(said: Mapping[str, Any], task: BackofficeTask, known: Sequence[str] = ()) -> SplitAnswer:
    """Every place that was asked about must be answered, and no other."""
    places = {int(doubt["pages"][1]) for doubt in asked(task)["splits"]}
    given = said.get("splits")
    try:
        begins = {int(page): value for page, value in given.items()}  # type: ignore[union-attr] # as below
        if set(begins) != places or not all(isinstance(value, bool) for value in begins.values()):
            raise ValueError
    except (AttributeError, TypeError, ValueError):
        wanted = ", ".join(f'"{page}": true' for page in sorted(places))
        raise InvalidAnswerError(
            "splits: say of each page whether a document begins there",
            problems={"splits": "each page that was asked about must be answered"},
            remedy=f"Send splits={{{wanted}}} with true or false",
        ) from None
    return SplitAnswer(begins, read_besides(said, known))


async def apply_type(session: AsyncSession, task: BackofficeTask, answer: TypeAnswer) -> None:
    await pages.change_many(
        session,
        [
            {
                "id": task.reference_id,
                "doc_type": answer.doc_type,
                "classification_confidence": 1.0,
                "origin": BACKOFFICE,
                "status": PageStatus.CLASSIFIED,
            }
        ],
    )


async def apply_besides(session: AsyncSession, task: BackofficeTask, besides: Besides) -> None:
    """What was said of other pages stands with them, for this and every later grouping."""
    if not besides.types and not besides.begins:
        return
    rows = {row.page_index: row for row in await pages.of_request(session, task.request_id)}
    typed = {page: kind for page, kind in besides.types.items() if page in rows}
    await pages.change_many(
        session,
        [
            {"id": rows[page].id, "doc_type": kind, "classification_confidence": 1.0, "origin": BACKOFFICE}
            for page, kind in typed.items()
        ],
    )
    begun = {page: begins for page, begins in besides.begins.items() if page in rows}
    await pages.change_many(
        session,
        [
            {"id": rows[page].id, "marks": {**(rows[page].marks or {}), BEGINS: begins}}
            for page, begins in begun.items()
        ],
    )


def onward(message: PipelineMessage, answer: TypeAnswer | SplitAnswer) -> PipelineMessage:
    """The page goes on from its stage as the person left it."""
    if isinstance(answer, SplitAnswer):
        payload = {**message.payload, "splits": _by_text(answer.begins)}
    else:
        told = {"doc_type": answer.doc_type, "classification_confidence": 1.0, "origin": BACKOFFICE}
        payload = {**message.payload, **told}
    return message.model_copy(update={"payload": payload})


def unsayable(message: PipelineMessage, task: BackofficeTask) -> PipelineMessage:
    """Nobody can say where documents begin: grouping decides, marks it, and asks nobody a second time."""
    splits = {str(doubt["pages"][1]): None for doubt in asked(task)["splits"]}
    return message.model_copy(update={"payload": {**message.payload, "splits": splits}})


async def review(
    session: AsyncSession, task: BackofficeTask, answer: TypeAnswer | SplitAnswer, operator: str
) -> Review | None:
    """What the person said, as a label; read before the transaction."""
    if isinstance(answer, SplitAnswer):
        return await _split_review(session, task, answer, operator)
    index = await _page_index(session, task.reference_id)
    if index is None:
        return None
    of = await corrections.subject_of(session, task.tenant_id, task.request_id, None, [index])
    suggested = asked(task).get("suggested_type")
    said = Said(
        CorrectionSubject.TYPE,
        answer.doc_type,
        suggested,
        changed=answer.doc_type != suggested,
        confidence_before=asked(task).get("confidence"),
        page_index=index,
    )
    words = await pages.words(session, [task.reference_id]) if task.reference_id else {}
    return Review(of, answer.doc_type, [said], operator, await _lesson(next(iter(words.values()), None)))


async def _lesson(words: bytes | None) -> Memory | None:
    """Remembered by issuer, so that nobody is asked about its next page."""
    return await asyncio.to_thread(type_memory.lesson, words, utc_now()) if words else None


async def reviews_besides(
    session: AsyncSession, task: BackofficeTask, besides: Besides, operator: str
) -> list[Review]:
    """Types that were changed beside what was asked, as labels. Cuts that nobody asked about and nobody
    changed were perhaps not looked at."""
    if not besides.types:
        return []
    rows = {row.page_index: row for row in await pages.of_request(session, task.request_id)}
    made = []
    for page, kind in besides.types.items():
        if page in rows and rows[page].doc_type != kind:
            of = await corrections.subject_of(session, task.tenant_id, task.request_id, None, [page])
            said = Said(CorrectionSubject.TYPE, kind, rows[page].doc_type, page_index=page)
            made.append(Review(of, kind, [said], operator))
    return made


async def _split_review(
    session: AsyncSession, task: BackofficeTask, answer: SplitAnswer, operator: str
) -> Review:
    doubts: Sequence[Mapping[str, Any]] = asked(task)["splits"]
    indices = sorted({int(page) for doubt in doubts for page in doubt["pages"]})
    of = await corrections.subject_of(session, task.tenant_id, task.request_id, None, indices)
    said = [_split_said(doubt, answer) for doubt in doubts]
    return Review(of, "", said, operator)


def _split_said(doubt: Mapping[str, Any], answer: SplitAnswer) -> Said:
    page = int(doubt["pages"][1])
    begins, suggested = answer.begins[page], bool(doubt["suggested"])
    return Said(
        CorrectionSubject.SPLIT,
        str(begins).lower(),
        str(suggested).lower(),
        changed=begins != suggested,
        confidence_before=doubt.get("confidence"),
        page_index=page,
    )


async def _page_index(session: AsyncSession, page_id: UUID | None) -> int | None:
    return await session.scalar(select(Page.page_index).where(Page.id == page_id))
