"""The documents' kinds of tasks: types of pages, places where documents begin, and fields."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.review import changes, checking, reasons, retyping, tables, viewing
from docproc.apps.documents.review import classification as types
from docproc.apps.documents.review import extraction as fields
from docproc.apps.documents.review.classification import SplitAnswer, TypeAnswer, is_split
from docproc.apps.documents.review.extraction import FieldsAnswer, schema_of
from docproc.apps.documents.review.pace import USUAL_SECONDS
from docproc.apps.documents.review.retyping import RetypeAnswer
from docproc.apps.documents.schemas import schemas_of, types_of
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
from docproc.people.kinds import (
    EARLIER,
    Again,
    Answer,
    Listed,
    Shown,
    Sitting,
    TaskKind,
    Words,
    asked,
    message_of,
)

TYPE = "doc_type"
# What may be said of a page beside its fields: the key of its name.
_OF_PAGES = {
    TYPE: "sup_of_doc_type",
    "type": "sup_of_type",
    "split": "sup_of_split",
    "begins": "sup_of_begins",
}
# Words that the pages' scripts fill in: their `{values}` stay.
_SCRIPT_TEXTS = (
    "undone", "nothing_to_undo", "filled", "reads_as", "rows_number", "one_row", "cell_name",
)  # fmt: skip

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

    async def keep(self, session: AsyncSession, task: BackofficeTask, prepared: Sequence[Review]) -> None:
        for review in prepared:
            await corrections.record(session, review)

    async def take_back(self, session: AsyncSession, task: BackofficeTask) -> None:
        """Labels that were wrong must not be learnt from."""
        since = task.accepted_at or task.assigned_at or task.created_at
        who = (task.output_data or {}).get("operator")
        document_id = task.reference_id if task.task_type == viewing.FIELDS else None
        await corrections.forget(
            session, task.request_id, document_id, viewing.pages_asked(task), operator=str(who), since=since
        )

    def is_same(self, task: BackofficeTask, name: str, one: Any, other: Any) -> bool:
        if isinstance(one, str) and isinstance(other, str):
            field = schema_of(task).get(name)
            return same(one, other, field.type if field else "")
        if isinstance(one, list) or isinstance(other, list):
            return tables.is_same(one, other)
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
        together = "" if task.second_of else f"/packets/{task.request_id}"
        if is_split(task):
            about = text(language, "places_to_check", number=len(seen.get("splits") or ()))
            return Listed(text(language, "kind_split"), about, place=place, together=together)
        percent, name = (
            int((seen.get("confidence") or 0) * 100),
            type_name(language, seen.get("suggested_type")),
        )
        about = text(language, "maybe", type=name, percent=percent)
        return Listed(text(language, "kind_type"), about, place=place, together=together)

    async def shown(self, session: AsyncSession, sitting: Sitting) -> Shown:
        context = await self._beside_pages(session, sitting)
        if is_split(sitting.task):
            return Shown("documents/split.html", {**context, "kind": "split"})
        choices = viewing.type_choices(sitting.task, sitting.flow)
        return Shown("documents/classification.html", {**context, "kind": "type", "choices": choices})

    def takes(self) -> Mapping[str, str]:
        return {TYPE: "string", "splits": "object", "besides": "object"}

    def read(self, said: Mapping[str, Any], sitting: Sitting) -> TypeAnswer | SplitAnswer:
        if is_split(sitting.task):
            known = types.choices(sitting.flow)
            return types.read_split(_opened(said, "splits", "besides"), sitting.task, known)
        return types.read_type(_opened(said, "besides"), sitting.flow)

    async def prepare(self, sitting: Sitting, answer: TypeAnswer | SplitAnswer) -> list[Review]:
        who = sitting.operator.username
        async with sitting.application.store.reading() as session:
            review = await types.review(session, sitting.task, answer, who)
            besides = await types.reviews_besides(session, sitting.task, answer.besides, who)
        return [*([review] if review else []), *besides]

    async def apply(
        self, session: AsyncSession, task: BackofficeTask, answer: TypeAnswer | SplitAnswer
    ) -> PipelineMessage | None:
        if isinstance(answer, TypeAnswer):
            await types.apply_type(session, task, answer)
        await types.apply_besides(session, task, answer.besides)
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


class ExtractionKind(DocumentsKind[FieldsAnswer | RetypeAnswer]):
    """Fields of a document; or that it is another kind of document."""

    title: ClassVar[Words] = {"en": "extraction", "es": "extracción"}
    usual_seconds = USUAL_SECONDS["extraction"]

    def listed(self, task: BackofficeTask, language: str) -> Listed:
        seen = asked(task)
        detail = text(language, "fields_to_check", number=len(seen.get("review") or ()))
        about = type_name(language, seen.get("doc_type"))
        return Listed(text(language, "kind_fields"), about, detail, viewing.place(task, language))

    async def shown(self, session: AsyncSession, sitting: Sitting) -> Shown:
        language = sitting.language
        schema = schemas_of(sitting.flow).get(str(asked(sitting.task).get("doc_type")))
        views = viewing.fields_of(sitting.task, schema.rules if schema else ())
        context = {
            **await self._beside_pages(session, sitting),
            "kind": "fields",
            "of_document": await viewing.doubts_of(session, sitting.task),
            "doubtful": [one for one in views if one.is_doubtful],
            "accepted": [one for one in views if not one.is_doubtful],
            "shown": partial(checking.shown, language=language),
            "told": partial(reasons.told, language=language),
            "types": types.choices(sitting.flow),
            "said_before": _said_before(sitting.task),
        }
        words = {key: raw(language, key) for key in _SCRIPT_TEXTS}
        return Shown("documents/extraction.html", context, words)

    def takes(self) -> Mapping[str, str]:
        return {"extracted_data": "object", "where": "object", TYPE: "string"}

    def read(self, said: Mapping[str, Any], sitting: Sitting) -> FieldsAnswer | RetypeAnswer:
        if said.get(TYPE) is not None:
            return retyping.read(said, sitting.task, sitting.flow)
        opened = _opened(said, "extracted_data", "where")
        return fields.read_fields(opened, sitting.task, decimal_comma=sitting.language == "es")

    async def prepare(self, sitting: Sitting, answer: FieldsAnswer | RetypeAnswer) -> list[Review]:
        store, who = sitting.application.store, sitting.operator.username
        if isinstance(answer, RetypeAnswer):
            async with store.reading() as session:
                return [await retyping.review(session, sitting.task, answer, who)]
        review = await fields.review(store, sitting.task, answer, who)
        return [review] if review else []

    async def apply(
        self, session: AsyncSession, task: BackofficeTask, answer: FieldsAnswer | RetypeAnswer
    ) -> PipelineMessage | Again | None:
        if isinstance(answer, RetypeAnswer):
            return Again(await retyping.apply(session, task, answer))
        return fields.onward(message_of(task), await fields.apply_fields(session, task, answer))

    async def may_take_back(self, session: AsyncSession, task: BackofficeTask) -> bool:
        """A document that became another one, by its type or its pages, is asked about anew or not at all."""
        return await documents.is_there(session, task.reference_id)

    def asked_again(self, task: BackofficeTask) -> dict[str, Any]:
        """Also fields that the person changed unasked: their answer to these is on trial as well."""
        seen, output = asked(task), task.output_data or {}
        spoken = [*(seen.get("review") or ()), *(output.get("extracted_data") or ())]
        return {**seen, "review": list(dict.fromkeys(spoken))}

    async def give_up(self, session: AsyncSession, task: BackofficeTask) -> PipelineMessage | None:
        done = {"id": task.reference_id, "status": DocumentStatus.COMPLETED}
        await documents.change_many(session, [done])
        return message_of(task)

    def changes(self, task: BackofficeTask, answer: FieldsAnswer | RetypeAnswer) -> list[Change]:
        return changes.of(task, answer)

    async def overrides(self, session: AsyncSession, tenant_id: str, since: datetime) -> list[Rate]:
        return await supervised.overrides(session, tenant_id, since, (CorrectionSubject.FIELD,))

    def meant(self, task: BackofficeTask, output: Mapping[str, Any]) -> dict[str, Any]:
        """Fields that were not spoken of stay as the machine found them; of another type there are none."""
        if TYPE in output:
            return {TYPE: output[TYPE]}
        return {**fields.found(task), **(output.get("extracted_data") or {})}

    def spoken_of(self, task: BackofficeTask, answer: FieldsAnswer | RetypeAnswer) -> list[str]:
        return [TYPE] if isinstance(answer, RetypeAnswer) else list(answer.values)

    def read_again(
        self,
        task: BackofficeTask,
        answer: FieldsAnswer | RetypeAnswer,
        fields: Collection[str],
        *,
        is_sampled: bool,
    ) -> list[str] | None:
        """All doubtful fields of a sampled answer; of others those named that somebody decided.

        Of a document of another type there is nothing to read again yet: its fields are asked for anew.
        """
        if isinstance(answer, RetypeAnswer):
            return None
        doubtful = [str(name) for name in asked(task).get("review") or ()]
        decided = {*doubtful, *_changed(task, answer)}
        named = [name for name in fields if name in decided]
        if not is_sampled:
            return named or None
        return list(dict.fromkeys([*(doubtful or answer.values), *named]))


def _said_before(task: BackofficeTask) -> dict[str, str]:
    """The plain fields of an answer that was taken back."""
    said = (asked(task).get(EARLIER) or {}).get("extracted_data") or {}
    return {name: str(value or "") for name, value in said.items() if not isinstance(value, list)}


def _changed(task: BackofficeTask, answer: FieldsAnswer) -> list[str]:
    seen = fields.found(task)
    return [name for name, value in answer.values.items() if not _is_same(value, seen.get(name))]


def _is_same(one: Any, other: Any) -> bool:
    return tables.is_same(one, other) if isinstance(one, list) else one == other


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
