"""Dates and figures in sentences, and wrong ones that look as right.

A wrong year or figure is one that the text gives elsewhere, of the same kind; where it gives too few, one
near the right one, with as many digits, written the same way.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from docproc.apps.materials.authors.extractive.grammar import GRAMMARS
from docproc.apps.materials.content.languages import SPANISH, STOPWORDS
from docproc.apps.materials.content.sentences import Sentence

_YEAR = re.compile(r"(?<![\d.,])(1\d{3}|20\d{2})(?![\d.,]\d|\d|\s?%)")
# A year of the first thousand, or before our era, is known by what stands beside it.
_OLD_YEAR = re.compile(
    r"(?<![\d.,])(\d{1,4})(?= ?(?:BCE?|AD|CE|a\. ?C\.|d\. ?C\.))|"
    r"(?:(?:[Ii]n|[Ee]n|until|since|hasta|desde) (?:(?:the year|el año) )?)(\d{3})(?=[,.;)]|$)"
)
_CENTURY = re.compile(r"\bsiglos? ([IVXL]+)\b|\b(\d{1,2}(?:st|nd|rd|th)) centur(?:y|ies)\b")
_FIGURE = re.compile(
    r"(?<![\w.,/-])(\d{1,3}(?:[., \u00a0]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)(?![\w/]|[.,]\d)"
)
_DATED = re.compile(r"\b(?:en|in|desde|since|hasta|until|año|year|by) $", re.IGNORECASE)
# A number that names a place in the book, not a quantity.
_REFERENCE = re.compile(
    r"(?:figura|fig\.|figure|tabla|table|cuadro|capítulo|chapter|página|page|pág\.|p\.|pp\.|sección|section|apartado|listing|"
    r"line|línea|index|índice|step|paso|version|versión|number|número|ejercicio|exercise|artículo|article|nota|note|núm\.|no\.|volumen|volume|tema|unidad|unit)\s*$",
    re.IGNORECASE,
)
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50}


class NumberKind(StrEnum):
    YEAR = "year"
    CENTURY = "century"
    FIGURE = "figure"
    NUMBER_WORD = "number_word"


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is written, and where in its sentence."""

    text: str
    kind: NumberKind
    start: int
    sentence: Sentence
    # What is counted: the word after it.
    unit: str = ""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def numbers_of(sentences: Sequence[Sentence], language: str) -> list[Number]:
    return [number for sentence in sentences for number in _in(sentence, language)]


def wrong_ones(number: Number, others: Sequence[Number], language: str) -> list[str]:
    """Three other numbers of the same kind, none of which its sentence names."""
    taken = {number.text}
    elsewhere = [
        other.text
        for other in sorted(others, key=lambda other: abs(other.sentence.index - number.sentence.index))
        if other.kind == number.kind and _is_alike(number, other)
    ]
    chosen: list[str] = []
    for text in [*elsewhere, *_near(number, language)]:
        if text not in taken and not re.search(rf"(?<!\w){re.escape(text)}(?!\w)", number.sentence.text):
            taken.add(text)
            chosen.append(text)
        if len(chosen) == 3:
            break
    return chosen


def _in(sentence: Sentence, language: str) -> Iterator[Number]:
    text = sentence.text
    taken: set[int] = set()
    for match in _CENTURY.finditer(text):
        group = 1 if match[1] else 2
        taken.update(range(match.start(group), match.end(group)))
        yield Number(match[group], NumberKind.CENTURY, match.start(group), sentence)
    for match in _YEAR.finditer(text):
        if match.start() not in taken and _is_year(text, match, language):
            taken.update(range(match.start(), match.end()))
            yield Number(match[1], NumberKind.YEAR, match.start(), sentence)
    for match in _OLD_YEAR.finditer(text):
        group = 1 if match[1] else 2
        if match.start(group) not in taken:
            taken.update(range(match.start(group), match.end(group)))
            yield Number(match[group], NumberKind.YEAR, match.start(group), sentence)
    for match in _FIGURE.finditer(text):
        if match.start() and match.start() not in taken and not _REFERENCE.search(text[: match.start()]):
            unit = _unit(text, match.end())
            if unit:
                yield Number(match[1], NumberKind.FIGURE, match.start(), sentence, unit)
    for match in re.finditer(r"(?<![\w-])[a-z]+(?![\w-])", text):
        if match.group() in GRAMMARS[language].number_words and _counts_something(
            text, match.end(), language
        ):
            unit = _unit(text, match.end())
            yield Number(match.group(), NumberKind.NUMBER_WORD, match.start(), sentence, unit)


