"""A flow of documents without reading: tiny stages that classify and extract as they are told.

The joins, the grouping and the answer are the real ones.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.store import documents, pages
from docproc.apps.documents.tables import DocumentStatus, PageStatus
from docproc.engine.component import BACKOFFICE, NEXT, BaseComponent, Emission
from docproc.engine.message import PipelineMessage
from docproc.engine.store import tasks
from docproc.errors import PermanentError, TransientError

FLOW = """
    EARLY
    stages:
      - {name: lay, component: laid_out}
      - {name: kind, component: told_type, backoffice_queue: task.classification}
      - {name: group, component: classification_aggregator, options: {staggered: true}}
      - {name: fields, component: told_fields, backoffice_queue: task.extraction}
      - {name: all, component: extraction_aggregator}
      - {name: answer, component: consolidator}
    extraction_schemas:
      id_card: {fields: [{name: id_number, required: true}]}
      payslip: {fields: [{name: net_amount, type: decimal, required: true}]}
      letter: {fields: []}
"""
COMPONENTS = (
    "laid_out", "told_type", "classification_aggregator",
    "told_fields", "extraction_aggregator", "consolidator",
)  # fmt: skip


class LaidOut(BaseComponent):
    """One file; `payload.pages` has, for each page, its type or what becomes of it."""

    component_name = "laid_out"
    takes = "request"
    gives = "page"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        said = message.payload["pages"]
        await pages.insert_files(session, [_file(message, len(said))])
        await pages.insert(session, [_page(message, index) for index in range(len(said))])
        return [
            (NEXT, message.model_copy(update={"unit_key": f"page:{index}", "page_index": index}))
            for index in range(len(said))
        ]


class ToldType(BaseComponent):
    """`asked`: a person is; `later`: tried again in an hour; `broken`: never works; else the type."""

    component_name = "told_type"
    takes = "page"
    asks_people = True

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        index = message.page_index or 0
        said = message.payload["pages"][index]
        if said == "later":
            raise TransientError("not now", delay=3600)
        if said == "broken":
            raise PermanentError("cannot be read")
        page_id = pages.page_id(message.request_id, index)
        asked = said == "asked"
        row = {
            "id": page_id,
            "doc_type": None if asked else said,
            "status": PageStatus.IN_REVIEW if asked else PageStatus.CLASSIFIED,
            "classification_confidence": 1.0,
            "marks": {BEGINS: True},
        }
        await pages.change_many(session, [row])
        if asked:
            await tasks.create(
                session, message, task_type="classification", reference_id=page_id, input_data={}
            )
        return [(BACKOFFICE if asked else NEXT, message)]


# In a page's marks: a person said that a document begins there, so every page is one.
BEGINS = "begins"
# What `told_fields` finds, by type; a doubtful value ends in `?`, one that is not found is None.
FIELDS: dict[str, dict[str, Any]] = {
    "id_card": {"id_number": "39337243K"},
    "payslip": {"net_amount": 1904.36},
    "invoice": {"total_amount": "121?", "date": None, "number": "F-1"},
}


class ToldFields(BaseComponent):
    """A document with doubtful fields waits for a person; a `contract` is tried again in an hour."""

    component_name = "told_fields"
    takes = "document"
    asks_people = True

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        assert message.document_id is not None
        if message.payload["doc_type"] == "contract":
            raise TransientError("not now", delay=3600)
        row = filled(message.document_id, message.payload["doc_type"])
        await documents.change_many(session, [row])
        if not row["needs_review"]:
            return [(NEXT, message)]
        await tasks.create(
            session, message, task_type="extraction", reference_id=message.document_id, input_data={}
        )
        return [(BACKOFFICE, message)]


def filled(document_id: UUID, doc_type: str) -> dict[str, Any]:
    """A document's row with its fields, as the extractor writes it."""
    said = FIELDS.get(doc_type, {})
    doubtful = [name for name, value in said.items() if value is None or str(value).endswith("?")]
    return {
        "id": document_id,
        "extracted_data": said,
        "fields": {name: {"value": value} for name, value in said.items() if value is not None},
        "needs_review": doubtful,
        "status": DocumentStatus.IN_REVIEW if doubtful else DocumentStatus.COMPLETED,
    }


PATHS = {one.component_name: f"{one.__module__}.{one.__name__}" for one in (LaidOut, ToldType, ToldFields)}


def _file(message: PipelineMessage, page_count: int) -> dict[str, Any]:
    return {
        "id": pages.page_id(message.request_id, -1), "tenant_id": message.tenant_id,
        "request_id": message.request_id, "file_index": 0, "name": "packet.pdf", "blob_key": None,
        "media_type": "application/pdf", "page_count": page_count, "notes": [], "problem": None,
        "skipped": False,
    }  # fmt: skip


def _page(message: PipelineMessage, index: int) -> dict[str, Any]:
    return {
        "id": pages.page_id(message.request_id, index), "tenant_id": message.tenant_id,
        "request_id": message.request_id, "file_index": 0, "file_page": index, "page_index": index,
        "status": PageStatus.PENDING_OCR,
    }  # fmt: skip
