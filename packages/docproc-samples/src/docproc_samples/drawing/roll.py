"""Narrow paper from a till: lines are collected first, since the paper is as long as what is on it."""

from __future__ import annotations

from dataclasses import dataclass, field

from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.sheet import Sheet

FACES = ("Courier", "Courier", "Helvetica", "Vera")
TIGHT = {"Courier": 0.86, "Helvetica": 0.92, "Vera": 0.82}


@dataclass(frozen=True)
class Row:
    cells: tuple[tuple[float, str, str], ...]  # place as a share of the width, alignment, text
    size: float = 1.0
    bold: bool = False


@dataclass
class Roll:
    cast: Cast
    width: float
    font: str
    size: float
    rows: list[Row] = field(default_factory=list)

    def centre(self, text: str, *, size: float = 1.0, bold: bool = False) -> None:
        self.rows.append(Row(((0.5, "center", text),), size, bold))

    def left(self, text: str, *, size: float = 1.0, bold: bool = False) -> None:
        self.rows.append(Row(((0.0, "left", text),), size, bold))

    def pair(self, left: str, right: str, *, size: float = 1.0, bold: bool = False) -> None:
        self.rows.append(Row(((0.0, "left", left), (1.0, "right", right)), size, bold))

    def columns(self, *cells: tuple[float, str, str], bold: bool = False) -> None:
        self.rows.append(Row(cells, 1.0, bold))

    def line(self) -> None:
        self.rows.append(Row(((-1.0, "left", self.cast.random.choice("-=*.")),)))

    def gap(self) -> None:
        self.rows.append(Row((), 0.6))

    def draw(self, sheet: Sheet) -> None:
        step = self.size * 1.32
        margin = self.width * 0.06
        high = 44 + sum(step * row.size for row in self.rows)
        sheet.page(self.width, high, font=self.font)
        sheet.stretch = TIGHT[self.font]
        inner, y = self.width - 2 * margin, 22.0
        for row in self.rows:
            y += step * row.size
            self._draw_row(sheet, row, margin, inner, y)

    def _draw_row(self, sheet: Sheet, row: Row, margin: float, inner: float, y: float) -> None:
        for place, align, text in row.cells:
            if place < 0:
                count = int(inner / sheet.measure(text, self.size))
                sheet.text(margin, y, text * count, self.size)
            else:
                room = inner if len(row.cells) == 1 else inner * 0.72
                sheet.fitted(
                    margin + place * inner, y, room, text, self.size * row.size, bold=row.bold, align=align
                )


def roll(cast: Cast) -> Roll:
    width = cast.random.choice((164.0, 200.0, 226.0, 226.0, 240.0))
    return Roll(cast, width, cast.random.choice(FACES), width / 226 * cast.random.uniform(8.2, 9.8))
