"""Wrong type: whoever is asked about the fields of a document says that it is another kind of document.

The same pages become a document of the other type, and it is extracted again in place of the old one. It
keeps its unit, so that joins which count documents still wait for one there, or are told of a late one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components import doubts
from docproc.apps.documents.review.classification import BACKOFFICE, choices
from docproc.apps.documents.store import corrections, documents, pages
from docproc.apps.documents.store.corrections import Review, Said
from docproc.apps.documents.store.documents import NewDocument
from docproc.apps.documents.tables import CorrectionSubject, Document, PageStatus
from docproc.engine.message import PipelineMessage
from docproc.engine.store import tasks
from docproc.engine.store.task_tables import BackofficeTask
from docproc.engine.workflow.definition import Workflow
from docproc.errors import InvalidAnswerError
from docproc.people.kinds import asked, message_of


@dataclass(frozen=True, slots=True)
class RetypeAnswer:
    """The document is of this type, not of the one whose fields were asked for."""

    doc_type: str

    def output(self) -> dict[str, Any]:
        return {"doc_type": self.doc_type}


def read(said: Mapping[str, Any], task: BackofficeTask, flow: Workflow) -> RetypeAnswer:
    wanted, known = said.get("doc_type"), choices(flow)
    if not isinstance(wanted, str) or wanted not in known:
        raise InvalidAnswerError(
            f"doc_type: there is no type {wanted!r}",
            problems={"doc_type": "there is no such type"},
            remedy=f"Use one of: {', '.join(known)}",
        )
    if wanted == asked(task).get("doc_type"):
        raise InvalidAnswerError(
            "doc_type: it is of this type already",
            problems={"doc_type": "it is of this type already"},
            remedy="Send the fields, or another type",
        )
    return RetypeAnswer(wanted)


def page_indices(task: BackofficeTask) -> list[int]:
    return [int(index) for index in asked(task).get("page_indices") or ()]


async def apply(session: AsyncSession, task: BackofficeTask, answer: RetypeAnswer) -> PipelineMessage:
    """The pages and their document are of the other type; returns what the extraction takes up again."""
    message, indices = message_of(task), page_indices(task)
    request_id = message.request_id
    page_ids = [pages.page_id(request_id, index) for index in indices]
    await pages.change_many(
        session,
        [
            {
                "id": page,
                "doc_type": answer.doc_type,
                "classification_confidence": 1.0,
                "origin": BACKOFFICE,
                "status": PageStatus.CLASSIFIED,
            }
            for page in page_ids
        ],
    )
    # Nobody need say of what type these pages are, nor look at the fields of the type they are not.
    gone = [one for one in (task.reference_id,) if one is not None]
    await tasks.withdraw_amendments(session, [*page_ids, *gone], "corrected")
    standing = await _standing(session, task.reference_id)
    await documents.remove(session, request_id, gone)
    new = NewDocument(answer.doc_type, indices, standing)
    await documents.insert(session, task.tenant_id, request_id, [new])
    texts = await pages.texts(session, request_id, indices)
    payload = {
        "doc_type": answer.doc_type,
        "page_indices": indices,
        "ocr_texts": [texts.get(index, "") for index in indices],
    }
    document_id = documents.document_id(request_id, answer.doc_type, indices)
    return message.model_copy(update={"document_id": document_id, "payload": payload})


async def _standing(session: AsyncSession, document_id: UUID | None) -> Mapping[str, Any]:
    """A person said the type; how sure the boundaries are has not changed."""
    query = select(Document.boundary_confidence, Document.doubts).where(Document.id == document_id)
    row = (await session.execute(query)).first()
    left: Sequence[str] = (row.doubts or ()) if row else ()
    return {
        "doc_type_confidence": 1.0,
        "boundary_confidence": row.boundary_confidence if row else None,
        "doubts": [name for name in left if name != doubts.TYPE],
    }


async def review(session: AsyncSession, task: BackofficeTask, answer: RetypeAnswer, operator: str) -> Review:
    """The label: read before the transaction."""
    indices = page_indices(task)
    of = await corrections.subject_of(session, task.tenant_id, task.request_id, None, indices)
    before = asked(task).get("doc_type")
    return Review(of, answer.doc_type, [Said(CorrectionSubject.TYPE, answer.doc_type, before)], operator)
