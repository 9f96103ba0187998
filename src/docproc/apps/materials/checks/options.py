"""Whether the options are fair: different, of one kind and size, none a second right answer or a hint.

The rule for plausible distractors: each is of the same kind as the answer (a year, a number, a name,
words), its length is between 0.4 and 2.5 times the answer's (or differs by twelve characters at most), and
none points at the other options ("all of the above").
"""

from __future__ import annotations

import re
import unicodedata

from docproc.apps.materials.checks.check import Grounds
from docproc.apps.materials.content.languages import STOPWORDS, stem, words
from docproc.apps.materials.content.quiz import Question
from docproc.apps.materials.content.wording import normal

_BAND = (0.4, 2.5)
_CLOSE_IN_CHARACTERS = 12
# The answer must not be the only long one or the only short one.
_LONGER = 1.5
_SHORTER = 0.55
_POINTS_AT_OTHERS = re.compile(
    r"\b(?:tod[oa]s l[oa]s (?:anteriores|demás)|ningun[oa] de l[oa]s (?:anteriores|demás)|a y b|b y c|"
    r"(?:all|none|both) of (?:the )?(?:above|these|them)|a and b|b and c)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^[^\w]*(?:\d[\d.,  ]*)(?:\s?(?:%|[^\W\d_]+\.?))*[^\w]*$")
_YEAR = re.compile(r"^(?:1\d{3}|20\d{2})$")
# Between a name and another name of the same thing.
_ALSO_CALLED = (
    r"(?:,? también (?:llamad[oa]s?|conocid[oa]s? como|denominad[oa]s?) |,? (?:also|or) (?:called|known as) |"
    r",? (?:o bien|es decir|o sea|that is|in other words),? | o | or | \()(?:la |el |los |las |the )?"
)


def distinct(question: Question, grounds: Grounds) -> str | None:
    """Four options that differ in more than articles, accents and number."""
    seen: dict[tuple[str, ...], str] = {}
    for option in question.options:
        key = _bare(option.text, grounds.language)
        if key in seen:
            return f"{seen[key]} / {option.text}"
        seen[key] = option.text
    return None


def plausible(question: Question, grounds: Grounds) -> str | None:
    answer = question.correct_option.text
    for option in question.distractors:
        if _POINTS_AT_OTHERS.search(option.text) or not _is_alike(answer, option.text):
            return option.text
    return answer if _POINTS_AT_OTHERS.search(answer) else None


def no_giveaway(question: Question, grounds: Grounds) -> str | None:
    """Neither by its length nor by standing in the question can the answer be told."""
    answer = question.correct_option.text
    lengths = [len(option.text) for option in question.distractors]
    if len(answer) > _LONGER * max(lengths) + _CLOSE_IN_CHARACTERS:
        return answer
    if len(answer) < _SHORTER * min(lengths) - _CLOSE_IN_CHARACTERS:
        return answer
    bare = " ".join(_bare(answer, grounds.language))
    asked = " ".join(_bare(question.text, grounds.language))
    others = [" ".join(_bare(option.text, grounds.language)) for option in question.distractors]
    if bare and f" {bare} " in f" {asked} " and not any(f" {other} " in f" {asked} " for other in others):
        return answer
    return None


def no_synonym(question: Question, grounds: Grounds) -> str | None:
    """No distractor is the answer in other words: by its number, as a part, or as the text names it."""
    answer = question.correct_option.text
    for option in question.distractors:
        if _is_same_number(answer, option.text) or _is_part(answer, option.text, grounds.language):
            return option.text
        if _is_called(answer, option.text, grounds):
            return option.text
    return None


def _is_alike(answer: str, other: str) -> bool:
    if kind_of(answer) != kind_of(other):
        return False
    ratio = len(other) / max(1, len(answer))
    return _BAND[0] <= ratio <= _BAND[1] or abs(len(other) - len(answer)) <= _CLOSE_IN_CHARACTERS


def kind_of(text: str) -> str:
    """What an option is: a year, a number, or words; names are told by their capital letters where short."""
    if _YEAR.match(text.strip()):
        return "year"
    if "%" in text:
        return "percentage"
    return "number" if _NUMBER.match(text) else "words"


def _bare(text: str, language: str) -> tuple[str, ...]:
    stopwords = STOPWORDS.get(language, frozenset())
    found = [word for word in re.findall(r"\w+", normal(text)) if word not in stopwords]
    return tuple(_plain(stem(word, language)) for word in found or words(text))


def _plain(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))


def _is_same_number(one: str, other: str) -> bool:
    first, second = (
        re.sub(r"(?<=\d)[., \u00a0](?=\d{3}(?!\d))", "", text).replace(",", ".") for text in (one, other)
    )
    numbers = [re.findall(r"\d+(?:\.\d+)?", text) for text in (first, second)]
    if not numbers[0] or not numbers[1] or "words" in (kind_of(one), kind_of(other)):
        return False
    return [float(number) for number in numbers[0]] == [float(number) for number in numbers[1]]


def _is_part(answer: str, other: str, language: str) -> bool:
    """ "la fotosíntesis" and "el proceso de fotosíntesis": short ones, one inside the other."""
    first, second = set(_bare(answer, language)), set(_bare(other, language))
    if not first or not second or kind_of(answer) != "words" or max(len(first), len(second)) > 4:
        return False
    return first <= second or second <= first


def _is_called(answer: str, other: str, grounds: Grounds) -> bool:
    if not grounds.words_compare or len(answer) > 60 or len(other) > 60:
        return False
    first, second = re.escape(normal(answer)), re.escape(normal(other))
    either = rf"\b(?:{first}{_ALSO_CALLED}{second}|{second}{_ALSO_CALLED}{first})\b"
    return any(re.search(either, normal(sentence.text)) for sentence in grounds.saying(other))
