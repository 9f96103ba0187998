"""What one reviewed document teaches: each value, where it stood and what stood around it."""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import orjson

from docproc.apps.documents.understanding.extract import candidates, normalise
from docproc.apps.documents.understanding.extract.layout import Document, Stretch
from docproc.apps.documents.understanding.extract.layout import layout as lines_of
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.apps.documents.understanding.memory.fingerprints import Fingerprint, fingerprint, place, plain
from docproc.reading.folding import fold
from docproc.reading.page import Box, PageText

_MOST_PLACES = 4
_MOST_ANCHORS = 10
_STRING_KINDS = ("tax_id", "iban", "number")
TEXT = "text"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A word near a value, and how far the value's edges and middle are from the word's, in page widths."""

    word: str
    left: float  # value's left edge from the word's left edge
    right: float  # value's right edge from the word's left edge
    down: float


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """Where a value stood. `page` counts from the first page, `from_end` from the last."""

    page: int
    from_end: int
    x0: float
    x1: float
    y: float
    anchors: tuple[Anchor, ...]
    before: str = ""  # what stands in the value's own column before it, folded; for texts
    after: str = ""  # and after it
    box: Box | None = None

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> ValuePlace:
        anchors = tuple(Anchor(*each) for each in stored["anchors"])
        box = tuple(stored["box"]) if stored["box"] else None
        return cls(**{**stored, "anchors": anchors, "box": box})

    def as_json(self) -> dict[str, Any]:
        anchors = [[each.word, each.left, each.right, each.down] for each in self.anchors]
        return {**asdict(self), "anchors": anchors, "box": list(self.box) if self.box else None}


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is known of one field of one document: its value, None where there is none.

    `corrected`: the machine had read something else, `before`.
    """

    field: str
    value: str | None
    kind: str
    places: tuple[ValuePlace, ...]
    corrected: bool
    before: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "places": [each.as_json() for each in self.places]}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Lesson:
        return cls(**{**stored, "places": tuple(map(ValuePlace.of_json, stored["places"]))})


@dataclass(frozen=True, slots=True)
class Example:
    """One reviewed document. Newer ones have the greater `order`: the latest word counts."""

    layout: Fingerprint
    lessons: tuple[Lesson, ...]
    order: float = 0.0

    def joined(self, earlier: Example) -> Example:
        """With what an earlier review of the same document said of other fields."""
        spoken = {lesson.field for lesson in self.lessons}
        kept = tuple(lesson for lesson in earlier.lessons if lesson.field not in spoken)
        return Example(self.layout, self.lessons + kept, self.order)


def pack(example: Example) -> bytes:
    """An example as it is kept in the database: a few kilobytes."""
    lessons = [each.as_json() for each in example.lessons]
    stored = {"layout": example.layout.as_json(), "lessons": lessons, "order": example.order}
    return zlib.compress(orjson.dumps(stored), 3)


def unpack(packed: bytes) -> Example:
    stored = orjson.loads(zlib.decompress(packed))
    lessons = tuple(Lesson.of_json(each) for each in stored["lessons"])
    return Example(Fingerprint.of_json(stored["layout"]), lessons, stored["order"])


def learn(
    specs: Sequence[FieldSpec],
    pages: Sequence[PageText],
    values: Mapping[str, str | None],
    before: Mapping[str, str | None],
    where: Mapping[str, tuple[int, Box]] | None = None,
    others: Collection[str] = (),
    order: float = 0.0,
) -> Example:
    """The example of a reviewed document: `values` are right, `before` is what the machine had said.

    `where` says at which page (among those given) and box a value stands, for those a person pointed at;
    the others are looked for. `others`: see `fingerprint`.
    """
    document = lines_of(pages)
    how = normalise.conventions(document.text)
    types = {spec.name: spec.type for spec in specs}
    lessons = []
    for field, value in values.items():
        pointed = (where or {}).get(field)
        kind, stretches = _find(value, types.get(field, "string"), document, how) if value else (TEXT, [])
        if pointed:
            stretches = [
                at for at in stretches if at.page == pointed[0] and _touch(at.box, pointed[1])
            ] or stretches
        places = tuple(_place(at, document) for at in stretches[:_MOST_PLACES])
        was = before.get(field)
        corrected = not same(value, was, types.get(field, "string"))
        lessons.append(Lesson(field, value, kind, places, corrected, was))
    return Example(fingerprint(pages, others), tuple(lessons), order)


def same(one: str | None, other: str | None, kind: str) -> bool:
    """Whether two writings mean one value."""
    if one is None or other is None:
        return one is other
    if kind in ("decimal", "integer"):
        try:
            return Decimal(one) == Decimal(other)
        except InvalidOperation:
            return False
    return squeezed(one) == squeezed(other)


def squeezed(text: str) -> str:
    """Without case, accents, spaces and punctuation."""
    return re.sub(r"[^a-z0-9]+", "", fold(text))


def _find(
    value: str, field_type: str, document: Document, how: normalise.Conventions
) -> tuple[str, list[Stretch]]:
    """The kind of a value, and every place on the pages that says it."""
    kinds = {"decimal": ("amount",), "integer": ("integer",), "date": ("date",)}.get(
        field_type, _STRING_KINDS
    )
    for kind in kinds:
        stretches = [c.at for c in candidates.find(kind, document, how) if same(c.value, value, field_type)]
        if stretches:
            return kind, stretches
    if field_type != "string":
        return kinds[0], []
    return TEXT, list(_texts(value, document))


def _texts(value: str, document: Document) -> Iterator[Stretch]:
    wanted = fold(value).split()
    if not wanted:
        return
    pattern = re.compile(r"\s*".join(map(re.escape, wanted)))
    for line in document.lines:
        for match in pattern.finditer(line.folded):
            yield line.stretch(*match.span())


def _touch(one: Box, other: Box) -> bool:
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across > 0 and down > 0


def _place(at: Stretch, document: Document) -> ValuePlace:
    page = document.pages[at.page]
    x0, x1, y = (round(each, 4) for each in place(at.box, page))
    line = document.lines[at.line]
    start = line.text.rfind("   ", 0, at.start) + 3 if "   " in line.text[: at.start] else 0
    return ValuePlace(
        page=at.page,
        from_end=len(document.pages) - 1 - at.page,
        x0=x0,
        x1=x1,
        y=y,
        anchors=_anchors(at, page),
        before=line.folded[start : at.start].strip(),
        after=line.folded[at.end : line.column_end(at.end)].strip(),
        box=at.box,
    )


def _anchors(at: Stretch, page: PageText) -> tuple[Anchor, ...]:
    """The words around a value that are likely to be there the next time: on its line, then the nearest."""
    x0, x1, y = place(at.box, page)
    by_distance: list[tuple[float, Anchor]] = []
    for word in page.words:
        text = plain(word.text)
        if len(text) < 2 or _touch(word.box, at.box):
            continue
        left, right, middle = place(word.box, page)
        aside = max(x0 - right, left - x1, 0.0)
        distance = aside + 3 * abs(y - middle)
        by_distance.append(
            (distance, Anchor(text, round(x0 - left, 4), round(x1 - left, 4), round(y - middle, 4)))
        )
    by_distance.sort(key=lambda each: (each[0], each[1].word))
    return tuple(anchor for _, anchor in by_distance[:_MOST_ANCHORS])
