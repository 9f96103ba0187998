"""What a log line says of pages and documents (specification §9.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docproc.apps.documents.store.pages import page_id
from docproc.engine.message import PipelineMessage

# What a stage found out last tells how sure its own result is: a classified page still carries what reading
# it came to.
_CONFIDENCES = (
    "extraction_confidence",
    "boundary_confidence",
    "classification_confidence",
    "ocr_confidence",
    "confidence",
)


def fields(message: PipelineMessage, payload: Mapping[str, Any]) -> dict[str, Any]:
    """`payload` is that of the first message emitted; it has a type and a confidence where one was found."""
    values: dict[str, Any] = {
        "resultado": {"tipo": payload.get("doc_type"), "confianza": _confidence(payload)},
    }
    if message.page_index is not None:
        values["pagina_id"] = str(page_id(message.request_id, message.page_index))
        values["page_index"] = message.page_index
    if message.document_id is not None:
        values["document_id"] = str(message.document_id)
    return values


def _confidence(payload: Mapping[str, Any]) -> float | None:
    """Of the whole answer, that of its least certain document."""
    found = payload.get("documents")
    if isinstance(found, list):
        sure = [value for one in found if (value := _least(one)) is not None]
        return min(sure) if sure else None
    return next((payload[name] for name in _CONFIDENCES if payload.get(name) is not None), None)


def _least(document: Mapping[str, Any]) -> float | None:
    names = ("extraction_confidence", "doc_type_confidence", "boundary_confidence")
    known = [float(document[name]) for name in names if document.get(name) is not None]
    return min(known) if known else None
