"""The author that needs no model: it quotes the text and asks about what it says."""

from __future__ import annotations

import asyncio

from docproc.apps.materials.authors.extractive.material import study
from docproc.apps.materials.authors.extractive.phrases import PHRASES
from docproc.apps.materials.authors.extractive.questions import candidates
from docproc.apps.materials.authors.extractive.selection import choose
from docproc.apps.materials.authors.extractive.summary import write_summary
from docproc.apps.materials.checks.check import Grounds
from docproc.apps.materials.content.drafts import assemble
from docproc.apps.materials.content.languages import ENGLISH
from docproc.apps.materials.content.quiz import QUESTIONS, Quiz
from docproc.apps.materials.content.source import SourceText
from docproc.apps.materials.content.summary import Summary
from docproc.errors import PermanentError

NAME = "extractive"


class ExtractiveAuthor:
    """An `Author` for Spanish and English texts.

    It quotes, so a text stays in its own language; what the author adds (questions, feedback, titles) is in
    the language asked for, in English where it does not know that one.
    """

    name = NAME

    async def summarise(self, source: SourceText, *, language: str) -> Summary:
        # Seconds for a book of 500 pages: not on the event loop.
        return await asyncio.to_thread(summarise, source, language)

    async def examine(self, source: SourceText, summary: Summary, *, language: str, questions: int) -> Quiz:
        return await asyncio.to_thread(examine, source, summary, language, questions)


def summarise(source: SourceText, language: str) -> Summary:
    phrases = PHRASES.get(language, PHRASES[ENGLISH])
    return write_summary(study(source), phrases, language=language, generator=NAME)


def examine(source: SourceText, summary: Summary, language: str, questions: int) -> Quiz:
    phrases = PHRASES.get(language, PHRASES[ENGLISH])
    material = study(source)
    # The options and quotations are the text's: they are checked in its language.
    grounds = Grounds.of(source, material.language)
    count = min(max(questions, QUESTIONS[0]), QUESTIONS[1])
    drafts = choose(candidates(material, phrases), grounds, count)
    if len(drafts) < QUESTIONS[0]:
        raise PermanentError(
            f"the text yields {len(drafts)} questions only, and a quiz has {QUESTIONS[0]}",
            remedy="Send a text with more prose, or let a model write: DOCPROC_MATERIALS_AUTHOR=openai",
        )
    title = phrases.quiz_title.format(title=summary.title)
    return assemble(title, drafts, language=language, generator=NAME)
