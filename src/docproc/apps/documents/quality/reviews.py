"""What a person said of a document, made ready to be recorded: read and computed before any transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents import reasons
from docproc.apps.documents.schemas import parse_schemas
from docproc.apps.documents.store import corrections, pages
from docproc.apps.documents.store.corrections import Memory, Review, Said
from docproc.apps.documents.tables import CorrectionSubject, Document
from docproc.apps.documents.understanding import memory, validate
from docproc.apps.documents.understanding.extract.checks import problem
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.apps.documents.understanding.memory.examples import same
from docproc.engine.message import utc_now
from docproc.engine.store.session import Store
from docproc.engine.store.tables import Request, WorkflowVersion
from docproc.errors import UsageError
from docproc.reading import page as page_text
from docproc.reading.page import Box


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a person says of one document.

    `values` are right (None: it is not on the document), whether or not they differ from what was read;
    `confirmed` names fields that were read right, `rest` says so of all others that were found.
    `where` gives the page (of the request) and the box of values that a person pointed at.
    """

    values: Mapping[str, str | None]
    doc_type: str | None = None
    where: Mapping[str, tuple[int, Box]] = field(default_factory=dict)
    operator: str | None = None
    confirmed: Sequence[str] = ()
    rest: bool = False
    is_new_type: bool = False  # the type may be one that nobody knows yet


@dataclass(frozen=True, slots=True)
class _Seen:
    """The document as the machine had it, and what people said of it before."""

    document: Document
    of: corrections.Subject
    workflow: str
    schemas: Mapping[str, Sequence[FieldSpec]]  # by type, of the request's workflow
    words: Sequence[bytes | None]
    said_type: str | None
    earlier: bytes | None

    @property
    def fields(self) -> Mapping[str, Any]:
        return self.document.fields or {}

    @property
    def doc_type(self) -> str:
        return self.said_type or self.document.doc_type or "other"

    def read(self, name: str) -> Any:
        """The value that was read: a text, None, or the rows of a table."""
        return (self.fields.get(name) or {}).get("value")


async def prepare(
    store: Store, document_id: UUID, verdict: Verdict, known_types: Collection[str] = ()
) -> Review:
    """A review for `corrections.record`, which only inserts; raises UsageError for what cannot be.

    `known_types` are those that the weights in use tell apart, beside the workflow's.
    """
    async with store.reading() as session:
        seen = await _seen(session, document_id)
    doc_type = _type(seen, verdict, known_types)
    specs = _specs(seen, doc_type)
    verdict = replace(verdict, values={**_confirmed(seen, verdict, specs), **verdict.values})
    if not verdict.values and verdict.doc_type is None:
        raise UsageError("nothing is said", remedy="Give --field name=value, --confirm name or --type")
    asked = [_asked(seen, doc_type, specs, name) for name in verdict.values]
    for spec in asked:
        check(spec.name, verdict.values[spec.name], spec.type)
    # A type alone moves what was learnt before to that type.
    teaches = bool(verdict.values) or seen.earlier is not None
    taught = await asyncio.to_thread(_memory, seen, verdict, asked) if teaches else None
    said = [*_type_said(seen, doc_type, verdict), *(_said(seen, verdict, spec) for spec in asked)]
    return Review(seen.of, doc_type, said, verdict.operator, taught, doubts=_doubts(asked, verdict.values))


def check(name: str, value: str | None, field_type: str) -> None:
    """Values are kept as answers are written: a mistake here would be learnt."""
    kind = {"decimal": "amount", "integer": "amount", "date": "date"}.get(field_type)
    if value is None or kind is None:
        return
    if problem := validate.check(kind, value):
        raise UsageError(
            f"{name}: {reasons.sentence(problem).rstrip('.')}",
            remedy="Write 1250.00 or 2026-03-12; nothing for a missing value",
        )


def _type(seen: _Seen, verdict: Verdict, known_types: Collection[str]) -> str:
    """The type that holds from now on: the one said now, or said before, or found."""
    said = verdict.doc_type
    known = {*seen.schemas, *known_types, seen.doc_type}
    if said is not None and said not in known and not verdict.is_new_type:
        raise UsageError(
            f"there is no type {said!r}", remedy=f"Use one of: {', '.join(sorted(known))}; or add --new-type"
        )
    return said or seen.doc_type


def _specs(seen: _Seen, doc_type: str) -> Mapping[str, FieldSpec] | None:
    """The fields of a type, by name; None where the workflow has no schema of it: any name will do."""
    schema = seen.schemas.get(doc_type)
    return None if schema is None else {spec.name: spec for spec in schema}


