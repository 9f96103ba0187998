"""What a log line says of pages and documents (specification §9.1): the confidence is the stage's own."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from docproc.apps.documents.logs import fields
from docproc.apps.documents.store.pages import page_id
from docproc.engine.message import PipelineMessage

REQUEST = UUID("00000000-0000-4000-8000-000000000001")
DOCUMENTS = [
    {"extraction_confidence": 0.9, "doc_type_confidence": 0.95, "boundary_confidence": 1.0},
    {"extraction_confidence": None, "doc_type_confidence": 0.7, "boundary_confidence": 0.8},
]


@pytest.mark.parametrize(
    ("payload", "confidence"),
    [
        ({"ocr_confidence": 0.97}, 0.97),
        ({"ocr_confidence": 0.97, "classification_confidence": 0.81, "doc_type": "invoice"}, 0.81),
        ({"doc_type": "invoice", "boundary_confidence": 0.66}, 0.66),
        ({"doc_type": "invoice", "extraction_confidence": 0.4}, 0.4),
        ({"documents": DOCUMENTS}, 0.7),
        ({"documents": []}, None),
        ({}, None),
    ],
)
def test_confidence_is_that_of_the_stage(payload: dict[str, Any], confidence: float | None) -> None:
    found = fields(PipelineMessage(request_id=REQUEST), payload)
    assert found == {"resultado": {"tipo": payload.get("doc_type"), "confianza": confidence}}


def test_page_and_document_are_named_as_in_their_tables() -> None:
    document = uuid4()
    found = fields(PipelineMessage(request_id=REQUEST, page_index=3, document_id=document), {})
    assert found["pagina_id"] == str(page_id(REQUEST, 3))
    assert (found["page_index"], found["document_id"]) == (3, str(document))
