"""The rows under a table's headings, down to its end, over as many pages as it has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from docproc.apps.documents.understanding.extract import headings
from docproc.apps.documents.understanding.extract.cells import Cells, under, value
from docproc.apps.documents.understanding.extract.headings import Heading
from docproc.apps.documents.understanding.extract.layout import WIDE, Document, Line
from docproc.apps.documents.understanding.extract.normalise import Conventions
from docproc.apps.documents.understanding.extract.spec import ColumnSpec
from docproc.reading.page import Word

_FAR = 3.5  # heights of a line between two rows
_NEAR = 1.0  # heights between the lines of one description

# What comes after the last row, at the beginning of a line.
_END = re.compile(
    r"\W*(?:(?:sub ?-?|importe |cuota |suma )?totale?s?|base imponible|base imp|bases? iva|"
    r"(?:bases?|net|rate|tipo)(?= *(?:$|:))|suma|importe (?:neto|bruto)|"
    r"(?:cuota )?(?:iva|i\.v\.a\.?|igic|vat|tva|gst|sales tax|tax)(?= *[\d(:%]| *$)|"
    r"amount due|balance|neto(?= *\d)|net(?: total| amount)|taxable|retencion|irpf|forma de pago|payment|"
    r"vencimiento|cash|efectivo|tarjeta|cambio|change|visa|mastercard|entregado|recargo de equivalencia|"
    r"descuento global|observaciones|notas|a pagar|continued|continua|pagina)(?![a-z])"
)
# What a page carries over to the next: no row, and no end.
_CARRIED = re.compile(
    r"\W*(?:suma (?:y sigue|anterior)|carried|brought|viene de|transporte|a cuenta nueva)(?![a-z])"
)
_AMOUNT_LAST = re.compile(r"\d[.,]\d{2}\s?(?:€|\$|£|EUR)?$")  # no description ends like that
_SUM = re.compile(r"\W*(?:(?:sub ?-?|importe )?total|base imponible|total iva)(?![a-z])")


@dataclass(slots=True)
class Draft:
    """A row as it is read: the words of each column."""

    cells: Cells
    page: int
    words: list[Word] = field(default_factory=list)

    @property
    def top(self) -> float:
        return min(word.box[1] for word in self.words)

    @property
    def bottom(self) -> float:
        return max(word.box[3] for word in self.words)


def is_end(line: Line) -> bool:
    """A line of sums, payment or notes; sums may also begin in a column further right."""
    first, *others = [part for part in line.folded.split(WIDE) if re.search(r"[a-z]", part)] or [""]
    return bool(_END.match(first)) or any(_SUM.match(other) for other in others)


@dataclass(frozen=True)
class Reader:
    """Reads rows. `anchor` is the column that every row has, `text` the one that may take several lines."""

    columns: tuple[ColumnSpec, ...]
    anchor: int
    text: int | None
    how: Conventions

    def rows(self, document: Document) -> list[Draft]:
        """All rows, page after page; a table may go on under repeated headings, or under none."""
        heads = {
            line.index: shown
            for line in document.lines
            if (shown := headings.read(line, self.columns, self.anchor))
        }
        most = max(map(_asked, heads.values()), default=0)
        heads = {index: head for index, head in heads.items() if _asked(head) == most}
        headed = {document.lines[index].page for index in heads}
        drafts: list[Draft] = []
        head: Sequence[Heading] = ()
        part: list[Draft] = []
        for line in document.lines:
            if line.index in heads:
                head, part = heads[line.index], []
            elif head and part and line.page != part[-1].page:
                # On the next page it goes on where its headings are, or at once if there are none.
                head, part = ((), []) if line.page in headed else (head, [])
            if not head or line.index in heads:
                continue
            if _CARRIED.match(line.folded):
                continue
            if is_end(line) or _is_far(line, part):
                head = ()
            elif taken := self._row(line, head, part):
                part.append(taken)
                drafts.append(taken)
        return [row for row in drafts if self._is_row(row.cells)]

    def _row(self, line: Line, head: Sequence[Heading], part: list[Draft]) -> Draft | None:
        """The row a line begins; None when it goes on with the row before, or is nothing."""
        cells, strangers = under(line, head)
        if self._is_row(cells):
            row = Draft(cells, line.page, list(line.words))
            if len(part) == 1 and not self._is_row(part[0].cells) and self.text is not None:
                # The description of the first row began above its numbers.
                row.cells[self.text] = part[0].words + row.cells.get(self.text, [])
                row.words += part[0].words
            return row
        if self.text is None or set(cells) != {self.text} or strangers or _AMOUNT_LAST.search(line.text):
            return None
        if not part:
            return Draft(cells, line.page, list(line.words))
        if line.box[1] - part[-1].bottom < _NEAR * line.height:
            part[-1].cells.setdefault(self.text, []).extend(line.words)
            part[-1].words.extend(line.words)
        return None

    def _is_row(self, cells: Cells) -> bool:
        filled = [
            index
            for index, words in cells.items()
            if self.columns[index].type != "string" and value(self.columns[index], words, self.how)
        ]
        if self.columns[self.anchor].type == "string":
            return len(cells) > 1
        return self.anchor in filled or (len(filled) > 1 and self.text in cells)


def _asked(head: Sequence[Heading]) -> int:
    return sum(one.index is not None for one in head)


def _is_far(line: Line, rows: Sequence[Draft]) -> bool:
    """Whether a line stands apart from the rows above it, by the distance that they keep."""
    if not rows:
        return False
    gaps = [later.top - row.bottom for row, later in pairwise(rows)]
    return line.box[1] - rows[-1].bottom > max(_FAR * line.height, 2.5 * max(median(gaps or [0.0]), 0.0))
