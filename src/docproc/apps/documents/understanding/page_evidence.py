"""Adds up the evidence of `evidence.py` on a page: what a person would name when asked why."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from docproc.apps.documents.understanding.evidence import (
    ABOUT_MONEY,
    NO_TITLE,
    PATTERNS,
    PROSE,
    TITLES,
    TOGETHER,
    WORDS,
)
from docproc.apps.documents.understanding.tax_ids import TAX_ID, compact
from docproc.apps.documents.understanding.types.document_type import Evidence, Weighted
from docproc.reading.folding import fold, phrases

OTHER = "other"
TYPES = tuple(TITLES)
_PRIOR_OTHER = 1.6  # score of `other` before any evidence: without evidence for a type, `other` wins
_TITLE_LINES = 8
_TITLE_WORDS = 7  # most words of a title; a longer line is a sentence …
_CAPITAL_WORDS = 12  # … unless it is in capitals, which may have so many
TITLE = 3.0  # least weight of a phrase that makes its line a title by itself
KEYWORD = 3.0  # weight of a phrase that a workflow gives for a type
_ENOUGH = 9.0  # scores are compressed above this: further evidence adds ever less
# Factor for types whose pages always show amounts (`bears_money`), on a page without any: such a page rather
# speaks about documents of the type.
_WITHOUT_MONEY = 0.5
_MONEY = re.compile(r"\d[.,]\s?\d{2}(?!\d)|[$€£]\s?\d|\d\s?[€£]")
_READ = 6_000  # characters that are looked at: the beginning of a page says what it is
_LEAST_JOINED = 9  # least letters of a phrase that is also searched without its spaces (OCR loses them)

_COMPILED = tuple((name, weight, re.compile(pattern)) for name, weight, pattern in PATTERNS)


@dataclass(frozen=True, slots=True)
class _Sign:
    """A phrase with a weight; a look for its `first` word rules most of them out fast."""

    first: str
    phrase: str
    joined: str | None  # as OCR reads it when it sees no spaces
    weight: float


def _signs(table: Mapping[str, Weighted]) -> dict[str, tuple[_Sign, ...]]:
    return {
        name: tuple(_sign(phrase, weight) for weight, group in weighted.items() for phrase in group)
        for name, weighted in table.items()
    }


def _sign(phrase: str, weight: float) -> _Sign:
    joined = phrase.replace(" ", "")
    can_join = joined != phrase and len(joined) >= _LEAST_JOINED
    return _Sign(phrase.split()[0], f" {phrase} ", joined if can_join else None, weight)


_WORD_SIGNS, _TITLE_SIGNS = _signs(WORDS), _signs(TITLES)
PHRASES = tuple(sorted({sign.phrase for signs in _WORD_SIGNS.values() for sign in signs}))
_SPANISH = "de la que el en y los se por con para una un las del al lo como mas su sus es no"
_ENGLISH = "the of and to in that is for it on with as are be this was at by an or we you your our"
_FUNCTION_WORDS = frozenset(f"{_SPANISH} {_ENGLISH}".split())


@dataclass(frozen=True, slots=True)
class Told:
    """What the evidence says: for each type a sum and its best title; the phrases; how like prose it is."""

    scores: dict[str, float]
    titles: dict[str, float]
    found: frozenset[str]
    vocabulary: frozenset[str]
    prose: float
    bears_money: bool
    tax_ids: int  # different ones, of the Spanish form


def tell(text: str) -> Told:
    text = text[:_READ]
    words, folded = phrases(text), fold(text)
    vocabulary = frozenset(words.split())
    prose, bears_money = prose_share(words), _MONEY.search(folded) is not None
    matched: set[str] = set()
    scores = {name: _told(name, words, vocabulary, matched) for name in TYPES}
    best = titles(text)
    for name, weight, pattern in _COMPILED:
        scores[name] += weight if pattern.search(folded) else 0.0
    for name, weight, signs in TOGETHER:
        scores[name] += weight if all(f" {sign} " in words for sign in signs) else 0.0
    for name in TYPES:
        scores[name] = _weighed(name, scores[name] + best[name], prose, bears_money)
    return Told(scores, best, frozenset(matched), vocabulary, prose, bears_money, tax_ids(folded))


def tax_ids(folded: str) -> int:
    """How many different ones: who sells on a ticket, who sells and who buys on an invoice."""
    return len({compact(number) for number in TAX_ID.findall(folded)})


def keyword_score(given: Sequence[str] | Evidence, text: str) -> float:
    """What the evidence that a workflow gives for a type adds up to; phrases alone all weigh the same."""
    evidence = given if isinstance(given, Evidence) else Evidence().with_words(given, KEYWORD)
    words, titles, folded = phrases(text), title_lines(text), fold(text)
    weights = [
        *(_keyword(weight, phrase, words, titles) for weight, phrase in _each(evidence.words)),
        *(
            weight if any(_spaced(phrase) in title for title in titles) else 0.0
            for weight, phrase in _each(evidence.titles)
        ),
        *(one.weight if re.search(one.pattern, folded) else 0.0 for one in evidence.patterns),
        *(
            one.weight if all(_spaced(word) in words for word in one.words) else 0.0
            for one in evidence.together
        ),
    ]
    return sum(weights)


def _each(groups: Mapping[float, Sequence[str]]) -> Iterator[tuple[float, str]]:
    return ((weight, phrase) for weight, given in groups.items() for phrase in given)


def _spaced(phrase: str) -> str:
    return f" {phrases(phrase).strip()} "


def _keyword(weight: float, phrase: str, words: str, titles: Sequence[str]) -> float:
    phrase = _spaced(phrase)
    if phrase not in words:
        return 0.0
    return weight * (1.6 if any(phrase in title for title in titles) else 1.0)


def _told(name: str, words: str, vocabulary: frozenset[str], signs: set[str]) -> float:
    total = 0.0
    for sign in _WORD_SIGNS[name]:
        if (sign.first in vocabulary and sign.phrase in words) or sign.joined in vocabulary:
            total += sign.weight
            signs.add(sign.phrase)
    return total


def title_lines(text: str) -> list[str]:
    """The short lines near the top, the most title-like places of a page."""
    lines = [line for line in text.split("\n", 40) if line.strip()][:_TITLE_LINES]
    return [phrases(part) for line in lines for part in _title_parts(line)]


def _title_parts(line: str) -> Sequence[str]:
    """A short line, and what stands in capitals at the ends of any, beside an address or a name."""
    words = line.split()
    if line.isupper():
        return (line,) if len(words) <= _CAPITAL_WORDS else ()
    first, last = [*takewhile(_is_capital, words)], [*takewhile(_is_capital, reversed(words))][::-1]
    parts = [" ".join(part) for part in (first, last) if 0 < len(part) <= _TITLE_WORDS]
    return [line, *parts] if len(words) <= _TITLE_WORDS else parts


def _is_capital(word: str) -> bool:
    return word.isupper() and "." not in word  # not S.L.


def titles(text: str) -> dict[str, float]:
    """How much each type's best title on the page weighs."""
    lines = title_lines(text)
    return {name: _title(name, lines) for name in TYPES}


