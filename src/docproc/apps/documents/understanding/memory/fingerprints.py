"""The fingerprint of a document: the words that stay, where they stand, and whose it is."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from docproc.apps.documents.understanding.extract import candidates, normalise
from docproc.apps.documents.understanding.extract.layout import layout as lines_of
from docproc.apps.documents.understanding.validate import compact, holds
from docproc.reading.folding import fold
from docproc.reading.page import PageText

HEAD = 0.45  # the first third of a sheet, in page widths: letterhead and most labels
_MOST_WORDS = 200
_MOST_OWNERS = 16
_BELOW_HEAD = 0.5  # weight of a word below the head, where the rows of tables change with each document
# How far, in page widths, the places of a word on two pages may differ: scans are shifted by a margin;
# another column is further away.
_NEAR_X, _NEAR_Y = 0.06, 0.05
_SOMEWHAT_LIKE = 0.35
# Locality-sensitive hashing (MinHash) in bands of two hashes each: two layouts with a Jaccard
# similarity of 0.5 share at least one key with probability 1 - (1 - 0.5²)⁸ = 0.90.
_BANDS = 8
_NOT_LETTER = re.compile(r"[^a-z]+")
_DOMAIN = re.compile(r"(?:@|www\.)([a-z0-9-]{3,})\.")
_PUBLIC = frozenset({"gmail", "hotmail", "yahoo", "outlook", "icloud", "telefonica"})
_NUMBER = re.compile(r"(?<![a-z0-9])[a-z]{0,3}[-. ]?\d[\d .()/-]{4,16}\d(?:-?[a-z])?(?![a-z0-9])")
_LONG = 7  # least digits of a number that may identify an owner; amounts, years and postcodes have fewer

# A word, its left edge and its middle in page widths: a longer receipt moves nothing of its head.
Placed = tuple[str, float, float]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What the first page of a document looks like. `owners`: numbers and domains that tell whose."""

    words: tuple[Placed, ...]
    owners: frozenset[str]

    def as_json(self) -> dict[str, Any]:
        return {"words": [list(word) for word in self.words], "owners": sorted(self.owners)}

    @classmethod
    def of_json(cls, stored: dict[str, Any]) -> Fingerprint:
        return cls(tuple((text, x, y) for text, x, y in stored["words"]), frozenset(stored["owners"]))


def fingerprint(pages: Sequence[PageText], others: Collection[str] = ()) -> Fingerprint:
    """The fingerprint by a document's first page.

    `others` are values known to belong to somebody else, such as the customer's tax id: they say nothing of
    who wrote the document.
    """
    if not pages or not pages[0].words:
        return Fingerprint((), frozenset())
    page = pages[0]
    placed = [(plain(word.text), *place(word.box, page)[::2]) for word in page.words]
    words = [(text, round(x, 3), round(y, 3)) for text, x, y in placed if len(text) >= 3]
    theirs = {form for value in others for form in (compact(value).lower(), re.sub(r"\D", "", value))}
    owners = [each for each in _owners(page) if each[2:] not in theirs]
    return Fingerprint(tuple(words[:_MOST_WORDS]), frozenset(owners[:_MOST_OWNERS]))


def plain(text: str) -> str:
    """A word as it is compared; empty when it holds a digit, because then it changes."""
    return "" if any(map(str.isdigit, text)) else _NOT_LETTER.sub("", fold(text))


def place(box: tuple[float, float, float, float], page: PageText) -> tuple[float, float, float]:
    """Left edge, right edge and middle of a box in page widths."""
    tall = page.height / page.width if page.width else 1.0
    return box[0], box[2], (box[1] + box[3]) / 2 * tall


