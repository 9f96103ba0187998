"""Labels against answers: every page, document and field gets a verdict, and every wrong field a cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from docproc.apps.documents.quality import matching
from docproc.apps.documents.quality.labels import LabelledDocument, LabelledFile
from docproc.apps.documents.quality.matching import Kind
from docproc.apps.documents.quality.understand import FoundDocument, Understood
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.reading import page as page_text
from docproc.reading.page import Box, PageText

Schemas = Mapping[str, Sequence[FieldSpec]]


class Cause(StrEnum):
    """Where a wrong field went wrong, at the first step that did."""

    UNREAD = "unread"  # the file could not be opened
    TYPE = "type"  # the document was taken for another type
    SPLIT = "split"  # its pages were grouped otherwise
    OCR = "ocr"  # the value is not among the words that were read
    CANDIDATE = "candidate"  # it is, but nothing was found
    NORMALISATION = "normalisation"  # the right place, another value
    RANKING = "ranking"  # another place was chosen
    INVENTED = "invented"  # a value although the label says that there is none


@dataclass(frozen=True)
class PageVerdict:
    file: Path
    index: int
    truth: str
    found: str | None  # None: it was not read
    confidence: float
    cpu_seconds: float | None  # reading and classification, and its share of the extraction

    @property
    def right(self) -> bool:
        return self.truth == self.found


@dataclass(frozen=True)
class FieldVerdict:
    """A labelled field. `truth` None: labelled as absent; `value` None: nothing was found."""

    file: Path
    doc_type: str
    found_type: str | None
    name: str
    kind: Kind
    truth: str | None
    value: str | None
    confidence: float
    similarity: float
    cause: Cause | None  # None: right
    page: int  # of the file: where the value was found, else the document's first
    box: Box | None
    asked: bool = False  # a check found a reason to ask a person, however sure it was
    seen_at: tuple[int, Box] | None = None  # of a wrong field: page and line where the labelled value stands

    @property
    def right(self) -> bool:
        return self.cause is None

    @property
    def straight(self) -> float:
        """The confidence that decides whether it goes straight through."""
        return 0.0 if self.asked else self.confidence


@dataclass(frozen=True)
class DocumentVerdict:
    """A labelled document: right when its type, its pages and all its labelled fields are."""

    file: Path
    doc_type: str
    pages: frozenset[int]
    found_type: str | None
    found_pages: frozenset[int]
    confidence: (
        float  # as production decides: of the least sure page or field, 0 when a required one is missing
    )
    fields: tuple[FieldVerdict, ...]

    @property
    def right(self) -> bool:
        return (
            self.doc_type == self.found_type
            and self.pages == self.found_pages
            and all(field.right for field in self.fields)
        )


@dataclass(frozen=True)
class FileVerdict:
    """All that is known of one file. `found` are the documents that were found, by their labelled pages."""

    file: Path
    pages: tuple[PageVerdict, ...]
    documents: tuple[DocumentVerdict, ...]
    found: tuple[tuple[str, frozenset[int]], ...]
    rotations: tuple[int, ...]  # of the file's pages
    problem: str | None


def judge(path: Path, labels: LabelledFile, understood: Understood, schemas: Schemas) -> FileVerdict:
    labelled = {index for document in labels.documents for index in document.page_indices}
    pairs = match(labels.documents, understood.documents)
    # Pages that nobody labelled say nothing about where documents end.
    split = ((document.doc_type, document.pages & labelled) for document in understood.documents)
    return FileVerdict(
        path,
        tuple(_page(path, index, labels, understood) for index in sorted(labelled)),
        tuple(_document(path, truth, answer, understood, schemas, labelled) for truth, answer in pairs),
        tuple((doc_type, pages) for doc_type, pages in split if pages),
        tuple(page.rotation for page in understood.pages),
        understood.problem or _beyond(labelled, len(understood.pages)),
    )


def _beyond(labelled: set[int], count: int) -> str | None:
    """A label for a page that is not there is a mistake in the label, but would look like one of ours."""
    last = max(labelled, default=-1)
    return (
        f"the labels name page {last + 1}, but it has {count}: correct labels.jsonl"
        if last >= count
        else None
    )


def match(
    labelled: Sequence[LabelledDocument], documents: Sequence[FoundDocument]
) -> list[tuple[LabelledDocument, FoundDocument | None]]:
    """Each labelled document with the answer that shares most of its pages, of two the one of its type.

    An answer belongs to one document only: two invoices taken for one are one right and one missing at best.
    """
    overlaps = sorted(
        (
            (-_overlap(truth.pages, answer.pages), truth.doc_type != answer.doc_type, place, number)
            for place, truth in enumerate(labelled)
            for number, answer in enumerate(documents)
            if truth.pages & answer.pages
        )
    )
    chosen: dict[int, int] = {}
    for _, _, place, number in overlaps:
        if place not in chosen and number not in chosen.values():
            chosen[place] = number
    return [
        (truth, documents[chosen[place]] if place in chosen else None) for place, truth in enumerate(labelled)
    ]


def _overlap(one: frozenset[int], other: frozenset[int]) -> float:
    return len(one & other) / len(one | other)


def _page(path: Path, index: int, labels: LabelledFile, understood: Understood) -> PageVerdict:
    truth = next(document.doc_type for document in labels.documents if index in document.page_indices)
    if index >= len(understood.pages):
        return PageVerdict(path, index, truth, None, 0.0, None)
    page = understood.pages[index]
    document = next((each for each in understood.documents if index in each.page_indices), None)
    extraction = document.seconds / len(document.page_indices) if document else 0.0
    cpu = None if page.read_seconds is None else page.read_seconds + page.classify_seconds + extraction
    doc_type = document.doc_type if document else page.doc_type  # its document's type is the page's
    return PageVerdict(path, index, truth, doc_type, page.confidence, cpu)


def _document(
    path: Path,
    truth: LabelledDocument,
    answer: FoundDocument | None,
    understood: Understood,
    schemas: Schemas,
    labelled: set[int],
) -> DocumentVerdict:
    fields = tuple(
        _field(path, name, value or None, truth, answer, understood, schemas)
        for name, value in sorted(truth.fields.items())
    )
    if answer is None:
        return DocumentVerdict(path, truth.doc_type, truth.pages, None, frozenset(), 0.0, fields)
    pages = answer.pages & labelled
    sure = _confidence(answer, fields, understood, schemas)
    return DocumentVerdict(path, truth.doc_type, truth.pages, answer.doc_type, pages, sure, fields)


def _confidence(
    answer: FoundDocument, fields: Sequence[FieldVerdict], understood: Understood, schemas: Schemas
) -> float:
    """Unlabelled fields are left out; a missing one counts only where a person would be asked for it."""
    required = {spec.name for spec in schemas.get(answer.doc_type, ()) if spec.required}
    sure = [answer.confidence, *(understood.pages[index].confidence for index in answer.page_indices)]
    sure += [each.straight for each in fields if each.value is not None or each.name in required]
    return min(sure)


def _field(
    path: Path,
    name: str,
    truth: str | None,
    document: LabelledDocument,
    answer: FoundDocument | None,
    understood: Understood,
    schemas: Schemas,
) -> FieldVerdict:
    spec = next((spec for spec in schemas.get(document.doc_type, ()) if spec.name == name), FieldSpec(name))
    kind = matching.kind_of(name, spec.type)
    value = answer.fields.get(name) if answer else None
    # A value counts whatever the document was taken for: the mistake in the type is counted with the pages.
    is_right = matching.same(kind, truth, value.value) if truth and value else truth is None and value is None
    return FieldVerdict(
        path,
        document.doc_type,
        answer.doc_type if answer else None,
        name,
        kind,
        truth,
        value.value if value else None,
        value.confidence if value else 0.0,
        matching.similarity(kind, truth, value.value if value else None) if truth else float(is_right),
        None if is_right else cause_of(kind, truth, value, document, answer, understood),
        answer.page_indices[value.page] if answer and value else min(document.pages),
        value.box if value else None,
        bool(value and value.reason),
        None if is_right or not truth else seen_at(kind, truth, document, understood),
    )


# --- causes ----------------------------------------------------------------------------------------------


def cause_of(
    kind: Kind,
    truth: str | None,
    value: FieldValue | None,
    document: LabelledDocument,
    answer: FoundDocument | None,
    understood: Understood,
) -> Cause:
    """The first step that went wrong."""
    if truth is None:
        return Cause.INVENTED
    if answer is None:
        read = any(index < len(understood.pages) for index in document.page_indices)
        return Cause.SPLIT if read else Cause.UNREAD
    if answer.doc_type != document.doc_type:
        return Cause.TYPE
    if answer.pages != document.pages:
        return Cause.SPLIT
    pages = [page_text.unpack(understood.pages[index].words) for index in answer.page_indices]
    if not matching.stands_in(kind, truth, [line for page in pages for line in page.text.split("\n")]):
        return Cause.OCR
    if value is None:
        return Cause.CANDIDATE
    if kind is Kind.NAME and matching.same(Kind.ID, truth, value.value):
        return Cause.OCR  # its words were read as one, or one as two
    if value.box and matching.stands_in(kind, truth, [_words_in(pages[value.page], value.box)]):
        return Cause.NORMALISATION
    return Cause.RANKING


def seen_at(
    kind: Kind, truth: str, document: LabelledDocument, understood: Understood
) -> tuple[int, Box] | None:
    """The first line of the document's pages on which the labelled value stands, if it was read in one."""
    for index in sorted(document.pages):
        if index < len(understood.pages):
            for line in page_text.unpack(understood.pages[index].words).lines:
                if matching.stands_in(kind, truth, [" ".join(word.text for word in line)]):
                    return index, page_text.union([word.box for word in line])
    return None


def _words_in(page: PageText, box: Box) -> str:
    """What is printed in the box, by the middles of the words."""
    x0, y0, x1, y1 = box
    return " ".join(
        word.text
        for word in page.words
        if x0 <= (word.box[0] + word.box[2]) / 2 <= x1 and y0 <= (word.box[1] + word.box[3]) / 2 <= y1
    )
