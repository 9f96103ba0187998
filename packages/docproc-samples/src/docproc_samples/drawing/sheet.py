"""A PDF being drawn: pages measured in points from the top left, with text, boxes, tables and prose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO

from reportlab.lib.colors import HexColor
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase.pdfmetrics import getRegisteredFontNames, registerFont, stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

A4 = (595.0, 842.0)
BOLD = {
    "Helvetica": "Helvetica-Bold", "Times-Roman": "Times-Bold", "Courier": "Courier-Bold", "Vera": "VeraBd",
    "Times-Italic": "Times-BoldItalic", "Helvetica-Oblique": "Helvetica-BoldOblique",
}  # fmt: skip
SHIPPED = ("Vera", "VeraBd")  # TrueType faces that come with reportlab
BLACK = "#1a1a1a"
GREY = "#666666"


@dataclass(frozen=True)
class Column:
    title: str
    width: float
    align: str = "left"


class Sheet:
    """Draws one PDF. The same calls give the same bytes."""

    def __init__(self, title: str = "") -> None:
        self._buffer = BytesIO()
        self._canvas = Canvas(self._buffer, pagesize=A4, invariant=1)
        self._canvas.setTitle(title)
        for face in SHIPPED:
            if face not in getRegisteredFontNames():
                registerFont(TTFont(face, f"{face}.ttf"))
        self.stretch = 1.0  # of letters, sideways: below one as in narrow typefaces
        self.page_count = 0
        self.font = "Helvetica"
        self.width, self.height = A4

    def page(self, width: float = A4[0], height: float = A4[1], font: str | None = None) -> None:
        """Begin a page; what follows is drawn on it."""
        if self.page_count:
            self._canvas.showPage()
        self._canvas.setPageSize((width, height))
        self.width, self.height = width, height
        self.font = font or self.font
        self.stretch = 1.0
        self.page_count += 1

    def finish(self) -> bytes:
        self._canvas.save()
        return self._buffer.getvalue()

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 9,
        *,
        bold: bool = False,
        align: str = "left",
        color: str = BLACK,
        font: str | None = None,
    ) -> None:
        """Write one line with its baseline at `y`; `x` is its left, middle or right by `align`."""
        name = self._font(font, bold)
        width = stringWidth(text, name, size) * self.stretch
        x -= {"left": 0.0, "center": 0.5, "right": 1.0}[align] * width
        self._canvas.setFillColor(HexColor(color))
        written = self._canvas.beginText(x, self.height - y)
        written.setFont(name, size)
        if self.stretch != 1.0:
            written.setHorizScale(100 * self.stretch)
        written.textOut(text)
        self._canvas.drawText(written)

    def fitted(
        self,
        x: float,
        y: float,
        room: float,
        text: str,
        size: float = 9,
        *,
        bold: bool = False,
        align: str = "left",
        color: str = BLACK,
    ) -> None:
        """Write one line, smaller where it would be wider than `room`."""
        size *= min(1.0, room / max(1.0, self.measure(text, size, bold=bold)))
        self.text(x, y, text, size, bold=bold, align=align, color=color)

    def turned(self, x: float, y: float, text: str, size: float, *, color: str = GREY) -> None:
        """Write one line upwards from `x`, `y`, as along the edge of a letterhead."""
        self._canvas.saveState()
        self._canvas.translate(x, self.height - y)
        self._canvas.rotate(90)
        self._canvas.setFillColor(HexColor(color))
        self._canvas.setFont(self._font(None, False), size)
        self._canvas.drawString(0, 0, text)
        self._canvas.restoreState()

    def disc(self, x: float, y: float, radius: float, fill: str) -> None:
        self._canvas.setFillColor(HexColor(fill))
        self._canvas.circle(x, self.height - y, radius, stroke=0, fill=1)

    def lines(
        self,
        x: float,
        y: float,
        lines: Iterable[str],
        size: float = 9,
        *,
        color: str = BLACK,
        align: str = "left",
    ) -> float:
        """Write lines below each other; returns where the next would stand."""
        for line in lines:
            self.text(x, y, line, size, color=color, align=align)
            y += size * 1.35
        return y

    def prose(
        self,
        x: float,
        y: float,
        width: float,
        text: str,
        size: float = 10,
        *,
        bold: bool = False,
        color: str = BLACK,
    ) -> float:
        """Write a paragraph in lines of at most `width`; returns where the next line would stand."""
        for line in self.folded(text, width, size, bold=bold):
            self.text(x, y, line, size, bold=bold, color=color)
            y += size * 1.4
        return y

    def measure(self, text: str, size: float, *, bold: bool = False) -> float:
        return float(stringWidth(text, self._font(None, bold), size)) * self.stretch

    def folded(self, text: str, width: float, size: float, *, bold: bool = False) -> list[str]:
        lines: list[str] = simpleSplit(text, self._font(None, bold), size, width / self.stretch)
        return lines

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str | None = None,
        stroke: str | None = "#888888",
        radius: float = 0,
        line_width: float = 0.7,
    ) -> None:
        """Draw a rectangle whose upper left corner is at `x`, `y`."""
        if fill:
            self._canvas.setFillColor(HexColor(fill))
        if stroke:
            self._canvas.setStrokeColor(HexColor(stroke))
            self._canvas.setLineWidth(line_width)
        self._canvas.roundRect(
            x, self.height - y - height, width, height, radius, fill=int(bool(fill)), stroke=int(bool(stroke))
        )

    def rule(self, x: float, y: float, to_x: float, *, width: float = 0.6, color: str = "#888888") -> None:
        self._canvas.setStrokeColor(HexColor(color))
        self._canvas.setLineWidth(width)
        self._canvas.line(x, self.height - y, to_x, self.height - y)

    def curve(self, x: float, y: float, steps: Sequence[tuple[float, float]], color: str = "#1f3a7a") -> None:
        """Draw a pen stroke through points given as offsets: a signature."""
        path = self._canvas.beginPath()
        path.moveTo(x, self.height - y)
        for (ax, ay), (bx, by) in zip(steps[::2], steps[1::2], strict=False):
            path.curveTo(
                x + ax,
                self.height - y + ay,
                x + bx,
                self.height - y - by,
                x + bx + 4,
                self.height - y + ay / 2,
            )
        self._canvas.setStrokeColor(HexColor(color))
        self._canvas.setLineWidth(1.1)
        self._canvas.drawPath(path)

    def portrait(self, x: float, y: float, width: float, height: float) -> None:
        """A grey box with a head and shoulders, in a photo's place."""
        self.box(x, y, width, height, fill="#c9ccd1", stroke=None)
        self._canvas.setFillColor(HexColor("#9a9ea6"))
        middle, base = x + width / 2, self.height - y - height
        self._canvas.ellipse(
            middle - width * 0.2, base + height * 0.38, middle + width * 0.2, base + height * 0.84, 0, 1
        )
        left, right = middle - width * 0.4, middle + width * 0.4
        self._canvas.wedge(left, base - height * 0.32, right, base + height * 0.34, 0, 180, 0, 1)

    def table(
        self,
        x: float,
        y: float,
        columns: Sequence[Column],
        rows: Iterable[Sequence[str]],
        *,
        size: float = 9,
        step: float = 16,
        head_fill: str | None = None,
        head_color: str = BLACK,
        stripes: str | None = None,
        grid: bool = False,
    ) -> float:
        """Write a head and rows; returns the lower edge."""
        total = sum(column.width for column in columns)
        if head_fill:
            self.box(x, y, total, step + 3, fill=head_fill, stroke=None)
        self._row(x, y + step - 3, columns, [column.title for column in columns], size, head_color, bold=True)
        top, y = y, y + step + 3
        if not head_fill:
            self.rule(x, y, x + total, width=0.9, color=BLACK)
        for number, row in enumerate(rows):
            if stripes and number % 2:
                self.box(x, y, total, step, fill=stripes, stroke=None)
            self._row(x, y + step * 0.7, columns, row, size, BLACK)
            y += step
        if grid:
            self.box(x, top, total, y - top)
            for column in columns[:-1]:
                x += column.width
                self._canvas.line(x, self.height - top, x, self.height - y)
        return y

    def _row(
        self,
        x: float,
        y: float,
        columns: Sequence[Column],
        cells: Sequence[str],
        size: float,
        color: str,
        *,
        bold: bool = False,
    ) -> None:
        for column, cell in zip(columns, cells, strict=True):
            at = {"left": x + 4, "center": x + column.width / 2, "right": x + column.width - 4}[column.align]
            self.fitted(at, y, column.width - 6, cell, size, align=column.align, color=color, bold=bold)
            x += column.width

    def _font(self, font: str | None, bold: bool) -> str:
        family = font or self.font
        return BOLD[family] if bold else family
