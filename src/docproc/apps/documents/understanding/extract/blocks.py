"""Blocks of an address: a name with a street, a town or a tax id under it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from docproc.apps.documents.understanding.extract.layout import Document, Stretch
from docproc.reading.folding import fold

POSTCODE = re.compile(
    r"(?<![\d./-])(?:[a-z]{1,2}-?)?\d{5}(?![\d/]|[.,]\d)\s*[-,]?\s*\(?[a-z]|[a-z]\W{1,3}\d{5}$"
    r"|(?<![a-z0-9])[a-z]{1,2}\d[a-z\d]? \d[a-z]{2}(?![a-z0-9])|, [a-z]{2} \d{5}"
)
STREET = re.compile(
    r"(?<![a-z])(?:(?:calle|plaza|camino)(?!\s*$)|c/|c\.|cl|avda?\.?|avenida|av\.?|pl\.?|pza\.?|paseo|p[oa]\.?|ronda|travesia|carrer"
    r"|carretera|ctra\.?|poligono|pol\.?|cno\.?|urb\.?|rua|passeig|gran via|glorieta|alameda|via|apdo"
    r"|street|st\.?|road|rd\.?|avenue|ave\.?|drive|lane|blvd|suite)(?![a-z])"
)
TAX_ID = re.compile(
    r"(?<![a-z])(?:vat (?:no|reg|number|id)|ein|n\.? ?i\.? ?f|c\.? ?i\.? ?f"
    r"|d\.? ?n\.? ?i|n\.? ?i\.? ?e)(?![a-z])"
    r"|^[a-z]-?\d{8}$|^\d{8}-?[a-z]$"
)
_LONGEST = 8  # lines of an address
_NEXT_LINE = 1.6  # line heights between two lines of one block


@dataclass(frozen=True, slots=True)
class Block:
    """Cells one under the other, beginning at the same place."""

    cells: tuple[Stretch, ...]

    @property
    def evidence(self) -> float:
        """What speaks for an address in the lines under the first."""
        folded = [fold(cell.text) for cell in self.cells[1:6]]
        town = any(POSTCODE.search(text) for text in folded)
        street = any(STREET.search(text) for text in folded)
        return 1.6 * town + 0.8 * street + 0.8 * any(TAX_ID.search(text) for text in folded)

    def holds(self, at: Stretch) -> bool:
        return any(
            cell.line == at.line and cell.start <= at.start and at.end <= cell.end for cell in self.cells
        )


def blocks(document: Document) -> list[Block]:
    """Every run of cells under each other; a cell within one also begins a block of its own."""
    rows = [tuple(line.columns()) for line in document.lines]
    return [
        block
        for index, row in enumerate(rows)
        for cell in row
        if len((block := Block((cell, *_under(cell, rows[index + 1 : index + 3 + _LONGEST])))).cells) > 1
    ]


def _under(cell: Stretch, rows: Sequence[Sequence[Stretch]]) -> Iterator[Stretch]:
    last, count = cell, 1
    for row in rows:
        below = next((other for other in row if _goes_on(last, other)), None)
        if below is not None:
            yield below
            last, count = below, count + 1
        if count == _LONGEST:
            return


def _goes_on(last: Stretch, below: Stretch) -> bool:
    height = max(last.box[3] - last.box[1], below.box[3] - below.box[1])
    return (
        last.page == below.page
        and abs(last.box[0] - below.box[0]) < 0.012
        and -0.5 * height < below.box[1] - last.box[3] < _NEXT_LINE * height
    )
