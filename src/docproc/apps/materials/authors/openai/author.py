"""The author that asks a model: one question where the text fits, notes of every part first where it does
not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from docproc.apps.materials.authors.openai import parts, prompts
from docproc.apps.materials.authors.openai.asking import Asker
from docproc.apps.materials.authors.openai.passages import passages
from docproc.apps.materials.authors.openai.replies import (
    BadReplyError,
    NotesReply,
    QuestionReply,
    QuizReply,
    SummaryReply,
)
from docproc.apps.materials.content.drafts import QuestionDraft, assemble
from docproc.apps.materials.content.evidence import Evidence, locate
from docproc.apps.materials.content.quiz import QUESTIONS, Quiz
from docproc.apps.materials.content.source import SourceText
from docproc.apps.materials.content.summary import GlossaryTerm, Section, Summary
from docproc.apps.materials.settings import MaterialsSettings

# What a shortened quotation must still have to be looked for.
_LEAST_QUOTE = 12


class OpenAiAuthor:
    """Implements `Author`. Each call of the model is a step of its own, kept by the asker."""

    name = "openai"

    def __init__(self, asker: Asker, settings: MaterialsSettings) -> None:
        self.asker = asker
        self.most_characters = parts.room(settings.materials_context_tokens, settings.materials_max_tokens)
        self.quiz_characters = int(settings.materials_quiz_tokens * parts.CHARACTERS_PER_TOKEN)

    async def summarise(self, source: SourceText, *, language: str) -> Summary:
        material = await self._material(source, language)
        messages = prompts.summary(material, language)
        return await self.asker.ask(
            "summary", messages, SummaryReply, lambda reply: self._summary(reply, source, language)
        )

    async def examine(self, source: SourceText, summary: Summary, *, language: str, questions: int) -> Quiz:
        if len(source.text) <= self.most_characters:
            # In a thread: ranking the sentences of a book takes a moment.
            material: Any = await asyncio.to_thread(passages, source, language, self.quiz_characters)
        else:
            material = await self._material(source, language)
        messages = prompts.quiz(material, language, questions)

        def made(reply: QuizReply) -> Quiz:
            drafts = _grounded(reply.questions[:questions], source)
            return assemble(reply.title, drafts, language=language, generator=self.name)

        return await self.asker.ask("quiz", messages, QuizReply, made)

    async def _material(self, source: SourceText, language: str) -> Any:
        """The text where it fits into one question; else notes of all its parts, made shorter until they fit.

        The notes' steps are the summary's: the quiz asks the same and finds the answers kept.
        """
        if len(source.text) <= self.most_characters:
            return source.text
        divided = parts.divide(source, self.most_characters)
        notes = [
            await self._notes(f"summary.notes.{number}", part.text, part.chapters, language)
            for number, part in enumerate(divided, start=1)
        ]
        round_number = 1
        while sum(map(len, notes)) > self.most_characters and len(notes) > 1:
            round_number += 1
            groups = parts.grouped(notes, self.most_characters)
            if len(groups) == len(notes):  # none of them fits beside another: shorter ones are needed
                groups = [[note] for note in notes]
            notes = [
                await self._notes(f"summary.notes.{round_number}.{number}", "\n".join(group), (), language)
                for number, group in enumerate(groups, start=1)
            ]
            if round_number > 6:
                break
        return [json.loads(note) for note in notes]

    async def _notes(self, step: str, text: str, chapters: Sequence[str], language: str) -> str:
        def made(reply: NotesReply) -> str:
            said = {"chapters": list(chapters), **reply.model_dump(mode="json")}
            return json.dumps(said, ensure_ascii=False)

        return await self.asker.ask(step, prompts.notes(text, chapters, language), NotesReply, made)

    def _summary(self, reply: SummaryReply, source: SourceText, language: str) -> Summary:
        return Summary(
            title=reply.title,
            language=language,
            sections=[
                Section(
                    **section.model_dump(exclude={"quotes"}),
                    order=order,
                    evidence=_found(section.quotes, source),
                )
                for order, section in enumerate(reply.sections, start=1)
            ],
            glossary=[
                GlossaryTerm(
                    term=term.term,
                    definition=term.definition,
                    order=order,
                    evidence=_found(term.quotes, source),
                )
                for order, term in enumerate(reply.glossary, start=1)
            ],
            reflection_questions=reply.reflection_questions,
            generator=self.name,
        )


def _found(quotes: Sequence[str], source: SourceText) -> list[Evidence]:
    """What stands in the text; a quotation that does not is no evidence."""
    return [found for quote in quotes if len(quote) >= _LEAST_QUOTE and (found := locate(source, quote))]


def _grounded(questions: Sequence[QuestionReply], source: SourceText) -> list[QuestionDraft]:
    """Those whose quotation stands in the text; raises BadReplyError where too few do, or one is no
    question."""
    drafts, lost = [], []
    for number, question in enumerate(questions, start=1):
        evidence = _found([question.quote], source)
        if not evidence:
            lost.append(f"the quote of question {number} does not stand in the text")
            continue
        options = {option.casefold() for option in (question.correct, *question.distractors)}
        if len(options) < 4:
            lost.append(f"two answers of question {number} are the same")
            continue
        said = question.model_dump(exclude={"quote"})
        drafts.append(QuestionDraft(**said, evidence=evidence))
    if len(drafts) < QUESTIONS[0]:
        raise BadReplyError("; ".join(lost[:5]) or f"there must be at least {QUESTIONS[0]} questions")
    return drafts
