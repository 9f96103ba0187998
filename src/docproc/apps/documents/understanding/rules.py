"""Adds up the evidence of `evidence.py` on a page: what a person would name when asked why."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from docproc.apps.documents.understanding.evidence import PATTERNS, TITLES, TOGETHER, WORDS, Weighted
from docproc.reading.folding import fold, phrases

OTHER = "other"
TYPES = tuple(TITLES)
_PRIOR_OTHER = 1.6  # a page that says nothing is `other`
_TITLE_LINES = 8
_TITLE_WORDS = 7  # a longer line is a sentence, not a title
_CAPITAL_WORDS = 12  # unless it is in capitals
_TITLE = 3.0  # a phrase that weighs as much is a title, not a word in a heading
_KEYWORD = 3.0  # of a phrase that a workflow gives for a type
_ENOUGH = 9.0  # evidence beyond this adds ever less
_ABOUT_MONEY = ("invoice", "receipt", "payslip", "bank_statement")
_WITHOUT_MONEY = 0.5  # a page that bears no amount only speaks of them
_MONEY = re.compile(r"\d[.,]\s?\d{2}(?!\d)|[$€£]\s?\d|\d\s?[€£]")
_READ = 6_000  # characters: the beginning of a page says what it is
# A line with one of these is not the title of an invoice, whatever else it says.
_NO_INVOICE = re.compile(r"\b(?:pro ?forma|simplificada|simplif|simpl|simplificat|factura simple)\b")
_TAX_ID = re.compile(
    r"\b(?:[a-hj-np-suvw][ .-]?\d{7}[ .-]?[0-9a-j]|\d{8} ?-?[a-z]|[xyz][ .-]?\d{7}[ .-]?[a-z])\b"
)
_LEAST_JOINED = 9  # letters of a phrase that is also known without its spaces

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
        name: tuple(_sign(phrase, weight) for weight, group in weighted for phrase in group)
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
    found: set[str] = set()
    scores = {name: _told(name, words, vocabulary, found) for name in TYPES}
    best = titles(text)
    for name, weight, pattern in _COMPILED:
        scores[name] += weight if pattern.search(folded) else 0.0
    for name, weight, signs in TOGETHER:
        scores[name] += weight if all(f" {sign} " in words for sign in signs) else 0.0
    for name in TYPES:
        scores[name] = _weighed(name, scores[name] + best[name], prose, bears_money)
    return Told(scores, best, frozenset(found), vocabulary, prose, bears_money, tax_ids(folded))


def tax_ids(folded: str) -> int:
    """How many different ones: who sells on a ticket, who sells and who buys on an invoice."""
    return len({re.sub(r"[ .-]", "", found) for found in _TAX_ID.findall(folded)})


def keyword_score(given: Sequence[str], text: str) -> float:
    """What the phrases that a workflow gives for a type add up to."""
    words, titles = phrases(text), title_lines(text)
    return sum(_keyword(phrases(phrase), words, titles) for phrase in given)


def _keyword(phrase: str, words: str, titles: Sequence[str]) -> float:
    phrase = f" {phrase.strip()} "
    if phrase not in words:
        return 0.0
    return _KEYWORD * (1.6 if any(phrase in title for title in titles) else 1.0)


def _told(name: str, words: str, vocabulary: frozenset[str], found: set[str]) -> float:
    total = 0.0
    for sign in _WORD_SIGNS[name]:
        if (sign.first in vocabulary and sign.phrase in words) or sign.joined in vocabulary:
            total += sign.weight
            found.add(sign.phrase)
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
        if name == "invoice" and _NO_INVOICE.search(title):
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
    return name if titles[name] >= _TITLE else None


def prose_share(words: str) -> float:
    """How much the page reads like sentences: 0 for tables and forms, 1 for running text."""
    tokens = words.split()
    if len(tokens) < 25:
        return 0.0
    share = sum(token in _FUNCTION_WORDS for token in tokens) / len(tokens)
    return min(max((share - 0.16) / 0.18, 0.0), 1.0)


def _weighed(name: str, score: float, prose: float, bears_money: bool) -> float:
    """Running text speaks about things rather than being them, except in contracts and letters."""
    if not bears_money and name in _ABOUT_MONEY:
        score *= _WITHOUT_MONEY
    if name == OTHER:
        score += _PRIOR_OTHER + 2.5 * prose
    elif name != "contract":
        score *= 1 - 0.65 * prose
    return score if score <= _ENOUGH else _ENOUGH + math.log1p(score - _ENOUGH)
