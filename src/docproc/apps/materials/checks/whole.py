"""What only shows in the quiz as a whole: where the answers stand, and whether two questions are one."""

from __future__ import annotations

from collections import Counter

from docproc.apps.materials.checks.check import Finding
from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.wording import normal


def positions_spread(quiz: Quiz) -> Finding | None:
    """No place holds more than half of the answers, and at least three of the four hold one."""
    places = Counter(question.correct_answer for question in quiz.questions)
    place, most = places.most_common(1)[0]
    if most * 2 <= len(quiz.questions) + 1 and len(places) >= 3:
        return None
    return Finding("", "positions_spread", place)


def repeated(quiz: Quiz) -> list[Finding]:
    """Questions that ask for the same answer from the same evidence as one before them."""
    seen: set[tuple[str, str]] = set()
    findings = []
    for question in quiz.questions:
        key = (normal(question.evidence[0].quote), normal(question.correct_option.text))
        if key in seen:
            findings.append(Finding(question.id, "repeated", question.correct_option.text))
        seen.add(key)
    return findings
