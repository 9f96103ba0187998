"""All checks, in the order in which they are worth reading."""

from __future__ import annotations

from collections.abc import Sequence

from docproc.apps.materials.checks.answerable import answerable, only_one_right
from docproc.apps.materials.checks.check import Check, Finding, Grounds
from docproc.apps.materials.checks.grounded import quoted, supported
from docproc.apps.materials.checks.options import distinct, no_giveaway, no_synonym, plausible
from docproc.apps.materials.checks.whole import positions_spread, repeated
from docproc.apps.materials.content.quiz import Question, Quiz
from docproc.apps.materials.content.source import SourceText

# Of one question.
CHECKS: dict[str, Check] = {
    "quoted": quoted,
    "supported": supported,
    "answerable": answerable,
    "only_one_right": only_one_right,
    "distinct": distinct,
    "plausible": plausible,
    "no_giveaway": no_giveaway,
    "no_synonym": no_synonym,
}
# Of the quiz: `positions_spread` concerns no single question.
WHOLE = ("repeated", "positions_spread")


def examine(quiz: Quiz, source: SourceText) -> list[Finding]:
    """What is wrong with the quiz; nothing where every question passes every check."""
    grounds = Grounds.of(source, quiz.language)
    findings = [finding for question in quiz.questions for finding in examine_question(question, grounds)]
    findings += repeated(quiz)
    position = positions_spread(quiz)
    return [*findings, position] if position else findings


def examine_question(question: Question, grounds: Grounds) -> list[Finding]:
    return [
        Finding(question.id, name, detail)
        for name, check in CHECKS.items()
        if (detail := check(question, grounds)) is not None
    ]


def marked(quiz: Quiz, findings: Sequence[Finding]) -> Quiz:
    """The quiz with `needs_review` of each question naming the checks it did not pass."""
    questions = [
        question.model_copy(
            update={"needs_review": [found.check for found in findings if found.question_id == question.id]}
        )
        for question in quiz.questions
    ]
    return quiz.model_copy(update={"questions": questions})
