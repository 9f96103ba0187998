"""A summary and a quiz in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from docproc.apps.materials.content.quiz import Question, Quiz
from docproc.apps.materials.content.summary import Summary
from docproc.apps.materials.exports.words import Words, words_of

# Prose is read, not scrolled sideways: a pipe has no width of its own, and a wide terminal makes long lines.
WIDTH = 100


def shown(summary: Summary, quiz: Quiz) -> RenderableType:
    """The text is never markup, whatever it has between brackets."""
    words = words_of(summary.language)
    return Constrain(Group(*_summary(summary, words), *_quiz(quiz, words)), WIDTH)


def _summary(summary: Summary, words: Words) -> Iterator[RenderableType]:
    yield Rule(Text(summary.title, style="bold"))
    if summary.generator == "extractive":
        yield Text(words.extractive, style="dim")
    for section in summary.sections:
        time = words.minutes.format(minutes=section.estimated_time_minutes)
        facts = f"  {words.difficulty[section.difficulty]} · {time}"
        yield Text.assemble("\n", (f"{section.order}. {section.title}", "bold"), (facts, "dim"))
        yield Padding(Text(section.content), (0, 0, 0, 3))
    yield Text(f"\n{words.glossary}", style="bold")
    terms = Table.grid(padding=(0, 2))
    terms.add_column(style="cyan", no_wrap=True)
    for term in summary.glossary:
        terms.add_row(Text(term.term), Text(term.definition))
    yield Padding(terms, (0, 0, 0, 3))
    yield Text(f"\n{words.reflection}", style="bold")
    for number, question in enumerate(summary.reflection_questions, start=1):
        yield Padding(Text(f"{number}. {question}"), (0, 0, 0, 3))


def _quiz(quiz: Quiz, words: Words) -> Iterator[RenderableType]:
    yield Text()
    yield Rule(Text(quiz.title, style="bold"))
    limits = {"minutes": quiz.time_limit_minutes, "score": quiz.passing_score, "total": quiz.total_points}
    yield Text(words.to_pass.format(**limits), style="dim")
    for question in quiz.questions:
        yield from _question(question, words)


def _question(question: Question, words: Words) -> Iterator[RenderableType]:
    asked = Text.assemble("\n", (f"{question.order}. ", "bold"), (question.text, "bold"))
    if question.needs_review:
        asked.append(f"  {words.needs_review}: {', '.join(question.needs_review)}", style="yellow")
    yield asked
    for option in question.options:
        is_correct = option.id == question.correct_answer
        mark = ("✓ ", "green") if is_correct else ("  ", "")
        yield Text.assemble(
            "   ", mark, (f"{option.id}) ", "dim"), (option.text, "green" if is_correct else "")
        )
    for evidence in question.evidence:
        yield Text(f"     {words.page.format(page=evidence.page)}: {evidence.quote}", style="dim")
