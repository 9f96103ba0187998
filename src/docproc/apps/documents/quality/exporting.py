"""Corrections as labelled examples: the files people reviewed, and `labels.jsonl` with what they said."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

from docproc.apps.documents.tables import Correction, CorrectionSubject
from docproc.engine.blobs import BlobStore, safe_name
from docproc.private import open_private, private_folder

LABELS = "labels.jsonl"


@dataclass
class _Document:
    doc_type: str
    pages: tuple[int, ...]
    fields: dict[str, str | None] = field(default_factory=dict)
    is_type_said: bool = False  # by a person: what was said of fields later does not change it


@dataclass(frozen=True, slots=True)
class Exported:
    """How much was written; `missing` are files that are no longer stored."""

    files: int
    documents: int
    fields: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileLabels:
    """What is known of one file. `name` is what it is called in the export."""

    blob_key: str
    name: str
    documents: tuple[_Document, ...]

    def line(self) -> dict[str, Any]:
        made = [
            {"doc_type": each.doc_type, "page_indices": list(each.pages), "fields": each.fields}
            for each in self.documents
        ]
        return {"file": self.name, "documents": made}


def labels(rows: Iterable[Correction]) -> list[FileLabels]:
    """The labels of each file, by corrections in the order they were made: the last word counts,
    on the type and on each field.

    What nobody looked at is left out, and so unlabelled. Pages of which only the type is known make one
    document as long as they follow each other.
    """
    by_file: dict[tuple[UUID, str], dict[tuple[int, ...], _Document]] = {}
    names: dict[str, str] = {}
    for row in rows:
        if row.blob_key is None or not row.file_pages or not row.doc_type:
            continue  # where a document begins says nothing of its type: it is no label by itself
        names[row.blob_key] = row.file_name or "file"
        documents = by_file.setdefault((row.request_id, row.blob_key), {})
        _put(documents, row)
    return [
        FileLabels(key, f"{str(request)[:8]}-{_place(key)}{safe_name(names[key])}", _settled(documents))
        for (request, key), documents in by_file.items()
    ]


def _place(blob_key: str) -> str:
    """Tells apart files of one name in one request: their places in it."""
    parts = blob_key.split("/")
    return f"{parts[-2]}-" if len(parts) > 2 and len(parts[-2]) <= 12 else ""


def _put(documents: dict[tuple[int, ...], _Document], row: Correction) -> None:
    pages = tuple(int(page) for page in row.file_pages)
    for other in [each for each in documents if each != pages and set(each) & set(pages)]:
        del documents[other]  # regrouped since: what was said of other pages together holds no more
    document = documents.setdefault(pages, _Document(row.doc_type, pages))
    if row.subject == CorrectionSubject.FIELD:
        document.fields[row.field] = row.value_after
        if not document.is_type_said:
            document.doc_type = row.doc_type
    else:
        document.doc_type, document.is_type_said = row.doc_type, True


def _settled(documents: dict[tuple[int, ...], _Document]) -> tuple[_Document, ...]:
    made: list[_Document] = []
    for _, document in sorted(documents.items()):
        before = made[-1] if made else None
        if (
            before is not None
            and not (before.fields or document.fields)
            and before.doc_type == document.doc_type
            and len(document.pages) == 1
            and before.pages[-1] + 1 == document.pages[0]
        ):
            before.pages = (*before.pages, *document.pages)
        else:
            made.append(_Document(document.doc_type, document.pages, dict(document.fields)))
    return tuple(made)


async def export(rows: Sequence[Correction], blobs: BlobStore, folder: Path) -> Exported:
    """Write the files and their labels into a folder; one that is there is added to, file by file."""
    lines = _known(folder)
    written: list[FileLabels] = []
    missing = []
    for file in labels(rows):
        try:
            source = await blobs.fetch(file.blob_key)
        except FileNotFoundError:
            missing.append(file.name)
            continue
        await asyncio.to_thread(shutil.copyfile, source, folder / file.name)
        lines[file.name] = orjson.dumps(file.line())
        written.append(file)
    if lines:
        _write(folder, lines)
    documents = [document for file in written for document in file.documents]
    number = sum(len(document.fields) for document in documents)
    return Exported(len(written), len(documents), number, tuple(missing))


def _known(folder: Path) -> dict[str, bytes]:
    """The lines of an earlier export, by file; the folder is made when it is not there."""
    private_folder(folder, tighten=False)  # one that was there is as its owner wants it
    path = folder / LABELS
    if not path.exists():
        return {}
    lines = [line for line in path.read_bytes().splitlines() if line.strip()]
    return {str(orjson.loads(line)["file"]): line for line in lines}


def _write(folder: Path, lines: dict[str, bytes]) -> None:
    with open_private(folder / LABELS, "wb") as file:
        file.write(b"".join(line + b"\n" for line in lines.values()))