def _is_year(text: str, match: re.Match[str], language: str) -> bool:
    """ "En 1492 llegaron …" dates, "1500 metros" and "in 1500 cells" count."""
    if not _counts_something(text, match.end(), language):
        return True
    counted = _unit(text, match.end())
    return _DATED.search(text[: match.start()]) is not None and not counted.endswith("s")


def _unit(text: str, end: int) -> str:
    match = re.match(r"\s?(%|°\s?[CFK]?|[^\W\d_]+(?:/[^\W\d_]+)?)", text[end:])
    return match[1].casefold() if match else ""


def _counts_something(text: str, end: int, language: str) -> bool:
    match = re.match(r" ([^\W\d_]+)", text[end:])
    return match is not None and match[1].islower() and match[1] not in STOPWORDS[language]


def _value(text: str) -> float:
    digits = re.sub(r"[., \u00a0](?=\d{3}(?!\d))", "", text).replace(",", ".")
    return float(re.sub(r"[^\d.]", "", digits) or 0)


def _is_alike(number: Number, other: Number) -> bool:
    if number.kind is NumberKind.FIGURE:
        small, large = sorted((_value(number.text), _value(other.text)))
        return other.unit == number.unit and large <= 5 * max(small, 0.001)
    if number.kind is NumberKind.YEAR:
        return abs(int(number.text) - int(other.text)) <= 150
    return True


def _near(number: Number, language: str) -> list[str]:
    # The same sentence always gives the same options: a retry must store the same quiz.
    chance = random.Random(hashlib.sha256(f"{number.sentence.text}{number.start}".encode()).digest())
    match number.kind:
        case NumberKind.YEAR:
            year = int(number.text)
            near = [str(year + step) for step in (-25, -14, -8, 7, 12, 23) if 0 < year + step < 2030]
        case NumberKind.CENTURY:
            near = _near_centuries(number.text)
        case NumberKind.NUMBER_WORD:
            words = GRAMMARS[language].number_words
            value = words[number.text]
            near = [word for word, other in words.items() if 0 < abs(other - value) <= 3]
        case NumberKind.FIGURE:
            near = _near_figures(number.text, language)
    chance.shuffle(near)
    return near


def _near_figures(text: str, language: str) -> list[str]:
    """Numbers of the same size and precision: 206 gives 165, 247, 309 …; 70,5 gives 56,4 …"""
    mark = re.search(r"[.,](\d+)$", text)
    is_decimal = mark is not None and not re.fullmatch(r"\d{1,3}(?:[., \u00a0]\d{3})+", text)
    decimals = len(mark[1]) if mark and is_decimal else 0
    value = _value(text)
    whole = str(int(value))
    # 300 000 has one figure that says something: its wrong neighbours have no more.
    step = 10 ** (len(whole) - len(whole.rstrip("0"))) if value >= 10 and not decimals else 1
    near = []
    for factor in (0.5, 0.6, 0.75, 0.85, 1.2, 1.25, 1.4, 1.5, 2):
        other = round(value * factor / step) * step if not decimals else round(value * factor, decimals)
        if other > 0 and other != value and abs(other - value) >= 1 / 10**decimals:
            near.append(_like(text, other, decimals, language))
    if value < 4 and not decimals:
        near += [str(int(value) + step) for step in (1, 2, 3)]
    return list(dict.fromkeys(near))


def _like(text: str, value: float, decimals: int, language: str) -> str:
    separator = re.search(r"\d([., \u00a0])\d{3}(?!\d)", text)
    grouped = f"{value:,.{decimals}f}"
    decimal_mark = (
        "," if language == SPANISH and "." not in text.replace(separator[1] if separator else "", "") else "."
    )
    if decimals:
        decimal_mark = "," if re.search(rf",\d{{{decimals}}}$", text) else "."
    sign = separator[1] if separator else ""
    return grouped.replace(",", "\0").replace(".", decimal_mark).replace("\0", sign)


def _near_centuries(text: str) -> list[str]:
    if text.isalpha():
        return [_roman(value) for step in (-2, -1, 1, 2) if 0 < (value := _from_roman(text) + step) <= 21]
    value = int(re.sub(r"\D", "", text))
    return [_ordinal(value + step) for step in (-2, -1, 1, 2) if 0 < value + step <= 21]


def _from_roman(text: str) -> int:
    values = [_ROMAN[sign] for sign in text]
    return sum(
        -one if one < following else one for one, following in zip(values, [*values[1:], 0], strict=True)
    )


def _roman(value: int) -> str:
    signs = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
    text = ""
    for amount, sign in signs:
        text += sign * (value // amount)
        value %= amount
    return text


def _ordinal(value: int) -> str:
    ending = "th" if 10 <= value % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{ending}"
