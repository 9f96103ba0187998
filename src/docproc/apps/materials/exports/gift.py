"""GIFT: the questions as plain text that Moodle and others import."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docproc.apps.materials.content.quiz import Question, Quiz
from docproc.apps.materials.content.summary import Summary
from docproc.apps.materials.exports.words import words_of

_CONTROL = re.compile(r"([~=#{}:\\])")


def write(summary: Summary, quiz: Quiz) -> bytes:
    lines = [f"// {_line(quiz.title)}", f"$CATEGORY: $course$/top/{_line(quiz.title).replace('/', '//')}", ""]
    for question in quiz.questions:
        lines += _question(question, quiz.language)
    return "\n".join(lines).encode()


def _question(question: Question, language: str) -> Iterator[str]:
    evidence = question.evidence[0]
    page = words_of(language).page.format(page=evidence.page)
    yield f"::{question.id}:: [plain]{_escaped(question.text)} {{"
    for option in question.options:
        is_correct = option.id == question.correct_answer
        said = question.feedback.correct if is_correct else question.feedback.incorrect
        yield f"{'=' if is_correct else '~'}{_escaped(option.text)}#{_escaped(said)}"
    yield f"####{_escaped(evidence.quote)} ({_escaped(page)})"
    yield from ("}", "")


def _escaped(text: str) -> str:
    return _CONTROL.sub(r"\\\1", _line(text))


def _line(text: str) -> str:
    """A line break would end a question or a comment."""
    return " ".join(text.split())
