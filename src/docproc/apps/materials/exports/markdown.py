"""Markdown: the summary, the quiz, and its answers at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.summary import Summary
from docproc.apps.materials.exports.words import Words, words_of

# Signs that would begin markup; an underscore is the gap of a question.
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~])")
_LINE_START = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)")


def write(summary: Summary, quiz: Quiz) -> bytes:
    words = words_of(summary.language)
    lines = [*_summary(summary, words), *_quiz(quiz, words)]
    return ("\n".join(lines).rstrip() + "\n").encode()


def plain(text: str) -> str:
    """The text itself, whatever it looks like."""
    escaped = _MARKUP.sub(r"\\\1", " ".join(text.split()))
    return _LINE_START.sub(r"\1\\\2", escaped)


def _summary(summary: Summary, words: Words) -> Iterator[str]:
    yield from (f"# {plain(summary.title)}", "")
    if summary.generator == "extractive":
        yield from (f"*{words.extractive}*", "")
    yield from (f"## {words.summary}", "")
    for section in summary.sections:
        time = words.minutes.format(minutes=section.estimated_time_minutes)
        facts = [words.difficulty[section.difficulty], time, words.on_pages(section.evidence)]
        yield from (f"### {section.order}. {plain(section.title)}", "")
        yield from (f"*{' · '.join(filter(None, facts))}*", "", plain(section.content), "")
    yield from (f"## {words.glossary}", "")
    yield from (f"- **{plain(one.term)}**: {plain(one.definition)}" for one in summary.glossary)
    yield from ("", f"## {words.reflection}", "")
    yield from (f"{number}. {plain(one)}" for number, one in enumerate(summary.reflection_questions, start=1))
    yield ""


def _quiz(quiz: Quiz, words: Words) -> Iterator[str]:
    yield from (f"## {plain(quiz.title)}", "")
    yield words.to_pass.format(
        minutes=quiz.time_limit_minutes, score=quiz.passing_score, total=quiz.total_points
    )
    yield ""
    for question in quiz.questions:
        points = words.points.format(points=question.points)
        yield from (f"{question.order}. {plain(question.text)} *({points})*", "")
        yield from (f"   - **{option.id})** {plain(option.text)}" for option in question.options)
        yield ""
    yield from (f"### {words.answers}", "")
    for question in quiz.questions:
        evidence = question.evidence[0]
        page = words.page.format(page=evidence.page)
        answer = plain(question.correct_option.text)
        yield f"{question.order}. **{question.correct_answer})** {answer} ({page}: {plain(evidence.quote)})"
