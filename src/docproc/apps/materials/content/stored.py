"""The two documents of a material as they are stored: what was written, and how it came about."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.summary import Summary


class ProcessingMetadata(BaseModel):
    """How a document was made, and what it cost."""

    model_config = ConfigDict(extra="forbid")

    request_id: str
    generator: str
    # Empty where no model was asked.
    model: str = ""
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    estimated_cost_usd: float = Field(default=0.0, ge=0)
    duration_seconds: float = Field(default=0.0, ge=0)
    # The person whose version this is; empty where nobody changed what was generated.
    edited_by: str = ""


class _Stored(BaseModel):
    material_id: str = Field(min_length=1, max_length=200)
    version: int = Field(ge=1)
    processing_metadata: ProcessingMetadata
    created_at: datetime
    updated_at: datetime


class SummaryDocument(_Stored, Summary):
    """A document of `material_summary`."""


class AssessmentDocument(_Stored, Quiz):
    """A document of `material_assessment`."""
