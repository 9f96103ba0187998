"""A page as numbers, for the classifier: the evidence on it, how it is laid out, and the words it uses."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy
import numpy.typing

from docproc.apps.documents.understanding import page_evidence
from docproc.reading.page import PageText

Vector = numpy.typing.NDArray[numpy.float32]

_AMOUNT = re.compile(r"[-+]?[$€£]?\d{1,3}(?:[.,' ]?\d{3})*[.,]\d{2}[€$£]?-?$")
_DATE = re.compile(r"\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}$")
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?$")
# Scale of each group of features. One L2 penalty holds for all weights, so a group with a smaller scale is
# penalised more: those that overfit most easily (single words) get the smallest.
_SCORE_STEP, _TITLE_STEP, _PHRASE_STEP, WORD_STEP = 0.35, 0.35, 0.4, 0.2
_LAYOUT = 22
_FEW_WORDS = 25
_TITLED = 1.0  # what a page calls itself decides unless much speaks against it


@dataclass(frozen=True, slots=True)
class Names:
    """What the columns of a vector stand for beyond layout; stored with the weights."""

    types: tuple[str, ...]  # of the hand-written evidence
    phrases: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def width(self) -> int:
        return _LAYOUT + 3 * len(self.types) + len(self.phrases) + len(self.words)


def vector(page: PageText, told: page_evidence.Told, columns: dict[str, int], names: Names) -> Vector:
    """`columns` has the place of each phrase and word (see `columns_of`)."""
    made = numpy.zeros(names.width, dtype=numpy.float32)
    made[:_LAYOUT] = _layout(page, told)
    kinds = len(names.types)
    for place, kind in enumerate(names.types, start=_LAYOUT):
        made[place] = _SCORE_STEP * told.scores.get(kind, 0.0)
        made[place + kinds] = _TITLE_STEP * told.titles.get(kind, 0.0)
    if (titled := page_evidence.best_title(told.titles)) in names.types:
        made[_LAYOUT + 2 * kinds + names.types.index(titled)] = _TITLED
    for phrase in told.found:
        if (place := columns.get(phrase, -1)) >= 0:
            made[place] = _PHRASE_STEP
    for word in told.vocabulary:
        if (place := columns.get(word, -1)) >= 0:
            made[place] = WORD_STEP
    return made


def told_of(made: Vector, names: Names) -> tuple[dict[str, float], dict[str, float]]:
    """The scores and titles of the evidence by type, back from a vector."""
    kinds = len(names.types)
    scores, titles = made[_LAYOUT : _LAYOUT + kinds], made[_LAYOUT + kinds : _LAYOUT + 2 * kinds]
    return (
        dict(zip(names.types, (scores / _SCORE_STEP).tolist(), strict=True)),
        dict(zip(names.types, (titles / _TITLE_STEP).tolist(), strict=True)),
    )


def columns_of(names: Names) -> dict[str, int]:
    """Phrases have spaces around them, so they never meet a word."""
    start = _LAYOUT + 3 * len(names.types)
    return {name: start + place for place, name in enumerate((*names.phrases, *names.words))}


def _layout(page: PageText, told: page_evidence.Told) -> list[float]:
    words, lines = page.words, page.lines
    count = max(len(words), 1)
    texts = [word.text for word in words]
    amounts = [word for word in words if _AMOUNT.match(word.text)]
    tall = page.height / max(page.width, 1e-6)
    ending = sum(1 for line in lines if _AMOUNT.match(line[-1].text))
    letters = sum(len(text) for text in texts)
    is_sheet, names_two = 1.2 < tall < 1.6, told.tax_ids >= 2  # a ticket names no buyer
    return [
        1.0,
        math.log1p(len(words)) / 7,
        math.log1p(len(lines)) / 5,
        float(tall > 1.8),
        float(tall < 0.9),
        float(0.55 < tall < 0.72),
        min(len(words) / max(len(lines), 1), 15) / 10,
        told.prose,
        float(told.bears_money),
        sum(any(sign.isdigit() for sign in text) for text in texts) / count,
        len(amounts) / count * 2,
        math.log1p(len(amounts)) / 4,
        ending / max(len(lines), 1),
        min(sum(_DATE.match(text) is not None for text in texts), 8) / 8,
        float(any(_TIME.match(text) for text in texts)),
        sum(text.isupper() for text in texts) / count,
        letters / count / 8,
        float(len(words) < _FEW_WORDS),
        float(told.tax_ids == 1),
        float(names_two),
        float(is_sheet),
        float(is_sheet and names_two),
    ]
