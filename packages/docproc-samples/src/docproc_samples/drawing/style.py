"""The habits of whoever prints a document: typeface, sizes, colour, and how labels, days and money look."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from docproc_samples.drawing import writing
from docproc_samples.drawing.cast import Cast

FONTS = ("Helvetica", "Helvetica", "Helvetica", "Times-Roman", "Vera", "Courier")
ACCENTS = (
    "#14507a", "#7a1f3d", "#2d6a4f", "#5b3a8c", "#b3541e", "#1a1a1a", "#333333", "#0b5563", "#a61e1e",
    "#2b3a67", "#00838f", "#6b705c",
)  # fmt: skip
CROWDED = {"Courier": 0.9, "Vera": 0.88}  # wide faces are set smaller


@dataclass(frozen=True)
class Style:
    cast: Cast
    font: str
    size: float
    accent: str
    colon: str
    capitals: bool
    day_form: int
    money_form: int
    left: float
    right: float

    @property
    def width(self) -> float:
        return self.right - self.left

    def label(self, words: str) -> str:
        return (words.upper() if self.capitals else words) + self.colon

    def day(self, day: date) -> str:
        ways = writing.date_writings(day, self.cast.country)
        return ways[self.day_form % len(ways)]

    def money(self, amount: Decimal) -> str:
        ways = writing.money_writings(amount, self.cast.currency, self.cast.language)
        return ways[self.money_form % len(ways)]

    def number(self, amount: Decimal) -> str:
        return self.cast.number(amount)


def style(cast: Cast, *, fonts: tuple[str, ...] = FONTS, colons: tuple[str, ...] = (":", ":", "")) -> Style:
    random = cast.habits or cast.random
    font = random.choice(fonts)
    margin = random.uniform(34, 62)
    return Style(
        cast,
        font,
        random.uniform(8.6, 10.6) * CROWDED.get(font, 1),
        random.choice(ACCENTS),
        random.choice(colons),
        random.random() < 0.3,
        random.choice((0, 0, 0, random.randrange(12))),
        random.choice((0, 0, 0, random.randrange(6))),
        margin,
        595 - margin,
    )
