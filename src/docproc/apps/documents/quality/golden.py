"""What golden cases compare of documents' answers: types, pages and values, not how sure they are."""

from __future__ import annotations

from typing import Any


def comparable(result: Any) -> Any:
    """The documents in page order, each with its type, its pages and the values of its fields."""
    return {
        "documents": [
            {name: document.get(name) for name in ("doc_type", "page_indices", "extracted_data")}
            for document in (result or {}).get("documents", ())
        ]
    }
