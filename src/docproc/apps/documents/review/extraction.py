"""Tasks about fields: what may be answered, and what an answer changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components import extracted
from docproc.apps.documents.quality import reviews
from docproc.apps.documents.review import tables, typed
from docproc.apps.documents.review.classification import BACKOFFICE
from docproc.apps.documents.schemas import SchemaField
from docproc.apps.documents.store import documents
from docproc.apps.documents.store.corrections import Review
from docproc.apps.documents.tables import Document, DocumentStatus
from docproc.engine.message import PipelineMessage
from docproc.engine.store.session import Store
from docproc.engine.store.task_tables import BackofficeTask
from docproc.errors import InvalidAnswerError
from docproc.people.kinds import asked
from docproc.reading.page import Box

# The source of a value that a person gave.
PERSON = "operator"


@dataclass(frozen=True, slots=True)
class FieldsAnswer:
    """The fields a person settled, by name: a text, None where it is not there, or rows of a table.

    `where` has the places a person pointed at: page of the request, and box.
    """

    values: Mapping[str, Any]
    where: Mapping[str, tuple[int, Box]] = field(default_factory=dict)

    def output(self) -> dict[str, Any]:
        return {"extracted_data": dict(self.values)}


def schema_of(task: BackofficeTask) -> dict[str, SchemaField]:
    """The fields the task asks about, as they were when it was asked."""
    return {one["name"]: SchemaField.model_validate(one) for one in asked(task).get("schema", [])}


def read_fields(
    said: Mapping[str, Any], task: BackofficeTask, *, decimal_comma: bool = False
) -> FieldsAnswer:
    """What came as `extracted_data`; fields left out stay as they are. Raises InvalidAnswerError."""
    given = said.get("extracted_data")
    if not isinstance(given, Mapping):
        raise InvalidAnswerError(
            "extracted_data must be a JSON object",
            problems={"extracted_data": "it must be a JSON object"},
            remedy='Send extracted_data={"field": "value"}',
        )
    schema = schema_of(task)
    values = typed.values(schema, given, decimal_comma=decimal_comma)
    _refuse_missing(schema, {**found(task), **values})
    return FieldsAnswer(values, _places(said.get("where") or {}, values))


def found(task: BackofficeTask) -> dict[str, Any]:
    """What the machine had found, doubtful or not."""
    return {name: one.get("value") for name, one in (asked(task).get("fields") or {}).items()}


def _refuse_missing(schema: Mapping[str, SchemaField], values: Mapping[str, Any]) -> None:
    lacking = [name for name, one in schema.items() if one.required and values.get(name) in (None, "")]
    if lacking:
        raise InvalidAnswerError(
            f"required: {', '.join(lacking)}",
            problems=dict.fromkeys(lacking, "it is required"),
            remedy="Fill it in, or say that it cannot be read",
        )


def _places(where: Any, values: Mapping[str, Any]) -> dict[str, tuple[int, Box]]:
    """Places are a help for learning: one that makes no sense is left out."""
    places: dict[str, tuple[int, Box]] = {}
    for name, place in where.items() if isinstance(where, Mapping) else ():
        try:
            x0, y0, x1, y1 = (float(edge) for edge in place["box"])
            page = int(place["page"])
        except (KeyError, TypeError, ValueError):
            continue
        if name in values and 0 <= x0 <= x1 <= 1 and 0 <= y0 <= y1 <= 1:
            places[name] = (page, (x0, y0, x1, y1))
    return places


async def apply_fields(session: AsyncSession, task: BackofficeTask, answer: FieldsAnswer) -> dict[str, Any]:
    """Merge what the person settled into the document; returns its `extracted_data`."""
    schema = schema_of(task)
    evidence, data, doubtful = await _standing(session, task)
    for name, value in answer.values.items():
        data[name] = _plain(schema[name], value)
        evidence.pop(name, None) if value is None else evidence.update({name: _settled(task, answer, name)})
    row: dict[str, Any] = {
        "id": task.reference_id,
        "extracted_data": data,
        "fields": evidence,
        # What the person did not speak of is as doubtful as it was.
        "needs_review": [name for name in doubtful if name not in answer.values],
        "extraction_confidence": _least(schema, evidence),
        "status": DocumentStatus.COMPLETED,
    }
    await documents.change_many(session, [row])
    return data


async def _standing(
    session: AsyncSession, task: BackofficeTask
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """The document as it is now: somebody may have corrected it since the question was asked."""
    query = select(Document.fields, Document.extracted_data, Document.needs_review)
    row = (await session.execute(query.where(Document.id == task.reference_id).with_for_update())).first()
    if row is None or row.extracted_data is None:
        seen = asked(task)
        doubtful = list(seen.get("review") or ())
        return dict(seen.get("fields") or {}), dict(seen.get("extracted_data") or {}), doubtful
    return dict(row.fields or {}), dict(row.extracted_data), list(row.needs_review or ())


def _least(schema: Mapping[str, SchemaField], evidence: Mapping[str, Any]) -> float:
    """By the extractor's rule; a document of which a person says that it has no values is certain, too."""
    sure = extracted.least_of(schema.values(), {name: one["confidence"] for name, one in evidence.items()})
    return 1.0 if sure is None else sure


def _plain(spec: SchemaField, value: Any) -> Any:
    if spec.type == "table":
        return tables.plain(spec, value)
    return None if value is None else extracted.plain_value(spec, value)


def _settled(task: BackofficeTask, answer: FieldsAnswer, name: str) -> dict[str, Any]:
    """A person's word is certain; where it confirms what was read, that stays its source."""
    before = (asked(task).get("fields") or {}).get(name) or {}
    value = answer.values[name]
    is_table = isinstance(value, list)
    same = tables.is_same(before.get("value"), value) if is_table else before.get("value") == value
    stays = same or is_table  # a corrected table still stands where it stood
    page, box = answer.where.get(name, (before.get("page"), before.get("box")) if stays else (None, None))
    settled = {
        "value": value,
        "confidence": 1.0,
        "source": before.get("source", PERSON) if same else PERSON,
        "origin": BACKOFFICE,
        "page": page,
        "box": list(box) if box else None,
    }
    return {**settled, "rows": tables.evidence(before, value)} if is_table else settled


def onward(message: PipelineMessage, data: Mapping[str, Any]) -> PipelineMessage:
    told = {"extracted_data": dict(data), "extraction_confidence": 1.0, "origin": BACKOFFICE}
    return message.model_copy(update={"payload": {**message.payload, **told}})


async def review(store: Store, task: BackofficeTask, answer: FieldsAnswer, operator: str) -> Review | None:
    """What the person said, as labels and as a memory of the layout; computed before the transaction.

    Tables are neither: nothing learns from them yet.
    """
    tabular = {name for name, one in schema_of(task).items() if one.type == "table"}
    texts = {name: value for name, value in answer.values.items() if name not in tabular}
    if not texts or task.reference_id is None:
        return None
    verdict = reviews.Verdict(texts, where=answer.where, operator=operator)
    return await reviews.prepare(store, task.reference_id, verdict)
