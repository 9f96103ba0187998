"""consolidator: the answer, from everything that was found."""

from __future__ import annotations

from typing import Any

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.component import NEXT, REQUEST_UNIT, BaseComponent, Emission
from docproc.message import PipelineMessage
from docproc.store import documents, fan_in, pages
from docproc.store.tables import Document, DocumentStatus, File, Request, RequestStatus


class Consolidator(BaseComponent):
    """Its payload is the request's result; the engine ends the request with it."""

    component_name = "consolidator"
    takes = REQUEST_UNIT
    status = RequestStatus.CONSOLIDATING
    batch = 20

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        found = await documents.of_request(session, message.request_id)
        files = await pages.files(session, message.request_id)
        failed = await fan_in.failures(session, message.request_id)
        total_pages = sum(file.page_count for file in files)
        await session.execute(
            update(Request)
            .where(Request.id == message.request_id)
            .values(page_count=total_pages, document_count=len(found))
            .execution_options(synchronize_session=False)
        )
        result = {
            "request_id": str(message.request_id),
            "workflow": message.workflow_name,
            "partial": False,
            "total_pages": total_pages,
            "total_documents": len(found),
            "documents": [document_result(document) for document in found],
            "files": [file_result(file) for file in files],
            "missing": [{"unit": f["unit"], "reason": "failed", "detail": f["error"]} for f in failed],
        }
        return [(NEXT, message.model_copy(update={"payload": result}))]


def document_result(document: Document) -> dict[str, Any]:
    done = document.status == DocumentStatus.COMPLETED
    return {
        "document_id": str(document.id),
        "doc_type": document.doc_type,
        "page_indices": document.page_indices,
        "extracted_data": document.extracted_data or {},
        "extraction_confidence": document.extraction_confidence,
        "status": document.status if done else "failed",
        "fields": document.fields or {},
        "needs_review": document.needs_review or [],
    }


def file_result(file: File) -> dict[str, Any]:
    return {
        "file_index": file.file_index,
        "name": file.name,
        "media_type": file.media_type,
        "page_count": file.page_count,
        "notes": file.notes,
        "problem": file.problem,
    }
