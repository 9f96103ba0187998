"""Reads a document with what earlier ones of its layout taught: the same place, or the same value."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from rapidfuzz.fuzz import ratio

from docproc.apps.documents.understanding.extract import candidates, normalise
from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.checks import problem
from docproc.apps.documents.understanding.extract.labels import sum_of
from docproc.apps.documents.understanding.extract.layout import Stretch
from docproc.apps.documents.understanding.extract.layout import layout as lines_of
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.apps.documents.understanding.memory.examples import (
    TEXT,
    Anchor,
    Example,
    Lesson,
    ValuePlace,
    same,
    squeezed,
)
from docproc.apps.documents.understanding.memory.fingerprints import (
    fingerprint,
    place,
    plain,
    same_owner,
    similarity,
)
from docproc.reading.page import PageText, Source

# Fields that say the same on every document of one issuer.
CONSTANT = frozenset(
    {"vendor_name", "vendor_tax_id", "company_name", "company_tax_id", "currency", "bank_name", "issuer"}
)
LIKE = 0.5  # least similarity of two layouts for one to teach anything about the other
_FITS = 0.45  # least fit (0 to 1) of a candidate's place with the place of the example's value
_SAME_OWNER = 0.5
# Tolerance of places, in page widths: a few letters across, less than a line down.
_TIGHT_X, _TIGHT_Y = 0.035, 0.011
# Factor of the weight of an anchor word that the page does not have: it may be a table's, whose words change.
_GONE = 0.25
_HIGHEST = 0.98
# A corrected value overrules the one that was read from this confidence on, or from that one's if lower.
_SURE_ENOUGH = 0.6
_NEARLY = 80.0  # least similarity, of 100, of a name to itself with some letters misread
_DOUBT = 0.6  # factor of the confidence of a value where documents of this layout had none
# What may fail its check digits and still be right: a person who has seen it once is not asked again.
_ODD_KINDS = ("tax_id", "iban", "number")
_STRONGER = (Source.EMBEDDED, Source.CODE)


@dataclass(frozen=True, slots=True)
class Recalled:
    """A value that an example speaks for, and how much."""

    value: str
    weight: float
    corrected: bool
    order: float
    page: int = 0
    box: tuple[float, float, float, float] | None = None
    source: Source = Source.MEMORY
    is_its_word: bool = False  # it is what a person said of this issuer, not what stands in its place today

    @property
    def is_printed(self) -> bool:
        return self.box is not None


def recall(
    doc_type: str,
    fields: Sequence[FieldSpec],
    pages: Sequence[PageText],
    printed: Mapping[str, FieldValue | None],
    examples: Iterable[Example],
) -> dict[str, FieldValue | None]:
    """What was found, put right by what people said of documents that look like this one."""
    memory = _Memory(fields, pages, examples)
    if not memory.examples:
        return dict(printed)
    merged = {
        field.name: memory.absent(field, _merged(printed.get(field.name), memory.of(field), field))
        for field in fields
        if field.type != "table"
    }
    return {**printed, **_refuted(doc_type, printed, merged)}


class _Memory:
    """The examples that look like the document, and the document as they need it."""

    def __init__(self, fields: Sequence[FieldSpec], pages: Sequence[PageText], examples: Iterable[Example]):
        self.layout = fingerprint(pages)
        alike = [(similarity(example.layout, self.layout), example) for example in examples]
        owners = [same_owner(example.layout, self.layout, like) for like, example in alike]
        self.examples = [
            (like, owner, example)
            for (like, example), owner in zip(alike, owners, strict=True)
            if like >= LIKE or owner >= _SAME_OWNER
        ]
        self.document = lines_of(pages)
        self.how = normalise.conventions(self.document.text) if self.examples else normalise.Conventions()
        self._candidates: dict[str, list[Candidate]] = {}
        self._placed: dict[int, dict[str, list[tuple[float, float]]]] = {}

    def of(self, field: FieldSpec) -> Recalled | None:
        """The best that the examples say of a field; where they differ, the latest of the closest."""
        told = [each for each in self._told(field) if each.weight >= _FITS]
        if not told:
            return None
        best = max(told, key=lambda each: (round(each.weight, 1), each.order))
        agree = sum(same(each.value, best.value, field.type) for each in told)
        against = len(told) - agree
        weight = 1 - (1 - best.weight) * 0.7 ** (agree - 1) if agree > against else best.weight * 0.9
        return replace(best, weight=weight)

    def absent(self, field: FieldSpec, read: FieldValue | None) -> FieldValue | None:
        """Nothing, where people said that documents of this layout have no such value."""
        if read is None or read.source in _STRONGER:
            return read
        said = [
            (example.order, lesson)
            for like, _, example in self.examples
            for lesson in example.lessons
            if lesson.field == field.name and like >= LIKE
        ]
        latest = max(said, key=lambda each: each[0])[1] if said else None
        if latest is None or latest.value is not None or latest.before is None:
            return read
        if same(read.value, latest.before, field.type):
            return None
        return replace(read, confidence=read.confidence * _DOUBT)

    def _told(self, field: FieldSpec) -> Iterator[Recalled]:
        for like, owner, example in self.examples:
            for lesson in example.lessons:
                if lesson.field != field.name or lesson.value is None:
                    continue
                if field.name in CONSTANT and owner >= _SAME_OWNER:
                    yield self._again(lesson, owner, example.order)
                elif like >= LIKE and (there := self._there(lesson, like, example.order)):
                    yield there

    def _again(self, lesson: Lesson, owner: float, order: float) -> Recalled:
        """The same value as before, with its place if it is printed."""
        assert lesson.value is not None
        at = self._printed(lesson.value)
        if at is not None:
            source = self.document.pages[at.page].source
            return Recalled(lesson.value, owner, lesson.corrected, order, at.page, at.box, source, True)
        # It was printed there and is not here: read badly, or somebody else's.
        return Recalled(lesson.value, owner * (0.6 if lesson.places else 0.95), lesson.corrected, order)

    def _printed(self, value: str) -> Stretch | None:
        """Where a text stands, some letters read wrongly perhaps."""
        wanted = squeezed(value)
        if len(wanted) < 3:
            return None
        for line in self.document.lines:
            for column in line.columns():
                text = squeezed(column.text)
                if wanted in text:
                    return column
                if abs(len(text) - len(wanted)) <= 3 and ratio(text, wanted) >= _NEARLY:
                    return column
        return None

    def _there(self, lesson: Lesson, like: float, order: float) -> Recalled | None:
        """What stands where the example's value stood."""
        fits = [
            (self._fit(spot, candidate), candidate)
            for spot in lesson.places
            for candidate in self._possible(lesson, spot)
        ]
        if not fits:
            return None
        fit, candidate = max(fits, key=lambda each: each[0])
        next_best = max((other for other, c in fits if c.value != candidate.value), default=0.0)
        weight = fit * (0.6 + 0.4 * like)
        if fit > 0:  # nothing else stands nearly as well: what little is off was a shifted page
            weight = 1 - (1 - weight) * (1 - 0.6 * (1 - next_best / fit))
        weight *= math.sqrt(min(1.0, candidate.at.confidence + 0.02))
        weight *= 1.0 if lesson.kind == TEXT or _shape(candidate.value) == _shape(lesson.value) else 0.92
        source = self.document.pages[candidate.at.page].source
        value, at = candidate.value, candidate.at
        if lesson.field in CONSTANT and ratio(squeezed(value), squeezed(lesson.value or "")) >= _NEARLY:
            value = lesson.value or value  # as a person spelt it, not as it was read this time
        again = lesson.kind in _ODD_KINDS and same(candidate.value, lesson.value, "string")
        return Recalled(value, weight, lesson.corrected, order, at.page, at.box, source, again)

    def _possible(self, lesson: Lesson, spot: ValuePlace) -> Iterator[Candidate]:
        last = len(self.document.pages) - 1
        pages = {spot.page, last - spot.from_end}
        possible = self._texts(spot) if lesson.kind == TEXT else self._of_kind(lesson.kind)
        # What check digits or looks speak against is not what a person meant.
        yield from (each for each in possible if each.at.page in pages and each.merit > -1.9)

    def _of_kind(self, kind: str) -> list[Candidate]:
        if kind not in self._candidates:
            self._candidates[kind] = candidates.find(kind, self.document, self.how)
        return self._candidates[kind]

    def _texts(self, spot: ValuePlace) -> Iterator[Candidate]:
        """What stands in a column after the words that stood before the example's value."""
        for line in self.document.lines:
            for column in line.columns():
                folded = line.folded[column.start : column.end]
                if not folded.startswith(spot.before):
                    continue
                start = column.start + len(spot.before)
                end = _cut(line.folded, spot.after, start, column.end)
                text = line.text[start:end]
                start += len(text) - len(text.lstrip(" :.-"))
                text = line.text[start:end].rstrip(" :,;-|")
                if text:
                    yield Candidate(text, line.stretch(start, start + len(text)))

    def _fit(self, spot: ValuePlace, candidate: Candidate) -> float:
        """How well a value stands to the words around it, as the example's did; 1 is exactly."""
        page = self.document.pages[candidate.at.page]
        x0, x1, y = place(candidate.at.box, page)
        near = 0.25 * _close(min(abs(x0 - spot.x0), abs(x1 - spot.x1)), y - spot.y)
        total = 0.25
        for anchor in spot.anchors:
            weight = 1 / (1 + 8 * (abs(anchor.left) + 3 * abs(anchor.down)))
            seen = self._words(page).get(anchor.word, ())
            total += weight if seen else weight * _GONE
            near += weight * max((_stands(anchor, x0 - x, x1 - x, y - at) for x, at in seen), default=0.0)
        return near / total

    def _words(self, page: PageText) -> dict[str, list[tuple[float, float]]]:
        if id(page) not in self._placed:
            placed: dict[str, list[tuple[float, float]]] = {}
            for word in page.words:
                left, _, middle = place(word.box, page)
                placed.setdefault(plain(word.text), []).append((left, middle))
            self._placed[id(page)] = placed
        return self._placed[id(page)]