def _owners(page: PageText) -> Iterable[str]:
    """Tax ids (`t:`) and domains (`w:`) anywhere, long numbers (`n:`) in the letterhead; dates are none."""
    document = lines_of([page])
    how = normalise.Conventions()
    for line in document.lines:
        tax_ids = [c.value for c in candidates.tax_ids(line, how) if holds("tax_id", c.value)]
        yield from ("t:" + compact(value).removeprefix("ES").lower() for value in tax_ids)
        for domain in _DOMAIN.findall(line.folded):
            if domain not in _PUBLIC:
                yield f"w:{domain}"
        if place(line.box, page)[2] < HEAD:
            known = {"n:" + re.sub(r"\D", "", value) for value in tax_ids}
            yield from (number for number in _numbers(line.folded) if number not in known)


def _numbers(folded: str) -> Iterable[str]:
    """Telephones, register and tax numbers of any country, by their digits."""
    taken = normalise.dates(folded, True)
    for match in _NUMBER.finditer(folded):
        digits = re.sub(r"\D", "", match[0])
        dated = any(match.start() < end and match.end() > start for start, end, _ in taken)
        if len(digits) >= _LONG and not dated:
            yield f"n:{digits}"


def keys(layout: Fingerprint) -> list[str]:
    """What a store can look up: documents of like layout share some of these, others hardly any."""
    head = {text for text, _, y in layout.words if y < HEAD} or {text for text, _, _ in layout.words}
    if not head:
        return sorted(layout.owners)
    hashes = [hashlib.blake2b(word.encode(), digest_size=_BANDS * 8).digest() for word in sorted(head)]
    least = [min(digest[at : at + 4] for digest in hashes) for at in range(0, _BANDS * 8, 4)]
    bands = [f"h{number}:{(a + b).hex()}" for number, (a, b) in enumerate(pairwise(least)) if number % 2 == 0]
    return bands + sorted(layout.owners)


def similarity(one: Fingerprint, other: Fingerprint) -> float:
    """From 0 to 1: the share of words that both have at the same place, those of the letterhead twice."""
    if not one.words or not other.words:
        return 0.0
    down, right = _shift(one, other)
    places: dict[str, list[tuple[float, float]]] = {}
    for text, x, y in other.words:
        places.setdefault(text, []).append((x, y))
    shared = 0.0
    for text, x, y in one.words:
        for at in places.get(text, ()):
            level = abs(y + down - at[1]) < _NEAR_Y or (y >= HEAD and at[1] >= HEAD)  # tables push down
            if level and abs(x + right - at[0]) < _NEAR_X:
                places[text].remove(at)
                shared += _weight(y)
                break
    return min(1.0, 2 * shared / (_total(one) + _total(other)))


def _shift(one: Fingerprint, other: Fingerprint) -> tuple[float, float]:
    """How far the whole page moved: scans are not cut alike."""
    first = {text: (x, y) for text, x, y in reversed(one.words) if y < HEAD}
    second = {text: (x, y) for text, x, y in reversed(other.words) if y < HEAD}
    common = first.keys() & second.keys()
    if len(common) < 4:
        return 0.0, 0.0
    down = median(second[text][1] - first[text][1] for text in common)
    right = median(second[text][0] - first[text][0] for text in common)
    return down, right


def _weight(y: float) -> float:
    return 1.0 if y < HEAD else _BELOW_HEAD


def _total(layout: Fingerprint) -> float:
    return sum(_weight(y) for _, _, y in layout.words)


def same_owner(one: Fingerprint, other: Fingerprint, similar: float) -> float:
    """How sure it is that one party wrote both, from 0 to 1."""
    first, second = _tax_ids(one), _tax_ids(other)
    if first - second and second - first:  # each names somebody the other does not know
        return 0.0
    shared = one.owners & other.owners
    if any(each.startswith("t:") for each in shared):
        return min(1.0, 0.75 + 0.25 * similar)
    # A number alone may be a stamp of whoever keeps the papers, a domain a printer's.
    if shared and similar >= _SOMEWHAT_LIKE:
        return min(1.0, 0.7 + 0.3 * similar)
    return max(0.0, (similar - 0.6) / 0.35) if not (first or second) else 0.0


def _tax_ids(layout: Fingerprint) -> set[str]:
    return {each for each in layout.owners if each.startswith("t:")}