def _title(name: str, lines: Sequence[str]) -> float:
    """The best title found; one that makes up its line counts in full, one among other words less."""
    best = 0.0
    for title in lines:
        if name in NO_TITLE and NO_TITLE[name].search(title):
            continue
        vocabulary = title.split()
        for sign in _TITLE_SIGNS[name]:
            if sign.weight > best and sign.first in vocabulary and sign.phrase in title:
                rest = len(vocabulary) - len(sign.phrase.split())
                best = max(best, sign.weight * (1.0 if rest == 0 else 0.85 if rest <= 3 else 0.6))
            elif sign.joined in vocabulary:
                best = max(best, sign.weight)
    return best


def best_title(titles: Mapping[str, float]) -> str | None:
    """The type that a page is titled, None where it bears no title."""
    name = max(titles, key=lambda kind: titles[kind])
    return name if titles[name] >= TITLE else None


def prose_share(words: str) -> float:
    """How much the page reads like sentences: 0 for tables and forms, 1 for running text."""
    tokens = words.split()
    if len(tokens) < 25:
        return 0.0
    share = sum(token in _FUNCTION_WORDS for token in tokens) / len(tokens)
    return min(max((share - 0.16) / 0.18, 0.0), 1.0)


def _weighed(name: str, score: float, prose: float, bears_money: bool) -> float:
    """Running text speaks about things rather than being them, except in contracts and letters."""
    if not bears_money and name in ABOUT_MONEY:
        score *= _WITHOUT_MONEY
    if name == OTHER:
        score += _PRIOR_OTHER + 2.5 * prose
    elif name not in PROSE:
        score *= 1 - 0.65 * prose
    return score if score <= _ENOUGH else _ENOUGH + math.log1p(score - _ENOUGH)
