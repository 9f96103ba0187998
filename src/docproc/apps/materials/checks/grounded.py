"""Whether the answer rests on the text: its quotation stands on the page it names, and carries the answer."""

from __future__ import annotations

import re

from docproc.apps.materials.checks.check import Grounds
from docproc.apps.materials.content.evidence import is_found
from docproc.apps.materials.content.quiz import Question
from docproc.apps.materials.content.wording import normal

# Weaker evidence than this share of the answer's words goes to a person.
LEAST_SUPPORT = 0.6


def quoted(question: Question, grounds: Grounds) -> str | None:
    """Every quotation stands on its page, word by word."""
    for evidence in question.evidence:
        if not is_found(grounds.source, evidence):
            return f"p. {evidence.page}: {evidence.quote}"
    return None


def supported(question: Question, grounds: Grounds) -> str | None:
    """The evidence has the answer's numbers, and most of its words."""
    answer = question.correct_option.text
    share = support(answer, evidence_of(question), grounds)
    return None if share >= LEAST_SUPPORT else answer


def evidence_of(question: Question) -> str:
    return " ".join(evidence.quote for evidence in question.evidence)


def support(text: str, evidence: str, grounds: Grounds) -> float:
    """The share (0 to 1) of what a text says that the evidence says, too; 0 where a number is missing."""
    if has_words(text, evidence):
        return 1.0
    numbers = set(re.findall(r"\d+", text))
    if not numbers <= set(re.findall(r"\d+", evidence)):
        return 0.0
    if not grounds.words_compare:
        # Another language's words cannot be looked up: neither for nor against it.
        return LEAST_SUPPORT
    wanted = grounds.stems(text)
    if not wanted:
        return 1.0 if numbers else 0.0
    return len(wanted & grounds.stems(evidence)) / len(wanted)


def has_words(text: str, evidence: str) -> bool:
    """Whether the evidence has these very words, one after the other."""
    wanted, found = (" ".join(re.findall(r"\w+", normal(one))) for one in (text, evidence))
    return bool(wanted) and f" {wanted} " in f" {found} "
