"""The rows of a receipt without headings: text, then an amount at the right edge, above the first total."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from docproc.apps.documents.understanding.extract import normalise
from docproc.apps.documents.understanding.extract.cells import Cells, is_number, is_unit
from docproc.apps.documents.understanding.extract.headings import meaning
from docproc.apps.documents.understanding.extract.layout import Document, Line
from docproc.apps.documents.understanding.extract.normalise import Conventions
from docproc.apps.documents.understanding.extract.spec import ColumnSpec
from docproc.apps.documents.understanding.extract.table_rows import Draft, is_end
from docproc.reading.folding import fold
from docproc.reading.page import Word

_CENTS = re.compile(r"\d[.,]\d{2}(?!\d)")
_EDGE = 0.025  # how straight amounts stand below each other, of the page's width


@dataclass(frozen=True)
class Receipt:
    """The columns asked for: `text` and `amount` are where the two things stand that every row has."""

    columns: Sequence[ColumnSpec]
    text: int
    amount: int
    how: Conventions

    def rows(self, document: Document) -> list[Draft]:
        body = _above_totals(document)
        ends = [line.box[2] for line in body if _ends_in_amount(line)]
        if not ends:
            return []
        edge = max(ends, key=lambda end: sum(abs(end - other) < _EDGE for other in ends))
        rows: list[Draft] = []
        above: Line | None = None
        for line in body:
            cells = self._cells(line, edge)
            if cells and self.text not in cells and above is not None:
                cells[self.text] = list(above.words)  # the name above, its sum below
            if cells and self.text in cells:
                words = [word for of_one in cells.values() for word in of_one]
                rows.append(Draft(cells, line.page, words))
            above = line if cells is None else None
        return rows

    def _cells(self, line: Line, edge: float) -> Cells | None:
        """The row that a line is; None when it is none."""
        first, *others = line.words
        words = [first, *(word for before, word in pairwise((first, *others)) if not _is_sign(word, before))]
        if len(words) < 2 or not _ends_in_amount(line) or abs(line.box[2] - edge) > _EDGE:
            return None
        if normalise.dates(line.folded, self.how.day_first):
            return None
        cells = {self.amount: [words.pop()]}
        numbers: list[Word] = []
        while words and is_number(words[-1]) and len(numbers) < 2:
            numbers.append(words.pop())
        if len(words) > 1 and re.fullmatch(r"\d{1,3}x?", fold(words[0].text)):
            numbers.append(words.pop(0))
        if any(char.isalpha() for word in words for char in word.text):
            cells[self.text] = words
        elif words and not numbers:
            return None
        return cells | dict(self._counted(numbers))

    def _counted(self, numbers: Sequence[Word]) -> Iterator[tuple[int, list[Word]]]:
        """Beside the amount: a whole number counts pieces, one with cents is the price of each."""
        for index, column in enumerate(self.columns):
            for number in numbers:
                is_price = bool(_CENTS.search(number.text))
                if meaning(column) == ("unit_price" if is_price else "quantity"):
                    yield index, [number]
                    break


def _is_sign(word: Word, before: Word) -> bool:
    return is_unit(word) and is_number(before)


def _ends_in_amount(line: Line) -> bool:
    last = next((word for word in reversed(line.words) if not is_unit(word)), None)
    return last is not None and is_number(last) and bool(_CENTS.search(last.text))


def _above_totals(document: Document) -> list[Line]:
    body: list[Line] = []
    for line in document.lines:
        if is_end(line) and any(_CENTS.search(word.text) for word in line.words):
            return body
        body.append(line)
    return []  # without a total nobody knows where the rows end
