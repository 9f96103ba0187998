"""Requests with documents, as a pipeline would have left them: for pages and lists that show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from docproc.app import App
from docproc.apps.documents.components.answer import document_result, file_result
from docproc.apps.documents.tables import Document, File, Page
from docproc.engine.message import utc_now
from docproc.engine.running.indexing import Indexer
from docproc.engine.store import answers
from docproc.engine.store.answers import Given, Reason
from docproc.engine.store.tables import Request


@dataclass(frozen=True, slots=True)
class Filled:
    """A request with one document of one page, unless `documents` says otherwise."""

    name: str = "factura.pdf"
    doc_type: str = "invoice"
    values: Mapping[str, Any] = field(default_factory=dict)
    needs_review: Sequence[str] = ()
    text: str = ""
    status: str = "completed"
    minutes_ago: float = 0
    tenant_id: str = "default"
    external_id: str | None = None
    error: Any = None


async def fill(app: App, *requests: Filled) -> list[UUID]:
    ids = []
    for one in requests:
        async with app.store.writing() as session:
            created = utc_now() - timedelta(minutes=one.minutes_ago)
            is_over = one.status in ("completed", "failed")
            request = Request(
                id=uuid4(),
                tenant_id=one.tenant_id,
                workflow_name="default",
                status=one.status,
                external_id=one.external_id,
                created_at=created,
                deadline_utc=created + timedelta(minutes=10),
                sla_seconds=600.0,
                completed_at=created + timedelta(seconds=22.9) if is_over else None,
                uploads=[{"key": "x", "name": one.name, "size": 3, "sha256": "0"}],
                error=one.error,
            )
            session.add(request)
            await session.flush()
            ids.append(request.id)
            if one.status == "completed":
                await _complete(session, request, one)
    return ids


async def _complete(session: Any, request: Request, one: Filled) -> None:
    common = {"request_id": request.id, "tenant_id": request.tenant_id}
    file = File(**common, file_index=0, name=one.name, media_type="application/pdf", page_count=1, notes=[])
    document = Document(
        **common,
        id=uuid4(),
        doc_type=one.doc_type,
        page_indices=[0],
        status="completed",
        fields={
            name: {"value": value, "confidence": 0.6 if name in one.needs_review else 0.95, "page": 0,
                   "box": [0.1, 0.1, 0.3, 0.12], "source": "text"}
            for name, value in one.values.items()
        },
        extracted_data={},
        needs_review=list(one.needs_review),
        doubts=[],
    )  # fmt: skip
    session.add_all([file, document])
    await session.flush()
    session.add(
        Page(**common, page_index=0, status="CLASIFICADA", ocr_text=one.text, document_id=document.id)
    )
    result = {
        "partial": False,
        "documents": [document_result(document, "completed")],
        "files": [file_result(file)],
    }
    await session.flush()
    await answers.give(session, [Given(request, result, False, Reason.COMPLETE)])


async def index(app: App) -> int:
    """All that waits, as the indexer of a gateway does."""
    indexer = Indexer(app.store, app.applications.describers, "test")
    total = 0
    while done := await indexer.index():
        total += done
    return total
