"""Divides a long text into parts that fit into one question each, none of its chapters left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from docproc.apps.materials.content.source import SourceText

# Characters of a token in Spanish text, on the careful side: models count fewer tokens than this expects.
CHARACTERS_PER_TOKEN = 3.0
# The instructions, and the room between them.
PROMPT_TOKENS = 1200


@dataclass(frozen=True, slots=True)
class TextPart:
    """Consecutive chapters, or a piece of one that is too long by itself."""

    text: str
    chapters: tuple[str, ...]


def room(context_tokens: int, answer_tokens: int) -> int:
    """How many characters of text fit beside the instructions and the answer."""
    return max(2000, int((context_tokens - answer_tokens - PROMPT_TOKENS) * CHARACTERS_PER_TOKEN))


def divide(source: SourceText, most_characters: int) -> list[TextPart]:
    """In the order of the text; what stands before the first chapter belongs to it."""
    parts: list[TextPart] = []
    text = ""
    chapters: tuple[str, ...] = ()
    for title, piece in _pieces(source, most_characters):
        if text and len(text) + len(piece) > most_characters:
            parts.append(TextPart(text, chapters))
            text, chapters = "", ()
        text += piece
        chapters = chapters if title in chapters else (*chapters, title)
    return [*parts, TextPart(text, chapters)] if text.strip() else parts


def _pieces(source: SourceText, most_characters: int) -> Iterator[tuple[str, str]]:
    """Of each chapter, cut at paragraphs where it is too long."""
    ends = [chapter.start for chapter in source.chapters[1:]] + [len(source.text)]
    starts = [0, *ends[:-1]]
    titles = [chapter.title for chapter in source.chapters] or [source.title or "–"]
    if not source.chapters:
        starts, ends = [0], [len(source.text)]
    for title, start, end in zip(titles, starts, ends, strict=True):
        while end - start > most_characters:
            cut = _cut(source.text, start, start + most_characters)
            yield title, source.text[start:cut]
            start = cut
        if source.text[start:end].strip():
            yield title, source.text[start:end]


def _cut(text: str, start: int, limit: int) -> int:
    """After the last paragraph, else line, else word before the limit."""
    for mark in ("\n\n", "\n", " "):
        found = text.rfind(mark, start + (limit - start) // 2, limit)
        if found > start:
            return found + len(mark)
    return limit


def grouped(texts: Sequence[str], most_characters: int) -> list[list[str]]:
    """Neighbours together, as many as fit."""
    groups: list[list[str]] = []
    size = 0
    for text in texts:
        if groups and size + len(text) <= most_characters:
            groups[-1].append(text)
            size += len(text)
        else:
            groups.append([text])
            size = len(text)
    return groups
