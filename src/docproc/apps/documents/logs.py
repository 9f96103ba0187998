"""What a log line says of pages and documents (specification §9.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docproc.engine.message import PipelineMessage


def fields(message: PipelineMessage, payload: Mapping[str, Any]) -> dict[str, Any]:
    """`payload` is that of the first message emitted; it has a type and a confidence where one was found."""
    values: dict[str, Any] = {
        "resultado": {
            "tipo": payload.get("doc_type"),
            "confianza": payload.get("extraction_confidence", payload.get("confidence")),
        }
    }
    if message.page_index is not None:
        values["pagina_id"] = message.page_index
    if message.document_id is not None:
        values["document_id"] = str(message.document_id)
    return values
