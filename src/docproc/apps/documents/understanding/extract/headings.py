"""Finds the headings of a table's columns on a line, by what columns are usually called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from docproc.apps.documents.understanding.extract.layout import Line
from docproc.apps.documents.understanding.extract.spec import ColumnSpec
from docproc.apps.documents.understanding.words import read_words
from docproc.reading.folding import fold

_BETWEEN = r"(?:\s?[./:'-]{1,2}\s?|\s)?"  # words of one heading; never the gap between two columns
_MOSTLY = 0.6  # of the letters of a line of headings are headings

HEADINGS: dict[str, list[str]] = read_words("headings")
# Other names that schemas use for the same columns.
SAME = {
    "price": "unit_price",
    "precio": "unit_price",
    "total": "amount",
    "importe": "amount",
    "line_total": "amount",
    "cantidad": "quantity",
    "qty": "quantity",
    "concepto": "description",
    "descripcion": "description",
    "item": "description",
    "vat_rate": "tax_rate",
    "reference": "code",
}


_TEXTS = ("description", "code", "unit", "date")  # columns whose text may run to the next heading


@dataclass(frozen=True, slots=True)
class Heading:
    """A column as its heading shows it; `index` among the columns asked for, None: nobody asked."""

    index: int | None
    is_text: bool
    x0: float
    x1: float
    reach: float  # where the next heading begins: text may run until there


def meaning(column: ColumnSpec) -> str:
    """What a column holds, by the name that is used here."""
    return SAME.get(column.name, column.name)


def read(line: Line, columns: tuple[ColumnSpec, ...], needed: int) -> tuple[Heading, ...]:
    """The columns that a line of headings shows, from left to right; none when the line is something else."""
    if re.search(r"\d{3}|\d[.,]\d", line.text):
        return ()
    pattern, names = _known(columns)
    # "(IVA excl.)" is no heading; as many blanks keep the places.
    text = re.sub(r"\([^)]*\)", lambda match: " " * len(match[0]), line.folded)
    spans = [(match.start(), match.end(), names[_key(match[0])]) for match in pattern.finditer(text)]
    asked = {name for *_, name in spans if isinstance(name, int)}
    told = sum(_letters(text[start:end]) for start, end, _ in spans)
    if len(asked) < 2 or needed not in asked or told < _MOSTLY * _letters(text):
        return ()
    return _spread(line, spans, columns)


def _spread(
    line: Line, spans: Sequence[tuple[int, int, int | str]], columns: Sequence[ColumnSpec]
) -> tuple[Heading, ...]:
    boxes = [line.stretch(start, end).box for start, end, _ in spans]
    reaches = [*(box[0] for box in boxes[1:]), 1.0]
    heads = []
    for (*_, name), box, reach in zip(spans, boxes, reaches, strict=True):
        is_text = columns[name].type != "decimal" if isinstance(name, int) else name in _TEXTS
        heads.append(Heading(name if isinstance(name, int) else None, is_text, box[0], box[2], reach))
    return tuple(head if head is _best(head, heads) else replace(head, index=None) for head in heads)


def _best(head: Heading, heads: Sequence[Heading]) -> Heading:
    """Of two headings for one column ("Artículo", "Detalle"): where text has most room, the last number."""
    same = [other for other in heads if other.index == head.index]
    return max(same, key=lambda other: other.reach - other.x0) if head.is_text else same[-1]


@lru_cache(maxsize=64)
def _known(columns: tuple[ColumnSpec, ...]) -> tuple[re.Pattern[str], dict[str, int | str]]:
    """All headings, the longest first, and whose each is: a column asked for, or another usual one."""
    phrases: dict[str, int | str] = {}
    for index, column in enumerate(columns):
        for phrase in (*column.labels, column.name.replace("_", " "), *HEADINGS.get(meaning(column), ())):
            phrases.setdefault(fold(phrase), index)
    for name, known in HEADINGS.items():
        for phrase in known:
            phrases.setdefault(phrase, name)
    ordered = sorted(phrases, key=len, reverse=True)
    alternatives = "|".join(_BETWEEN.join(map(re.escape, re.findall(r"\w+|[#%]", one))) for one in ordered)
    pattern = re.compile(rf"(?<![a-z0-9])(?:{alternatives})(?![a-z0-9])")
    return pattern, {_key(phrase): name for phrase, name in reversed(phrases.items())}


def _key(text: str) -> str:
    return re.sub(r"[^a-z0-9#%]", "", text)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))
