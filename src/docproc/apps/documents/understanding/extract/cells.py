"""The words of a table's line, each under its heading, and what a cell of them says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from docproc.apps.documents.understanding.extract import normalise
from docproc.apps.documents.understanding.extract.headings import Heading
from docproc.apps.documents.understanding.extract.layout import Line
from docproc.apps.documents.understanding.extract.normalise import Conventions
from docproc.apps.documents.understanding.extract.spec import ColumnSpec
from docproc.reading.folding import fold
from docproc.reading.page import Word

Cells = dict[int, list[Word]]

_UNITS = r"(?:€|\$|£|%|eur|euros?|usd|us\$|gbp|rm|h|hrs?|horas?|uds?|unid|kg|kwh|x|m2|m3|sr)\.?"
_UNIT = re.compile(_UNITS)
_NUMBER = re.compile(rf"[-(+]?(?:€|us\$|\$|£|rm)?[-(]?\d[\d.,']*(?:{_UNITS})?\)?-?")


def is_unit(word: Word) -> bool:
    """A sign that belongs to a number: `€`, `%`, `h`."""
    return bool(_UNIT.fullmatch(fold(word.text)))


def is_number(word: Word) -> bool:
    return bool(_NUMBER.fullmatch(fold(word.text)))


def under(line: Line, heads: Sequence[Heading]) -> tuple[Cells, bool]:
    """The words of a line by column, and whether any stands where none of its kind should."""
    cells: Cells = {}
    strangers, at, edge = False, None, -1.0
    near = 1.3 * _char_width(line)
    for word in line.words:
        follows = at is not None and word.box[0] - edge < near
        if at is None or not follows or not _runs_on(word, at, heads):
            at = _heading_of(word, heads)
            strangers = strangers or _is_out_of_place(word, at, heads)
        edge = word.box[2]
        if at.index is not None:
            cells.setdefault(at.index, []).append(word)
    return cells, strangers


def _is_out_of_place(word: Word, at: Heading, heads: Sequence[Heading]) -> bool:
    """A number under a heading nobody asked for, or text under one of numbers: headings of two lines."""
    if is_number(word):
        return at.index is None
    return any(_shared(word, head) > 0.3 for head in heads if not head.is_text)


def _runs_on(word: Word, at: Heading, heads: Sequence[Heading]) -> bool:
    """Whether a word close behind another is in its cell: units and text are, numbers under no other."""
    if is_unit(word):
        return True
    if not is_number(word):
        return at.is_text
    return at.is_text and not any(_shared(word, head) > 0.3 for head in heads if not head.is_text)


def _heading_of(word: Word, heads: Sequence[Heading]) -> Heading:
    """The heading a word stands under, else the nearest. Numbers prefer columns of numbers."""
    number = is_number(word) or is_unit(word)  # "GBP" stands before its amount

    def distance(head: Heading) -> tuple[float, float]:
        right = max(head.x1, head.reach - 0.01) if head.is_text else head.x1
        gap = max(head.x0 - word.box[2], word.box[0] - right, 0.0)
        if number and head.is_text and not _shared(word, head):
            gap += 0.02  # a number in the gap is the next column's, unless it is far from it
        return (gap, -_shared(word, head))

    kind = [head for head in heads if number or head.is_text]
    over = [head for head in kind if _shared(word, head) > 0.3]
    return max(over, key=lambda head: _shared(word, head)) if over else min(kind or heads, key=distance)


def _shared(word: Word, head: Heading) -> float:
    """The share of the narrower of both that stands over the other."""
    overlap = min(word.box[2], head.x1) - max(word.box[0], head.x0)
    return max(overlap, 0.0) / max(min(word.box[2] - word.box[0], head.x1 - head.x0), 1e-6)


def _char_width(line: Line) -> float:
    letters = sum(len(word.text) for word in line.words)
    return sum(word.box[2] - word.box[0] for word in line.words) / max(letters, 1)


def value(column: ColumnSpec, words: Sequence[Word], how: Conventions) -> str | None:
    """What a cell says, written as field values are; None when it is empty or not of the column's type."""
    text = " ".join(word.text for word in words)
    if column.type == "string":
        return text or None
    if column.type == "date":
        dates = normalise.dates(fold(text), how.day_first)
        return dates[0][2] if dates else None
    numbers = [word for word in words if is_number(word)]
    if len(numbers) != 1 or any(not is_number(word) and not is_unit(word) for word in words):
        return None
    return decimal(numbers[0].text, how)


def decimal(text: str, how: Conventions) -> str | None:
    """A number as printed: `10` stays `10`, `5,50 €` is `5.50`."""
    written = normalise.decimal(text, how.decimal_comma)
    digits = re.sub(r"[^\d.,]", "", text).rstrip(".,")
    return written.removesuffix(".00") if written and digits.isdigit() else written


def readings(words: Sequence[Word], column: ColumnSpec, how: Conventions) -> list[str]:
    """A number in each way it can be meant: `1,500` kilograms may be one and a half."""
    first = value(column, words, how)
    if first is None:
        return []
    text = next((re.sub(r"[^\d.,]", "", word.text) for word in words if is_number(word)), "")
    mark = "," if how.decimal_comma else "."
    if re.fullmatch(rf"\d{{1,3}}[{mark}]\d{{3}}", text):
        return [first, text.replace(mark, ".")]
    return [first]


def product_reading(
    cells: Mapping[int, Sequence[Word]],
    columns: Sequence[ColumnSpec],
    parts: tuple[int, int, int],
    how: Conventions,
) -> tuple[bool, dict[int, str]] | None:
    """Whether the first two columns make the third, and in which readings; None: a part is missing."""
    first, second, third = ([*readings(cells.get(i, ()), columns[i], how)] for i in parts)
    if not (first and second and third):
        return None
    for one in first:
        for other in second:
            for whole in third:
                if abs(Decimal(one) * Decimal(other) - Decimal(whole)) <= Decimal("0.02"):
                    return True, dict(zip(parts, (one, other, whole), strict=True))
    return False, {}
