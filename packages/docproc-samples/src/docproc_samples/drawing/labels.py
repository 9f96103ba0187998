"""What is known about a sample: its documents, their pages and the values printed on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

LABELS_FILE = "labels.jsonl"


@dataclass(frozen=True)
class LabelledDocument:
    """Dates are ISO 8601, amounts plain decimals with a point, text as printed."""

    doc_type: str
    page_indices: list[int]
    fields: dict[str, str] = field(default_factory=dict)
    layout: str = ""

    def as_dict(self) -> dict[str, Any]:
        label = {"doc_type": self.doc_type, "page_indices": self.page_indices, "fields": self.fields}
        return {**label, "layout": self.layout} if self.layout else label


@dataclass(frozen=True)
class Sample:
    path: Path
    documents: list[LabelledDocument]

    def as_dict(self) -> dict[str, Any]:
        return {"file": self.path.name, "documents": [document.as_dict() for document in self.documents]}


def write_labels(directory: Path, samples: Iterable[Sample]) -> Path:
    """Write one line a file; the labels of an earlier run are replaced."""
    path = directory / LABELS_FILE
    path.write_bytes(b"".join(orjson.dumps(sample.as_dict()) + b"\n" for sample in samples))
    return path