def _confirmed(seen: _Seen, verdict: Verdict, specs: Mapping[str, FieldSpec] | None) -> dict[str, str | None]:
    """The fields that a person found right as they are; tables among the rest are passed over."""
    for name in verdict.confirmed:
        if seen.read(name) is None:
            raise UsageError(f"nothing was read for {name}", remedy=f"Give --field {name}=value")
        if not isinstance(seen.read(name), str):
            raise _no_table(name)
    rest = [
        name
        for name in (seen.fields if verdict.rest else ())
        if isinstance(seen.read(name), str) and (specs is None or name in specs)
    ]
    return {name: seen.read(name) for name in dict.fromkeys([*verdict.confirmed, *rest])}


def _asked(seen: _Seen, doc_type: str, specs: Mapping[str, FieldSpec] | None, name: str) -> FieldSpec:
    """What is known of a field that was spoken of."""
    spec = FieldSpec(name) if specs is None else specs.get(name)
    if spec is None:
        names = ", ".join(each.name for each in (specs or {}).values() if each.type != "table")
        raise UsageError(
            f"there is no field {name!r} in workflow {seen.workflow}'s {doc_type}",
            remedy=f"Use one of: {names}" if names else "Say the document's right type: --type invoice",
        )
    if spec.type == "table" or isinstance(seen.read(name), list):
        raise _no_table(name)
    return spec


def _no_table(name: str) -> UsageError:
    return UsageError(f"{name} is a table, and tables cannot be corrected", remedy="Leave it out")


def _doubts(asked: Sequence[FieldSpec], values: Mapping[str, str | None]) -> list[str]:
    """What validators say against values; a person may know better."""
    told = ((spec, values[spec.name]) for spec in asked)
    problems = [(spec.name, problem(spec, value)) for spec, value in told if value]
    return [f"{name}: {reasons.sentence(wrong)}" for name, wrong in problems if wrong]


async def _seen(session: AsyncSession, document_id: UUID) -> _Seen:
    document = await session.scalar(select(Document).where(Document.id == document_id))
    if document is None:
        raise UsageError(f"there is no document {document_id}", remedy="See docproc request status")
    indices = [int(index) for index in document.page_indices]
    of = await corrections.subject_of(session, document.tenant_id, document.request_id, document.id, indices)
    ids = [pages.page_id(document.request_id, index) for index in indices]
    words = await pages.words(session, ids)
    workflow, schemas = await _schemas(session, document.request_id)
    said_type = await corrections.said_type(session, document_id)
    earlier = await corrections.example_of(session, document_id)
    return _Seen(document, of, workflow, schemas, [words.get(page) for page in ids], said_type, earlier)


async def _schemas(session: AsyncSession, request_id: UUID) -> tuple[str, dict[str, list[FieldSpec]]]:
    """The name of a request's workflow, and the fields of its types."""
    query = (
        select(WorkflowVersion.name, WorkflowVersion.definition)
        .join(Request, Request.workflow_name == WorkflowVersion.name)
        .where(Request.id == request_id, Request.workflow_version == WorkflowVersion.version)
    )
    workflow = (await session.execute(query)).first()
    if workflow is None:
        return "", {}
    schemas = parse_schemas(workflow.definition)
    return workflow.name, {name: [each.spec for each in schema.fields] for name, schema in schemas.items()}


def _type_said(seen: _Seen, doc_type: str, verdict: Verdict) -> list[Said]:
    if verdict.doc_type is None:
        return []
    before = seen.document.doc_type
    return [Said(CorrectionSubject.TYPE, doc_type, before, changed=doc_type != before)]


def _said(seen: _Seen, verdict: Verdict, spec: FieldSpec) -> Said:
    read = seen.fields.get(spec.name) or {}
    value = verdict.values[spec.name]
    kept = same(value, read.get("value"), spec.type)
    page, box = verdict.where.get(spec.name, (None, None))
    if page is None and kept:  # confirmed: it stands where it was read
        page, box = read.get("page"), read.get("box")
    return Said(
        CorrectionSubject.FIELD,
        value,
        read.get("value"),
        spec.name,
        not kept,
        read.get("confidence"),
        read.get("source"),
        page,
        box,
    )


def _memory(seen: _Seen, verdict: Verdict, asked: Sequence[FieldSpec]) -> Memory | None:
    read = [page_text.unpack(words) for words in seen.words if words]
    if len(read) != len(seen.words):  # a page was never read: places would be counted wrong
        return None
    indices = list(seen.of.page_indices)
    where = {n: (indices.index(page), box) for n, (page, box) in verdict.where.items() if page in indices}
    before = {name: value for name in seen.fields if isinstance(value := seen.read(name), str)}
    known = {**before, **verdict.values}
    theirs = [value for name, value in known.items() if name.startswith("customer_") and value]
    order = utc_now().timestamp()
    example = memory.learn(asked, read, verdict.values, before, where, theirs, order)
    if seen.earlier is not None:
        example = example.joined(memory.unpack(seen.earlier))
    return Memory(memory.pack(example), memory.keys(example.layout))
