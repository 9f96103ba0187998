"""Spoils a page as scanning and OCR do: confused letters, lost accents and spaces, missing lines."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from docproc.reading.folding import fold
from docproc.reading.page import PageText, Source, Word

_CONFUSED = {
    "0": "O", "O": "0", "1": "l", "l": "1", "I": "l", "i": "l", "5": "S", "S": "5", "8": "B",
    "B": "8", "e": "c", "c": "e", "a": "o", "o": "a", "m": "rn", "n": "ri", "u": "v", "t": "f",
    "f": "t", "g": "q", "h": "b", "r": "t", ",": ".", ".": ",", "é": "6", "ó": "6", "á": "4",
    "N": "M", "M": "N", "E": "F", "Q": "O", "Z": "2", "2": "Z",
}  # fmt: skip


def spoiled(page: PageText, random: Random) -> PageText:
    """One reading of the page's scan, from nearly right to poor."""
    amount = random.choice((0.0, 0.01, 0.03, 0.06))
    plain = random.random() < 0.3
    words = [_misread(word, amount, plain, random) for word in page.words]
    words = _without_lines(
        _joined(words, random.choice((0.0, 0.05, 0.2)), random), random.choice((0.0, 0.05, 0.15)), random
    )
    return replace(page, words=tuple(words), source=Source.OCR)


def fragment(page: PageText, random: Random) -> PageText:
    """A page without its top, as when a photograph cuts it or a document goes on overleaf."""
    last = page.words[-1].line if page.words else 0
    start = random.uniform(0.15, 0.5) * last
    kept = tuple(word for word in page.words if word.line >= start)
    return replace(page, words=kept) if len(kept) >= 12 else page


def _misread(word: Word, amount: float, plain: bool, random: Random) -> Word:
    text = fold(word.text).upper() if plain and word.text.isupper() else word.text
    if amount:
        text = "".join(_CONFUSED.get(sign, sign) if random.random() < amount else sign for sign in text)
    return replace(word, text=text, confidence=random.uniform(0.75, 1.0))


def _joined(words: list[Word], share: float, random: Random) -> list[Word]:
    """Spaces that were not seen."""
    kept: list[Word] = []
    for word in words:
        before = kept[-1] if kept else None
        if before is not None and before.line == word.line and random.random() < share:
            box = (
                before.box[0],
                min(before.box[1], word.box[1]),
                word.box[2],
                max(before.box[3], word.box[3]),
            )
            kept[-1] = replace(before, text=before.text + word.text, box=box)
        else:
            kept.append(word)
    return kept


def _without_lines(words: list[Word], share: float, random: Random) -> list[Word]:
    lost = {line for line in {word.line for word in words} if random.random() < share}
    return [word for word in words if word.line not in lost]
