"""The contract of an author: who writes a material's summary and quiz from its text."""

from __future__ import annotations

from typing import Protocol

from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.source import SourceText
from docproc.apps.materials.content.summary import Summary


class Author(Protocol):
    """Writes in the language it is asked for, from the text alone.

    Both calls may be repeated for the same text (a retry after a crash) and hold no transaction. An author
    that pays for its calls keeps their answers itself, so that a repetition costs nothing. May raise a
    TransientError (come again later) or a PermanentError (this text will never do).
    """

    # Written into every document: `generator`.
    name: str

    async def summarise(self, source: SourceText, *, language: str) -> Summary: ...

    async def examine(self, source: SourceText, summary: Summary, *, language: str, questions: int) -> Quiz:
        """A quiz of at most `questions` questions (5 to 10), every answer quoted with its page."""
        ...
