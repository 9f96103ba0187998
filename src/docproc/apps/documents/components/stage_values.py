"""What a stage between extraction and its join says of fields: the document takes its `extracted_data`.

Only flows that have such a stage read anything here. A person's word stands: fields that somebody settled are
left as they are, also when a message that is older than the answer arrives after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components import doubts, extracted
from docproc.apps.documents.counting import EXTRACTOR
from docproc.apps.documents.schemas import SchemaField, schemas_of
from docproc.apps.documents.store import corrections, documents
from docproc.apps.documents.tables import Document, DocumentStatus
from docproc.engine.message import PipelineMessage
from docproc.engine.workflow.definition import Stage, Workflow
from docproc.settings import Settings

# The source of a value that a component gave.
COMPONENT = "component"
# The origin of a field that a person settled.
BY_A_PERSON = "BACKOFFICE"
DATA, SURE = "extracted_data", "extraction_confidence"


async def take(
    session: AsyncSession, settings: Settings, flow: Workflow, messages: Sequence[PipelineMessage]
) -> None:
    """Write what messages say otherwise than their documents, which are locked in the order of their ids."""
    said = {
        message.document_id: message.payload
        for message in messages
        if message.document_id is not None and isinstance(message.payload.get(DATA), Mapping)
    }
    if not said:
        return
    query = select(Document).where(Document.id.in_(said)).order_by(Document.id).with_for_update()
    stored = list(await session.scalars(query.execution_options(populate_existing=True)))
    rows = [await _row(session, settings, flow, document, said[document.id]) for document in stored]
    await documents.change_many(session, [row for row in rows if row])


async def _row(
    session: AsyncSession, settings: Settings, flow: Workflow, document: Document, payload: Mapping[str, Any]
) -> dict[str, Any] | None:
    before: dict[str, Any] = dict(document.extracted_data or {})
    changed = {
        name: value for name, value in payload[DATA].items() if name not in before or before[name] != value
    }
    settled = await _settled(session, document) if changed else set()
    changed = {name: value for name, value in changed.items() if name not in settled}
    if not changed:
        return None
    schema = schemas_of(flow).get(document.doc_type or "")
    asked = {field.name: field for field in (schema.fields if schema else ())}
    sure = _confidence(payload, document)
    evidence = {name: one for name, one in (document.fields or {}).items() if name not in changed}
    evidence |= {
        name: _evident(asked.get(name), value, sure) for name, value in changed.items() if value is not None
    }
    threshold = doubts.field_threshold(settings, _extraction(flow))
    doubtful = [name for name in document.needs_review or () if name not in changed]
    doubtful += [
        name for name, value in changed.items() if _is_doubtful(asked.get(name), value, sure, threshold)
    ]
    return {
        "id": document.id,
        "extracted_data": before | changed,
        "fields": evidence,
        "needs_review": doubtful,
        "extraction_confidence": extracted.least_of(
            asked.values(), {name: one.get("confidence", 0.0) for name, one in evidence.items()}
        ),
        "status": _status(document),
    }


async def _settled(session: AsyncSession, document: Document) -> set[str]:
    """What people said of it; of tables, which are no examples to learn from, the fields themselves tell."""
    told = {name for name, one in (document.fields or {}).items() if one.get("origin") == BY_A_PERSON}
    return told | await corrections.fields_of(session, document.id)


def _confidence(payload: Mapping[str, Any], document: Document) -> float:
    """What the component says of itself; one that leaves the extractor's figure alone means what it says."""
    said = payload.get(SURE)
    is_own = isinstance(said, int | float) and not isinstance(said, bool)
    if not is_own or said == document.extraction_confidence:
        return 1.0
    return min(max(float(said), 0.0), 1.0)  # type: ignore[arg-type] # a number, see above


def _is_doubtful(field: SchemaField | None, value: Any, sure: float, threshold: float) -> bool:
    if value is None:
        return field is not None and field.required
    return doubts.is_below(sure, threshold)


def _evident(field: SchemaField | None, value: Any, sure: float) -> dict[str, Any]:
    is_text = not isinstance(value, list | dict)
    return {
        "value": extracted.exact(field, value) if is_text else value,
        "confidence": round(sure, 4),
        "source": COMPONENT,
        "page": None,
        "box": None,
    }


def _extraction(flow: Workflow) -> Stage | None:
    return next((stage for stage in flow.stages if stage.component == EXTRACTOR), None)


def _status(document: Document) -> str:
    """A document that nobody else filled in is done; one that waits for a person goes on waiting."""
    return DocumentStatus.COMPLETED if document.status == DocumentStatus.PENDING else document.status
