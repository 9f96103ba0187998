"""One file through reading, types, boundaries and fields, by the functions that the components call."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from docproc.apps.documents.components import extracted, page_jobs
from docproc.apps.documents.components.extraction_jobs import Fields, Job, extract_all
from docproc.apps.documents.components.page_groups import Made, group_pages
from docproc.apps.documents.components.page_jobs import PageToRead
from docproc.apps.documents.schemas import SchemaField
from docproc.apps.documents.tables import PageStatus
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.apps.documents.understanding.types.document_type import DocumentType, Evidence
from docproc.errors import ProcessingError
from docproc.private import private_file, private_folder
from docproc.reading import page as page_text
from docproc.reading import reading
from docproc.reading.files.unfold import FoundFile, unfold


@dataclass(frozen=True)
class How:
    """What the workflow and the command say of how files are understood."""

    schemas: Mapping[str, Sequence[FieldSpec]]
    keywords: Mapping[str, Sequence[str] | Evidence] = field(default_factory=dict)
    types: Mapping[str, DocumentType] = field(default_factory=dict)  # that the workflow adds
    rules: Mapping[str, Sequence[str]] = field(default_factory=dict)
    asked: Mapping[str, Sequence[SchemaField]] = field(default_factory=dict)  # as the workflow has them
    threshold: float = 0.0  # below which a field that nobody reviews is not answered
    engine: str = "rapidocr"
    mode: reading.Mode = "auto"
    given_type: str | None = None  # of a flow that does not classify
    keep: Path | None = None  # readings of earlier runs
    only_engine: str | None = None  # a kept reading of another engine is not used
    models: Path | None = None  # weights learnt here, instead of the packaged ones


@dataclass(frozen=True)
class FoundPage:
    doc_type: str
    confidence: float
    words: bytes  # packed
    rotation: int  # degrees clockwise by which the page was turned upright
    read_seconds: float | None  # CPU; None: the kept reading has no time beside it
    classify_seconds: float


@dataclass(frozen=True)
class FoundDocument:
    doc_type: str
    page_indices: tuple[int, ...]
    confidence: float  # that its boundaries are right: its pages are one document, and all of it
    fields: dict[str, FieldValue | None]
    seconds: float

    @property
    def pages(self) -> frozenset[int]:
        return frozenset(self.page_indices)


@dataclass(frozen=True)
class Understood:
    """All of a file; `problem` says why it, or a part of it, could not be read."""

    pages: tuple[FoundPage, ...] = ()
    documents: tuple[FoundDocument, ...] = ()
    problem: str | None = None


def understand(path: Path, how: How) -> Understood:
    """Run it in a child process: parsers and OCR engines may crash on damaged files."""
    try:
        with tempfile.TemporaryDirectory(prefix="docproc-eval-") as folder:
            return _understand(unfold(path, path.name, Path(folder)), path, how)
    except ProcessingError as error:
        return Understood(problem=str(error))


def _understand(files: Sequence[FoundFile], path: Path, how: How) -> Understood:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    places = [(number, file, index) for number, file in enumerate(files) for index in range(file.page_count)]
    pages, rows = [], []
    for place, (number, file, index) in enumerate(places):
        words, seconds = _read(file.path, index, f"{digest}-{place}", how)
        page, row = _classified(words, seconds, place, number, how)
        pages.append(page)
        rows.append(row)
    groups = group_pages(rows, how.given_type, how.models)
    documents = tuple(
        _extracted(made, [pages[place].words for place in made.page_indices], how) for made in groups
    )
    for made in groups:  # a page is as sure as its neighbours make it
        for place, sure in zip(made.page_indices, made.sure, strict=False):
            pages[place] = replace(pages[place], confidence=sure)
    problem = next((f"{file.name}: {file.problem}" for file in files if file.problem), None)
    return Understood(tuple(pages), documents, problem)


# --- reading ---------------------------------------------------------------------------------------------


def _read(path: Path, index: int, key: str, how: How) -> tuple[bytes, float | None]:
    """The page as it is stored, and the CPU seconds its reading took, now or when it was kept."""
    kept = how.keep / f"{key}.words" if how.keep else None
    if kept is not None and kept.is_file():
        words = kept.read_bytes()
        if how.only_engine is None or page_text.unpack(words).engine in ("", how.only_engine):
            return words, _kept_seconds(kept)
    _warm(path, index, how)
    started = time.process_time()
    page = page_jobs.read(PageToRead(path, index, how.engine, how.mode))
    seconds = time.process_time() - started
    if kept is not None:
        _write(kept.with_suffix(".seconds"), f"{seconds:.4f}\n".encode())
        _write(kept, page.words)
    return page.words, seconds


def _kept_seconds(kept: Path) -> float | None:
    try:
        return float(kept.with_suffix(".seconds").read_text())
    except (OSError, ValueError):
        return None


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all: several children, and several commands, may keep readings in one folder."""
    private_folder(path.parent, tighten=False)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    private_file(temporary).write_bytes(content)
    temporary.replace(path)


_warmed: set[str] = set()  # engines and types that this process has used


def _warm(path: Path, index: int, how: How) -> None:
    """Load the engine's models before the clock starts: a worker loads them once, not once a page."""
    if how.engine in _warmed or how.mode == "text":
        return
    if how.mode == "ocr" or reading.trusted_layer(path, index) is None:
        reading.warm_up(how.engine)
        _warmed.add(how.engine)


# --- the steps of the pipeline ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    """A page as the components would have stored it."""

    page_index: int
    file_index: int
    status: str
    doc_type: str | None = None
    classification_confidence: float | None = None
    marks: Mapping[str, Any] | None = None
    origin: str | None = None


def _classified(
    words: bytes, seconds: float | None, place: int, file_index: int, how: How
) -> tuple[FoundPage, _Row]:
    rotation = page_text.unpack(words).rotation
    if how.given_type is not None:
        return FoundPage(how.given_type, 1.0, words, rotation, seconds, 0.0), _Row(
            place, file_index, PageStatus.READ
        )
    started = time.process_time()
    ((classified, said),) = page_jobs.classify_all([(words, "", how.keywords)], how.models)
    cpu = time.process_time() - started
    row = _Row(
        place,
        file_index,
        PageStatus.CLASSIFIED,
        classified.doc_type,
        round(classified.confidence, 4),
        json.loads(json.dumps(said)),
    )
    return FoundPage(classified.doc_type, classified.confidence, words, rotation, seconds, cpu), row


def _extracted(made: Made, words: Sequence[bytes], how: How) -> FoundDocument:
    specs, known = how.schemas.get(made.doc_type, ()), how.types.get(made.doc_type)
    if specs and made.doc_type not in _warmed:  # its patterns and weights are loaded once, too
        extract_all([Job(made.doc_type, specs, [None], models=how.models, known=known)])
        _warmed.add(made.doc_type)
    started = time.process_time()
    fields: Fields = {}
    if specs:
        rules = how.rules.get(made.doc_type, ())
        (fields,) = extract_all([Job(made.doc_type, specs, words, rules, models=how.models, known=known)])
    seconds = time.process_time() - started
    kept = dict(extracted.kept(how.asked.get(made.doc_type, ()), fields, how.threshold))
    return FoundDocument(made.doc_type, made.page_indices, made.standing.boundary, kept, seconds)
