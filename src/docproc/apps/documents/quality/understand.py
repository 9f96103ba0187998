"""One file through reading, types, boundaries and fields, by the functions that production calls."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from docproc.apps.documents.components import extracted
from docproc.apps.documents.schemas import SchemaField
from docproc.apps.documents.understanding import models
from docproc.apps.documents.understanding.boundaries import Group, PageKind, group, marks
from docproc.apps.documents.understanding.classify import Classification, classify
from docproc.apps.documents.understanding.extract.document import extract
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.errors import ProcessingError
from docproc.private import private_file, private_folder
from docproc.reading import page as page_text
from docproc.reading import reading
from docproc.reading.files.unfold import FoundFile, unfold
from docproc.reading.page import PageText, Source


@dataclass(frozen=True)
class How:
    """What the workflow and the command say of how files are understood."""

    schemas: Mapping[str, Sequence[FieldSpec]]
    keywords: Mapping[str, Sequence[str]] = field(default_factory=dict)
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
    rotation: int  # that made it stand upright
    read_seconds: float | None  # of CPU; None: kept by somebody who did not note it
    classify_seconds: float


@dataclass(frozen=True)
class FoundDocument:
    doc_type: str
    page_indices: tuple[int, ...]
    confidence: float  # that it begins and ends where it does
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
    """In a child process: parsers and readers may crash."""
    try:
        with tempfile.TemporaryDirectory(prefix="docproc-eval-") as folder, models.using(how.models):
            return _understand(unfold(path, path.name, Path(folder)), path, how)
    except ProcessingError as error:
        return Understood(problem=str(error))


def _understand(files: Sequence[FoundFile], path: Path, how: How) -> Understood:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    places = [(number, file, index) for number, file in enumerate(files) for index in range(file.page_count)]
    texts, pages, kinds = [], [], []
    for place, (number, file, index) in enumerate(places):
        text, seconds = _read(file.path, index, f"{digest}-{place}", how)
        started = time.process_time()
        found, kind = _classified(text, number, how)
        cpu = time.process_time() - started
        texts.append(text)
        pages.append(
            FoundPage(found.doc_type, found.confidence, page_text.pack(text), text.rotation, seconds, cpu)
        )
        kinds.append(kind)
    documents = tuple(
        _extracted(made, [texts[place] for place in made.places], how)
        for made in group(kinds, by_file=how.given_type is not None, models=how.models)
    )
    problem = next((f"{file.name}: {file.problem}" for file in files if file.problem), None)
    return Understood(tuple(pages), documents, problem)


# --- reading ---------------------------------------------------------------------------------------------


def _read(path: Path, index: int, key: str, how: How) -> tuple[PageText, float | None]:
    """The page and the CPU seconds its reading took, now or when it was kept."""
    kept = how.keep / f"{key}.words" if how.keep else None
    if kept is not None and kept.is_file():
        text = page_text.unpack(kept.read_bytes())
        if how.only_engine is None or text.engine in ("", how.only_engine):
            return text, _kept_seconds(kept)
    _warm(path, index, how)
    started = time.process_time()
    text = reading.read_page(path, index, engine=how.engine, mode=how.mode)
    seconds = time.process_time() - started
    if kept is not None:
        _write(kept.with_suffix(".seconds"), f"{seconds:.4f}\n".encode())
        _write(kept, page_text.pack(text))
    # As it is kept, so that the next run gives the same answers.
    return page_text.unpack(page_text.pack(text)), seconds


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
    """Models are loaded once per worker, not per page: that is not the page's CPU."""
    if how.engine in _warmed or how.mode == "text":
        return
    if how.mode == "ocr" or reading.trusted_layer(path, index) is None:
        reading.warm_up(how.engine)
        _warmed.add(how.engine)


# --- the steps of the pipeline ---------------------------------------------------------------------------


def _classified(text: PageText, file_index: int, how: How) -> tuple[Classification, PageKind]:
    if how.given_type is not None:
        found = Classification(how.given_type, 1.0, {how.given_type: 1.0})
    else:
        found = classify(text, how.keywords or None, models=how.models)
    return found, PageKind(found.doc_type, found.confidence, marks(text), file_index)


def _extracted(made: Group, pages: Sequence[PageText], how: How) -> FoundDocument:
    specs = how.schemas.get(made.doc_type, ())
    if specs and made.doc_type not in _warmed:  # its patterns and weights are loaded once, too
        extract(made.doc_type, specs, [PageText((), Source.OCR)])
        _warmed.add(made.doc_type)
    started = time.process_time()
    fields = extract(made.doc_type, specs, pages, how.rules.get(made.doc_type, ())) if specs else {}
    seconds = time.process_time() - started
    kept = dict(extracted.kept(how.asked.get(made.doc_type, ()), fields, how.threshold))
    return FoundDocument(made.doc_type, made.places, made.confidence, kept, seconds)
