"""Requests of documents in a terminal: answers with their fields, progress in pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from docproc.apps.documents.cli import answers
from docproc.terminal.view import Counted, Status, TerminalView


class DocumentsView(TerminalView):
    def answer(self, name: str, status: Status) -> RenderableType | None:
        return answers.render(name, status) if _is_ours(status) else None

    def progress(self, counts: Mapping[str, Any]) -> Counted | None:
        return (_share(counts), _said(counts)) if "pages_total" in counts else None

    def total(self, statuses: Sequence[Status]) -> str:
        known = [pages for pages in map(_pages, statuses) if pages is not None]
        return f"{sum(known)} pages" if known else ""


def _is_ours(status: Status) -> bool:
    """One that was not split yet has nothing that is ours to show."""
    result = status["result"]
    return _pages(status) is not None or (isinstance(result, Mapping) and "documents" in result)


def _pages(status: Status) -> int | None:
    return status.get("page_count")


def _share(counts: Mapping[str, Any]) -> float | None:
    """A page is read and classified, a document extracted: each counts the same."""
    pages, read = counts["pages_total"], counts["pages_read"]
    if pages is None or read is None:
        return None
    done = read + (counts["pages_classified"] or 0) + (counts["documents_done"] or 0)
    return float(min(done / max(2 * pages + (counts["documents_total"] or 1), 1), 1.0))


def _said(counts: Mapping[str, Any]) -> str:
    """`read 3/10 · classified 2/10 · documents 1/2`"""
    pages, read = counts["pages_total"], counts["pages_read"]
    documents, done = counts["documents_total"], counts["documents_done"]
    said = []
    if pages is not None and read is not None:
        said.append(f"read {read}/{pages}")
        said.append(f"classified {counts['pages_classified'] or 0}/{pages}")
    elif pages is not None:
        said.append(f"{pages} pages")
    if documents and done is not None:
        said.append(f"documents {done}/{documents}")
    elif documents:
        said.append(f"{documents} documents")
    return " · ".join(said)


view = DocumentsView()
