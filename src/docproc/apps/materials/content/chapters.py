"""Finds the chapters of a text by its headings, because what reads it gives pages and lines only.

The kinds of headings are tried from the most explicit to the least ("Capítulo 3", "3. The cell", "THE CELL",
a short line alone); the first kind that occurs at least twice is the one this text uses. Lines of a table of
contents and running heads, which look the same, are told apart by their page numbers, by repetition and by
having no text below them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from docproc.apps.materials.content.source import PAGE_BREAK, Chapter, SourceText

_LEAST_WORDS_OF_A_CHAPTER = 25
_MOST_WORDS_OF_A_HEADING = 12
# A line that heads more pages than this is the running head, not a heading.
_MOST_REPETITIONS = 2

_NAMED = re.compile(
    r"^(?:cap[ií]tulo|chapter|tema|unidad|unit|lecci[oó]n|lesson|parte|part|m[oó]dulo|module|bloque)"
    r"\s+(?:\d{1,2}|[ivxlc]{1,6}|uno|dos|tres|one|two|three)\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(\d{1,2})[.)]?\s{1,4}(?=[^\W\d_])")
_IN_CONTENTS = re.compile(r"(?:\.\s?){4,}|\s{3,}\d{1,3}$")
_CONTENTS = {
    "contents",
    "table of contents",
    "índice",
    "contenido",
    "contenidos",
    "índice general",
    "sumario",
}
_ENDS_A_SENTENCE = re.compile(r"[.,;:!?]$")


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    start: int
    end: int
    # Whether no text stands right above or right below it.
    first: bool
    alone: bool


def with_chapters(source: SourceText) -> SourceText:
    """The same text with its chapters; one chapter for the whole where there are no headings."""
    if source.chapters:
        return source
    chapters = _chapters(source.text) or [_whole(source)]
    return source.model_copy(update={"chapters": chapters})


def _chapters(text: str) -> list[Chapter]:
    lines = [line for line in _lines(text) if _can_head(line)]
    often = Counter(_letters(line.text) for line in lines)
    once = [line for line in lines if often[_letters(line.text)] <= _MOST_REPETITIONS]
    for is_heading in _KINDS:
        chapters = _between(text, [line for line in once if is_heading(line)])
        if len(chapters) >= 2:
            return chapters
    return []


def _lines(text: str) -> Iterator[_Line]:
    offset, above = 0, ""
    raw = re.split(r"(\n|\f)", text)
    for index in range(0, len(raw), 2):
        line, below = raw[index], raw[index + 2] if index + 2 < len(raw) else ""
        ends_page = index + 1 < len(raw) and raw[index + 1] == PAGE_BREAK
        if line.strip():
            first = not above.strip()
            yield _Line(line.strip(), offset, offset + len(line), first, first and not below.strip())
        above = "" if ends_page else line
        offset += len(line) + 1


def _can_head(line: _Line) -> bool:
    return (
        3 <= len(line.text) <= 120
        and len(line.text.split()) <= _MOST_WORDS_OF_A_HEADING
        and not _IN_CONTENTS.search(line.text)
        and line.text.casefold() not in _CONTENTS
    )


def _letters(text: str) -> str:
    """A running head differs from page to page by the page's number."""
    if _NAMED.match(text):
        return text.casefold()  # "Chapter 1" and "Chapter 2" are two headings
    return re.sub(r"[\d\W_]+", "", text).casefold() or text


def _is_named(line: _Line) -> bool:
    return line.first and _NAMED.match(line.text) is not None and not line.text.endswith((",", ";"))


def _is_numbered(line: _Line) -> bool:
    return (
        line.first
        and _NUMBERED.match(line.text) is not None
        and line.text[_NUMBERED.match(line.text).end()].isupper()  # type: ignore[union-attr]
        and not _ENDS_A_SENTENCE.search(line.text)
    )


def _is_capital(line: _Line) -> bool:
    letters = [sign for sign in line.text if sign.isalpha()]
    return line.first and len(letters) >= 4 and all(sign.isupper() for sign in letters)


def _is_alone(line: _Line) -> bool:
    return (
        line.alone
        and line.text[0].isupper()
        and len(line.text.split()) <= 9
        and not _ENDS_A_SENTENCE.search(line.text)
        and sum(sign.isalpha() for sign in line.text) >= 4
    )


_KINDS: tuple[Callable[[_Line], bool], ...] = (_is_named, _is_numbered, _is_capital, _is_alone)


def _between(text: str, headings: list[_Line]) -> list[Chapter]:
    """From each heading to the next one; a heading with next to nothing below it is no chapter."""
    chapters = []
    ends = [line.start for line in headings[1:]] + [len(text)]
    for line, end in zip(headings, ends, strict=False):
        if len(text[line.end : end].split()) >= _LEAST_WORDS_OF_A_CHAPTER:
            chapters.append(Chapter(title=_title(text, line), start=line.start, end=end))
    return chapters


def _title(text: str, line: _Line) -> str:
    """Its line without the number; where the line is "Chapter 3" only, the line below is the title."""
    named = _NAMED.match(line.text)
    rest = line.text[named.end() :] if named else _NUMBERED.sub("", line.text)
    rest = rest.strip(" .:-–—)\t")
    if rest:
        return " ".join(rest.split())
    below = text[line.end :].lstrip("\n ").split("\n", 1)[0].strip()
    is_title = 0 < len(below.split()) <= _MOST_WORDS_OF_A_HEADING and not _ENDS_A_SENTENCE.search(below)
    return " ".join((below if is_title else line.text).split())


def _whole(source: SourceText) -> Chapter:
    first_line = next((line.strip() for line in source.text.splitlines() if line.strip()), "")
    title = source.title or " ".join(first_line.split()[:_MOST_WORDS_OF_A_HEADING])
    return Chapter(title=title[:200] or "–", start=0, end=max(1, len(source.text)))
