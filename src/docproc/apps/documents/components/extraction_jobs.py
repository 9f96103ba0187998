"""The extractor's work in its child processes: packed pages in, fields out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from docproc.apps.documents.understanding import memory, models
from docproc.apps.documents.understanding.extract import document, language_model
from docproc.apps.documents.understanding.extract.document import extract
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.apps.documents.understanding.types import loader
from docproc.apps.documents.understanding.types.document_type import DocumentType
from docproc.reading import page as page_text
from docproc.reading.page import PageText

Fields = Mapping[str, FieldValue | None]
_BLANK = PageText((), page_text.Source.OCR)


@dataclass(frozen=True, slots=True)
class Job:
    """One document: its pages as stored, what is asked of it, and earlier ones that look alike."""

    doc_type: str
    specs: Sequence[FieldSpec]
    words: Sequence[bytes | None]
    rules: Sequence[str] = ()
    examples: Sequence[bytes] = ()
    models: Path | None = None  # weights learnt in this installation
    known: DocumentType | None = None  # what the workflow says of the type; None: as shipped

    @property
    def pages(self) -> list[PageText]:
        return [page_text.unpack(words) if words else _BLANK for words in self.words]

    @contextmanager
    def at_hand(self) -> Iterator[None]:
        """Its weights and its type are those in use."""
        with models.using(self.models), loader.using({self.doc_type: self.known} if self.known else {}):
            yield

    @property
    def remembered(self) -> list[memory.Example]:
        return [memory.unpack(example) for example in self.examples]


def extract_all(jobs: Sequence[Job]) -> list[Fields]:
    return [_extract(job) for job in jobs]


def _extract(job: Job) -> Fields:
    with job.at_hand():
        return extract(job.doc_type, job.specs, job.pages, job.rules, job.remembered)


@dataclass(frozen=True, slots=True)
class Opened:
    """A document of which all is found but what a language model may add; without a question it is done."""

    gathered: Fields
    question: Sequence[Mapping[str, str]] | None = None
    asked: Sequence[FieldSpec] = ()


def open_all(jobs: Sequence[Job], thresholds: Sequence[float | None]) -> list[Opened]:
    """What is found, and a question about fields missing or below the threshold; None asks nothing."""
    return [_open(job, threshold) for job, threshold in zip(jobs, thresholds, strict=True)]


def _open(job: Job, threshold: float | None) -> Opened:
    pages = job.pages
    with job.at_hand():
        gathered = document.gather(job.doc_type, job.specs, pages, job.remembered)
        if threshold is None:
            return Opened(gathered)
        values = document.check(job.specs, job.rules, gathered)
    asked = language_model.still_open(job.specs, values, threshold)
    question = language_model.question(job.doc_type, asked, pages) if asked else None
    return Opened(gathered, question, asked)


def settle_all(
    jobs: Sequence[Job], opened: Sequence[Opened], answers: Sequence[str | None]
) -> list[tuple[Fields, str | None]]:
    """The fields with what the model added, and what was wrong with its answer."""
    return [_settle(*each) for each in zip(jobs, opened, answers, strict=True)]


def _settle(job: Job, opened: Opened, answer: str | None) -> tuple[Fields, str | None]:
    gathered, problem = opened.gathered, None
    if answer is not None:
        try:
            gathered = language_model.heed(opened.asked, job.pages, gathered, answer)
        except ValueError as error:
            problem = str(error)
    with job.at_hand():
        return document.check(job.specs, job.rules, gathered), problem
