"""The documents' kinds of tasks: types of pages, places where documents begin, and fields."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.review import changes, checking, reasons, viewing
from docproc.apps.documents.review import classification as types
from docproc.apps.documents.review import extraction as fields
from docproc.apps.documents.review.classification import SplitAnswer, TypeAnswer, is_split
from docproc.apps.documents.review.extraction import FieldsAnswer, schema_of
from docproc.apps.documents.review.pace import USUAL_SECONDS
from docproc.apps.documents.schemas import types_of
from docproc.apps.documents.store import corrections, documents, pages, supervised
from docproc.apps.documents.store.corrections import Review
from docproc.apps.documents.tables import CorrectionSubject, DocumentStatus, PageStatus
from docproc.apps.documents.texts import names, raw, text
from docproc.apps.documents.texts.names import field_name, type_name
from docproc.apps.documents.understanding.memory.examples import same
from docproc.engine.message import PipelineMessage
from docproc.engine.store.task_tables import BackofficeTask
from docproc.errors import InvalidAnswerError
from docproc.http import depth
from docproc.people.audit import Change, Rate
from docproc.people.kinds import Answer, Listed, Shown, Sitting, TaskKind, Words, asked, message_of

TYPE = "doc_type"
# What may be said of a page beside its fields: the key of its name.
_OF_PAGES = {
    TYPE: "sup_of_doc_type",
    "type": "sup_of_type",
    "split": "sup_of_split",
    "begins": "sup_of_begins",
}
# Words that the pages' scripts fill in: their `{values}` stay.
_SCRIPT_TEXTS = ("undone", "nothing_to_undo", "filled", "reads_as")

Said = TypeVar("Said", bound=Answer)


class DocumentsKind(TaskKind[Said]):
    """What both have in common: pages beside the question, names, and labels to learn from."""

    def name_of(self, what: str, language: str) -> str | None:
        """`total_amount`, `doc_type`, `begins:3`, `page.3`."""
        name, _, page = what.replace(".", ":").partition(":")
        number = text(language, "page_number", number=int(page) + 1) if page.isdecimal() else ""
        if name == "page" and number:
            return number
        if name not in _OF_PAGES:
            return names.known(language, what)
        told = text(language, _OF_PAGES[name])
        return f"{told} ({number})" if number else told

    def say(self, what: str, value: Any, language: str) -> str | None:
        is_type = isinstance(value, str) and (what == TYPE or names.is_type(value))
        return type_name(language, value) if is_type else None

    async def keep(self, session: AsyncSession, task: BackofficeTask, prepared: Review | None) -> None:
        if prepared is not None:
            await corrections.record(session, prepared)

    def is_same(self, task: BackofficeTask, name: str, one: Any, other: Any) -> bool:
        if isinstance(one, str) and isinstance(other, str):
            field = schema_of(task).get(name)
            return same(one, other, field.type if field else "")
        return bool((one or None) == (other or None)) if not isinstance(one, bool) else one == other

    async def _beside_pages(self, session: AsyncSession, sitting: Sitting) -> dict[str, Any]:
        """What every page of these tasks needs."""
        task, language = sitting.task, sitting.language
        seen, about = await viewing.pages_shown(session, task), viewing.pages_asked(task)
        return {
            "shown_pages": seen,
            "asked_pages": [page for page in seen if page.index in about],
            "type_name": partial(type_name, language, added=types_of(sitting.flow)),
            "field_name": partial(field_name, language),
        }


class ClassificationKind(DocumentsKind[TypeAnswer | SplitAnswer]):
    """Of what type a page is, or where documents begin."""

    title: ClassVar[Words] = {"en": "classification", "es": "clasificación"}
    usual_seconds = USUAL_SECONDS["classification"]

    def listed(self, task: BackofficeTask, language: str) -> Listed:
        seen, place = asked(task), viewing.place(task, language)
        if is_split(task):
            about = text(language, "places_to_check", number=len(seen.get("splits") or ()))
            return Listed(text(language, "kind_split"), about, place=place)
        percent, name = (
            int((seen.get("confidence") or 0) * 100),
            type_name(language, seen.get("suggested_type")),
        )
        about = text(language, "maybe", type=name, percent=percent)
        return Listed(text(language, "kind_type"), about, place=place)

    async def shown(self, session: AsyncSession, sitting: Sitting) -> Shown:
        context = await self._beside_pages(session, sitting)
        if is_split(sitting.task):
            return Shown("documents/split.html", {**context, "kind": "split"})
        choices = viewing.type_choices(sitting.task, sitting.flow)
        return Shown("documents/classification.html", {**context, "kind": "type", "choices": choices})

    def takes(self) -> Mapping[str, str]:
        return {TYPE: "string", "splits": "object"}

    def read(self, said: Mapping[str, Any], sitting: Sitting) -> TypeAnswer | SplitAnswer:
        if is_split(sitting.task):
            return types.read_split(_opened(said, "splits"), sitting.task)
        return types.read_type(said, sitting.flow)

    async def prepare(self, sitting: Sitting, answer: TypeAnswer | SplitAnswer) -> Review | None:
        async with sitting.application.store.reading() as session:
            return await types.review(session, sitting.task, answer, sitting.operator.username)

    async def apply(
        self, session: AsyncSession, task: BackofficeTask, answer: TypeAnswer | SplitAnswer
    ) -> PipelineMessage | None:
        if isinstance(answer, TypeAnswer):
            await types.apply_type(session, task, answer)
        return types.onward(message_of(task), answer)

    async def give_up(self, session: AsyncSession, task: BackofficeTask) -> PipelineMessage | None:
        if is_split(task):
            return types.unsayable(message_of(task), task)
        page = {"id": task.reference_id, "doc_type": asked(task).get("suggested_type")}
        await pages.change_many(session, [{**page, "status": PageStatus.CLASSIFIED}])
        return message_of(task)

    def changes(self, task: BackofficeTask, answer: TypeAnswer | SplitAnswer) -> list[Change]:
        return changes.of(task, answer)

    async def overrides(self, session: AsyncSession, tenant_id: str, since: datetime) -> list[Rate]:
        subjects = (CorrectionSubject.TYPE, CorrectionSubject.SPLIT)
        return await supervised.overrides(session, tenant_id, since, subjects)

    def meant(self, task: BackofficeTask, output: Mapping[str, Any]) -> dict[str, Any]:
        """A boundary is the field `begins:` with its page."""
        if TYPE in output:
            return {TYPE: output[TYPE]}
        return {f"begins:{page}": begins for page, begins in (output.get("splits") or {}).items()}

    def read_again(
        self,
        task: BackofficeTask,
        answer: TypeAnswer | SplitAnswer,
        fields: Collection[str],
        *,
        is_sampled: bool,
    ) -> list[str] | None:
        """Types and boundaries are no fields that a workflow could name."""
        return [] if is_sampled else None


class ExtractionKind(DocumentsKind[FieldsAnswer]):
    """Fields of a document."""

    title: ClassVar[Words] = {"en": "extraction", "es": "extracción"}
    usual_seconds = USUAL_SECONDS["extraction"]

    def listed(self, task: BackofficeTask, language: str) -> Listed:
        seen = asked(task)
        detail = text(language, "fields_to_check", number=len(seen.get("review") or ()))
        about = type_name(language, seen.get("doc_type"))
        return Listed(text(language, "kind_fields"), about, detail, viewing.place(task, language))

    async def shown(self, session: AsyncSession, sitting: Sitting) -> Shown:
        views, language = viewing.fields_of(sitting.task), sitting.language
        context = {
            **await self._beside_pages(session, sitting),
            "kind": "fields",
            "of_document": await viewing.doubts_of(session, sitting.task),
            "doubtful": [one for one in views if one.is_doubtful],
            "accepted": [one for one in views if not one.is_doubtful],
            "shown": partial(checking.shown, language=language),
            "told": partial(reasons.told, language=language),
        }
        words = {key: raw(language, key) for key in _SCRIPT_TEXTS}
        return Shown("documents/extraction.html", context, words)

    def takes(self) -> Mapping[str, str]:
        return {"extracted_data": "object", "where": "object"}

    def read(self, said: Mapping[str, Any], sitting: Sitting) -> FieldsAnswer:
        opened = _opened(said, "extracted_data", "where")
        return fields.read_fields(opened, sitting.task, decimal_comma=sitting.language == "es")

    async def prepare(self, sitting: Sitting, answer: FieldsAnswer) -> Review | None:
        return await fields.review(sitting.application.store, sitting.task, answer, sitting.operator.username)

    async def apply(
        self, session: AsyncSession, task: BackofficeTask, answer: FieldsAnswer
    ) -> PipelineMessage | None:
        return fields.onward(message_of(task), await fields.apply_fields(session, task, answer))

    async def give_up(self, session: AsyncSession, task: BackofficeTask) -> PipelineMessage | None:
        done = {"id": task.reference_id, "status": DocumentStatus.COMPLETED}
        await documents.change_many(session, [done])
        return message_of(task)

    def changes(self, task: BackofficeTask, answer: FieldsAnswer) -> list[Change]:
        return changes.of(task, answer)

    async def overrides(self, session: AsyncSession, tenant_id: str, since: datetime) -> list[Rate]:
        return await supervised.overrides(session, tenant_id, since, (CorrectionSubject.FIELD,))

    def meant(self, task: BackofficeTask, output: Mapping[str, Any]) -> dict[str, Any]:
        """Fields that were not spoken of stay as the machine found them."""
        return {**fields.found(task), **(output.get("extracted_data") or {})}

    def spoken_of(self, task: BackofficeTask, answer: FieldsAnswer) -> list[str]:
        return list(answer.values)

    def read_again(
        self, task: BackofficeTask, answer: FieldsAnswer, fields: Collection[str], *, is_sampled: bool
    ) -> list[str] | None:
        """All doubtful fields of a sampled answer; of others those named that somebody decided."""
        doubtful = [str(name) for name in asked(task).get("review") or ()]
        decided = {*doubtful, *_changed(task, answer)}
        named = [name for name in fields if name in decided]
        if not is_sampled:
            return named or None
        return list(dict.fromkeys([*(doubtful or answer.values), *named]))


def _changed(task: BackofficeTask, answer: FieldsAnswer) -> list[str]:
    seen = fields.found(task)
    return [name for name, value in answer.values.items() if value != seen.get(name)]


def _opened(said: Mapping[str, Any], *objects: str) -> dict[str, Any]:
    """A form's JSON comes as text."""
    opened = dict(said)
    for name in objects:
        if isinstance(opened.get(name), str):
            try:
                opened[name] = _loaded(opened[name])
            except ValueError:
                raise InvalidAnswerError(
                    f"{name} is not JSON", problems={name: "it is not JSON"}, remedy="Send a JSON object"
                ) from None
    return opened


def _loaded(text: str) -> Any:
    if depth.is_too_deep(text):
        raise ValueError
    return json.loads(text)


# As the manifest names them.
classification = ClassificationKind()
extraction = ExtractionKind()
