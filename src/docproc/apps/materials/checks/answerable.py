"""Whether somebody who reads the quoted evidence, and nothing else, can answer the question.

This is the second opinion: it is given the question, the evidence and the options, not which one is
correct, and must come to the author's answer by itself. Where the question is a sentence with a gap, each
option is put into the gap and the evidence must have exactly one of the four sentences; otherwise the
option that the evidence supports most must be the author's, alone.
"""

from __future__ import annotations

import re

from docproc.apps.materials.checks.check import Grounds
from docproc.apps.materials.checks.grounded import evidence_of, has_words, support
from docproc.apps.materials.content.quiz import Option, OptionId, Question
from docproc.apps.materials.content.wording import normal

# The question must speak of what the evidence speaks of.
LEAST_IN_COMMON = 0.3
_GAP = re.compile(r"_{3,}")
_QUOTED = re.compile(r"[«“\"]([^«»“”\"]*_{3,}[^«»“”\"]*)[»”\"]")
# An option that another sentence supports with this share of the question's words may be right as well.
_SAID_ELSEWHERE = 0.75


def answerable(question: Question, grounds: Grounds) -> str | None:
    if not grounds.words_compare and not _is_quoted(question):
        return None  # in another language than the text, and without a number or a name to look for
    found = answer_from_evidence(question, grounds)
    return None if found == question.correct_answer else (found or "–")


def only_one_right(question: Question, grounds: Grounds) -> str | None:
    """No sentence of the text says of a distractor what the question asks for."""
    if not grounds.words_compare:
        return None
    asked = grounds.stems(_asked(question.text)) - grounds.stems(question.correct_option.text)
    if len(asked) < 2:
        return None
    for option in question.distractors:
        if len(option.text.split()) > 6:
            continue  # a whole statement: it is not said of anything
        for sentence in grounds.saying(option.text):
            common = asked & (grounds.stems(sentence.text) - grounds.stems(option.text))
            if len(common) >= _SAID_ELSEWHERE * len(asked):
                return option.text
    return None


def answer_from_evidence(question: Question, grounds: Grounds) -> OptionId | None:
    """The option that the evidence singles out; None where it singles out none."""
    evidence = evidence_of(question)
    sentence = _QUOTED.search(question.text)
    if sentence:
        filled = {
            option.id: _GAP.sub(lambda _gap, text=option.text: text, sentence[1])
            for option in question.options
        }
        fitting = [option_id for option_id, text in filled.items() if has_words(text, evidence)]
        return fitting[0] if len(fitting) == 1 else None
    if not _speaks_of(question, evidence, grounds):
        return None
    shares = {option.id: support(option.text, evidence, grounds) for option in question.options}
    best = max(shares.values())
    leading = [option for option in question.options if shares[option.id] == best]
    if best == 0:
        return None
    return leading[0].id if len(leading) == 1 else _nearest(question, leading, evidence, grounds)


def _nearest(question: Question, options: list[Option], evidence: str, grounds: Grounds) -> OptionId | None:
    """Of several options in the evidence, the one nearest to the question's words.

    "The prize for Physics in 1903 and for Chemistry in 1911" answers either year, by what is asked for.
    """
    tokens = re.findall(r"\w+", normal(evidence))
    asked = {word for word in tokens if grounds.stems(word) & grounds.stems(_asked(question.text))}
    closeness: dict[OptionId, float] = {}
    for option in options:
        at = _places(re.findall(r"\w+", normal(option.text)), tokens)
        closeness[option.id] = max(
            (
                sum(
                    1 / abs(place - other)
                    for other, word in enumerate(tokens)
                    if word in asked and other != place
                )
                for place in at
            ),
            default=0.0,
        )
    first, second = sorted(closeness.values(), reverse=True)[:2]
    leading = [option_id for option_id, near in closeness.items() if near == first]
    return leading[0] if first > 1.15 * second else None


def _places(wanted: list[str], tokens: list[str]) -> list[int]:
    return [
        place
        for place in range(len(tokens) - len(wanted) + 1)
        if tokens[place : place + len(wanted)] == wanted
    ]


def _is_quoted(question: Question) -> bool:
    """Whether an option stands in the evidence word by word, so that another language does not matter."""
    return any(has_words(option.text, evidence_of(question)) for option in question.options)


def _speaks_of(question: Question, evidence: str, grounds: Grounds) -> bool:
    if not grounds.words_compare:
        return True
    asked = grounds.stems(_asked(question.text))
    return not asked or len(asked & grounds.stems(evidence)) >= LEAST_IN_COMMON * len(asked)


def _asked(text: str) -> str:
    """The question without where it stands in the text ("According to “The cell”, …")."""
    return re.sub(r"^(?:Según|According to|En|In) [«“\"][^»”\"]*[»”\"],?\s*", "", text)
