"""Doubts about a document, by one rule: what is below its threshold is answered by a person, or marked.

Types and boundaries are decided page by page, fields document by document. A stage asks where `is_below` says
so and somebody may be asked. What nobody has answered is named in `needs_review`, whatever the reason was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docproc.apps.documents.settings import DocumentsSettings
from docproc.engine.workflow.definition import Stage, Workflow
from docproc.settings import Settings

# As `needs_review` names them, before the fields.
TYPE, BOUNDARY = "doc_type", "boundary"
CLASSIFIER = "classifier"


def is_below(confidence: float, threshold: float) -> bool:
    """Compared as it is stored and shown, so that nobody sees 0.8 marked below 0.8."""
    return round(confidence, 4) < threshold


def page_threshold(settings: Settings, stage: Stage | None) -> float:
    """Of a stage that decides types or boundaries: its own, else the setting."""
    if stage is not None and stage.confidence_threshold is not None:
        return stage.confidence_threshold
    return settings.section(DocumentsSettings).classification_confidence_threshold


def field_threshold(settings: Settings, stage: Stage | None) -> float:
    if stage is not None and stage.confidence_threshold is not None:
        return stage.confidence_threshold
    return settings.section(DocumentsSettings).extraction_confidence_threshold


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Below which the type and the boundaries of a document are in doubt."""

    doc_type: float
    boundary: float

    @classmethod
    def of(cls, settings: Settings, flow: Workflow, grouping: Stage | None = None) -> Thresholds:
        classifying = next((stage for stage in flow.stages if stage.component == CLASSIFIER), None)
        return cls(page_threshold(settings, classifying), page_threshold(settings, grouping))


@dataclass(frozen=True, slots=True)
class Standing:
    """How sure a document's type and boundaries are; 1 where a person or the workflow said so."""

    doc_type: float = 1.0
    boundary: float = 1.0

    def row(self, thresholds: Thresholds) -> dict[str, Any]:
        """The columns of `documents`."""
        below = {
            TYPE: is_below(self.doc_type, thresholds.doc_type),
            BOUNDARY: is_below(self.boundary, thresholds.boundary),
        }
        return {
            "doc_type_confidence": round(self.doc_type, 4),
            "boundary_confidence": round(self.boundary, 4),
            "doubts": [name for name, is_doubtful in below.items() if is_doubtful],
        }


def boundary_confidence(begins: Sequence[float], after: float = 1.0) -> float:
    """That a document begins at its first page, goes on to its last and ends there.

    `begins` has, for each of its pages, the probability that a document begins there; `after` is that of the
    page behind it.
    """
    first, *others = begins or (1.0,)
    return min([first, after, *(1 - other for other in others)])


def type_confidence(pages: Sequence[tuple[float, Mapping[str, Any]]]) -> float:
    """As sure as its least sure page, by (confidence, marks): a person would be asked about that one.

    Not by the empty backs of sheets, unless there is nothing else.
    """
    spoken = [confidence for confidence, marks in pages if not marks.get("blank")]
    return min(spoken or [confidence for confidence, _ in pages], default=1.0)


def named(doubts: Sequence[str] | None, fields: Sequence[str] | None) -> list[str]:
    """`needs_review`, as it is answered."""
    return [*(doubts or ()), *(fields or ())]
