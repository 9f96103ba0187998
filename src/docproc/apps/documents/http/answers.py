"""The answer about documents as the API describes it. What is stored is sent as it is; this is its shape for
programs that are generated from the OpenAPI document."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class FieldValue(BaseModel):
    """A value, and the evidence for it."""

    value: Any = Field(description="Amounts are exact decimals in text, dates ISO 8601; null: not found")
    confidence: float | None = Field(default=None, description="How often such a value is right, 0 to 1")
    source: str | None = Field(default=None, description="Where it was read: a code, the text layer, OCR …")
    page: int | None = Field(default=None, description="The page it stands on, from 0")
    box: list[float] | None = Field(
        default=None, description="x0, y0, x1, y1 as fractions of the upright page, from the top left"
    )


class DocumentAnswer(BaseModel):
    """A document that was found in the files."""

    document_id: str
    doc_type: str | None
    page_indices: list[int]
    extracted_data: dict[str, Any] = Field(description="The fields' values alone, by name")
    extraction_confidence: float | None
    status: str
    fields: dict[str, FieldValue]
    needs_review: list[str] = Field(description="What is in doubt: names of fields, `doc_type`, `boundary`")
    doc_type_confidence: float | None
    boundary_confidence: float | None


class FileAnswer(BaseModel):
    """A file as it was sent, or found inside another."""

    file_index: int
    name: str
    media_type: str | None
    page_count: int | None
    notes: list[str] | None
    problem: str | None


class MissingPart(BaseModel):
    """Something that the answer lacks so far, or for good."""

    unit: str = Field(examples=["page:3"])
    field: str | None = None
    reason: str = Field(examples=["waiting_for_operator"])
    detail: Any = None
    expected_at: str | None = None


class DocumentsAnswer(BaseModel):
    """The answer of the documents' workflows."""

    request_id: str
    workflow: str
    partial: bool = Field(description="Whether something is still under way")
    total_pages: int
    total_documents: int
    documents: list[DocumentAnswer]
    files: list[FileAnswer]
    missing: list[MissingPart]
