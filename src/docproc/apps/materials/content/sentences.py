"""The sentences of a text, each with its page and chapter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from docproc.apps.materials.content.languages import words
from docproc.apps.materials.content.source import PAGE_BREAK, SourceText

_LEAST_WORDS = 5
_MOST_WORDS = 60
# A line at the top or the foot of more pages than this is printed on every page.
_MOST_REPETITIONS = 2

_BULLET = re.compile(r"^(?:[•·▪◦●○■►*–—-]|\(?[a-zA-Z]\)|\(?\d{1,2}[.)])\s+")
_ENDS = re.compile(r"[.!?…][\"'”’»)]*$")
_BOUNDARY = re.compile(r"(?<=[.!?…])[\"”’»)]*\s+(?=[\"“‘«(¿¡]*[A-ZÁÉÍÓÚÜÑ0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Sr|Sra|Srta|Dr|Dra|Ud|Uds|Prof|Mr|Mrs|Ms|St|Jr|vs|etc|e\.g|i\.e|cf|p\.\s?ej|ej|Fig|fig|núm|Núm|No|"
    r"pág|págs|pp?|vol|cap|ed|art|aprox|approx|ca?|a\.\s?C|d\.\s?C|A\.\s?C|EE|UU|Inc|Ltd|Co)\.|\b[A-ZÁÉÍÓÚÑ]\.)$"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    page: int
    # The index of its chapter; None before the first one.
    chapter: int | None
    # Its place among the text's sentences, and whether it opens a paragraph.
    index: int
    opens_paragraph: bool

    @property
    def word_count(self) -> int:
        return len(self.text.split())


@dataclass(slots=True)
class _Paragraph:
    """Lines joined to one text, and where in the source each of them began."""

    text: str = ""
    starts: list[tuple[int, int]] = field(default_factory=list)

    def add(self, line: str, offset: int) -> None:
        if self.text.endswith(("-", "\u00ad", "\u2010")) and line[:1].islower():
            self.text = self.text[:-1]
        elif self.text:
            self.text += " "
        self.starts.append((len(self.text), offset))
        self.text += line

    def offset_of(self, position: int) -> int:
        return [offset for start, offset in self.starts if start <= position][-1]


def sentences_of(source: SourceText) -> list[Sentence]:
    """Whole sentences of running text only: headings, tables, references and page numbers are left out."""
    found: list[Sentence] = []
    for paragraph in _paragraphs(source):
        opens = True
        for position, text in _split(paragraph.text):
            if _is_running_text(text):
                offset = paragraph.offset_of(position)
                page, chapter = source.page_at(offset), source.chapter_at(offset)
                found.append(Sentence(text, page, chapter, len(found), opens))
            opens = False
    return found


def _paragraphs(source: SourceText) -> Iterator[_Paragraph]:
    repeated = _printed_on_every_page(source)
    headings = {chapter.start for chapter in source.chapters}
    lengths = sorted(len(line.strip()) for line in source.text.splitlines() if line.strip()) or [0]
    width = lengths[len(lengths) * 3 // 4]  # of a full line: a quarter of them is longer
    paragraph, before = _Paragraph(), ""
    for line, offset in _lines(source.text):
        text = " ".join(line.split())
        if _letters(text) in repeated or (text and not any(sign.isalpha() for sign in text)):
            continue
        bullet = _BULLET.match(text)
        ends_short = len(before) < 0.7 * width and not before.endswith((",", "-")) and text[:1].isupper()
        if not text or offset in headings or bullet or ends_short:
            yield from _whole([paragraph])
            paragraph = _Paragraph()
        if text:
            paragraph.add(text[bullet.end() :] if bullet else text, offset)
        # A heading ends with its line, whatever follows.
        before = "" if offset in headings else line.strip()
    yield from _whole([paragraph])


def _whole(paragraphs: Iterable[_Paragraph]) -> Iterator[_Paragraph]:
    return (paragraph for paragraph in paragraphs if _ENDS.search(paragraph.text) or "." in paragraph.text)


def _lines(text: str) -> Iterator[tuple[str, int]]:
    offset = 0
    for line in re.split(r"[\n\f]", text):
        yield line, offset + len(line) - len(line.lstrip())
        offset += len(line) + 1


def _printed_on_every_page(source: SourceText) -> set[str]:
    ends: Counter[str] = Counter()
    for page in source.text.split(PAGE_BREAK):
        lines = [line.strip() for line in page.split("\n") if line.strip()]
        ends.update({_letters(line) for line in [*lines[:2], *lines[-2:]]})
    return {line for line, count in ends.items() if line and count > _MOST_REPETITIONS}


def _letters(line: str) -> str:
    return re.sub(r"[\d\W_]+", "", line).casefold()


def _split(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        if not _ABBREVIATION.search(text[start : boundary.start()]):
            yield start, text[start : boundary.end()].strip()
            start = boundary.end()
    if text[start:].strip():
        yield start, text[start:].strip()


def _is_running_text(text: str) -> bool:
    letters = sum(sign.isalpha() for sign in text)
    return (
        _LEAST_WORDS <= len(text.split()) <= _MOST_WORDS
        and len(words(text)) >= _LEAST_WORDS - 1
        and _ENDS.search(text) is not None
        and text.lstrip('"“‘«(¿¡')[:1].isupper() | text[:1].isdigit()
        and letters >= 0.65 * len(text)
        and "http" not in text
        and not re.search(r"(?:\.\s?){4,}|ISBN|\bet al\b|©", text)
    )