def _cut(folded: str, after: str, start: int, end: int) -> int:
    """Where a text ends: before what came after the example's, or before the sign that opened it."""
    signs = [after.split()[0], after[0] if not after[0].isalnum() else ""] if after else []
    for sign in filter(None, signs):
        if (at := folded.find(sign, start, end)) > start:
            return at
    return end


def _stands(anchor: Anchor, left: float, right: float, down: float) -> float:
    return _close(min(abs(left - anchor.left), abs(right - anchor.right)), down - anchor.down)


def _close(across: float, down: float) -> float:
    if abs(down) > 3 * _TIGHT_Y or across > 3 * _TIGHT_X:  # most words are: nothing to compute
        return 0.0
    return math.exp(-((across / _TIGHT_X) ** 2) - (down / _TIGHT_Y) ** 2)


def _shape(value: str | None) -> str:
    """`F-2026/0042` → `a-9/9`."""
    return re.sub(r"[a-z]+", "a", re.sub(r"\d+", "9", (value or "").lower()))


def _merged(read: FieldValue | None, told: Recalled | None, field: FieldSpec) -> FieldValue | None:
    """Reading and memory together: they strengthen each other, or the correction wins."""
    if told is None or (read is not None and read.source in _STRONGER):
        return read
    trust = min(_HIGHEST, told.weight)
    if read is not None and same(read.value, told.value, field.type):
        both = 1 - (1 - read.confidence) * (1 - trust)
        value = told.value if field.name in CONSTANT else read.value  # as a person spelt it
        return FieldValue(
            value, min(both, 0.995), read.source, read.page, read.box, confirmed=told.is_its_word
        )
    if problem(field, told.value) and read is not None and not problem(field, read.value):
        return read  # what its validators refute is not what was meant
    enough = min(_SURE_ENOUGH, read.confidence) if read is not None and told.corrected else 0.0
    if read is not None and trust < (enough or read.confidence):
        return read  # too vague; or the layout was read right before, and nothing says that it is not now
    return FieldValue(
        told.value, trust, told.source, told.page, told.box, confirmed=told.is_its_word and told.is_printed
    )


def _refuted(
    doc_type: str, read: Mapping[str, FieldValue | None], merged: dict[str, FieldValue | None]
) -> dict[str, FieldValue | None]:
    """Memory gives way where the amounts that were read add up and the remembered ones do not."""
    parts = sum_of(doc_type)
    if parts and _adds_up(parts, read) and not _adds_up(parts, merged):
        return {**merged, **{name: read[name] for name in parts if name in merged}}
    return merged


def _adds_up(parts: Sequence[str], values: Mapping[str, FieldValue | None]) -> bool:
    parts_of_sum = [values.get(name) for name in parts]
    try:
        first, second, whole = (Decimal(each.value) for each in parts_of_sum if each is not None)
    except (ValueError, InvalidOperation):
        return False
    return abs(first + second - whole) <= Decimal("0.02")
