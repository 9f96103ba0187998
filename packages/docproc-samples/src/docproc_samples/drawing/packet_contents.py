"""What goes into a packet: which documents, in which order, and what they have to do with each other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from random import Random

from docproc_samples.drawing import invoice_layouts, layouts
from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.layout import Choice, Layout
from docproc_samples.drawing.sheet import Sheet

KINDS = ("invoice", "invoice", "id_card", "payslip", "receipt", "contract", "bank_statement", "other")
RESUMES = ("resume", "long_resume", "side_resume")


@dataclass(frozen=True)
class Part:
    kind: str
    layout: Layout
    cast: Cast


class Plot:
    """Chooses the parts of one packet."""

    def __init__(self, random: Random, language: str, choice: Choice) -> None:
        self.random, self.language, self.choice = random, language, choice

    def usual(self) -> list[Part]:
        """A long invoice, one of every kind in any order, and two invoices in a row."""
        middle = [
            "id_card",
            "payslip",
            "receipt",
            "contract",
            self.random.choice(("bank_statement", "other")),
        ]
        self.random.shuffle(middle)
        long = [one for one in invoice_layouts.LONG if one.is_among(self.choice, self.language)]
        first = Part("invoice", self.random.choice(long), self._cast())
        return [first, *(self._any(kind) for kind in (*middle, "invoice", "invoice"))]

    def mixed(self) -> list[Part]:
        """Anything, also twice; perhaps an empty page in between."""
        parts = [self._any(self.random.choice(KINDS)) for _ in range(self.random.randint(3, 8))]
        if self.random.random() < 0.4:
            place = self.random.randint(1, len(parts) - 1)
            if "other" not in (parts[place - 1].kind, parts[place].kind):
                parts.insert(place, Part("other", BLANK, self._cast()))
        return parts

    def regulars(self) -> list[Part]:
        """Two or three invoices of one vendor, among others."""
        return self._around(self._same_vendor())

    def months(self) -> list[Part]:
        """The payslips of one worker for months in a row."""
        maker = self._cast()
        company, person, first = maker.company("services"), maker.person(), maker.day().replace(day=1)
        layout = self.random.choice(layouts.of("payslip", self.language, self.choice))
        seed, parts = self.random.getrandbits(32), []
        for month in range(self.random.randint(2, 4)):
            cast = self._cast(seed)
            cast.country = maker.country
            cast.known = [company, person, _later(first, month)]
            parts.append(Part("payslip", layout, cast))
        return self._around(parts)

    def people(self) -> list[Part]:
        """Applications: two or three curricula in a row."""
        possible = [one for one in layouts.of("other", self.language, self.choice) if one.name in RESUMES]
        resumes = [
            Part("other", self.random.choice(possible), self._cast())
            for _ in range(self.random.randint(2, 3))
        ]
        return [self._any("id_card"), *resumes, self._any("contract")]

    def _same_vendor(self) -> list[Part]:
        layout = self.random.choice(layouts.of("invoice", self.language, self.choice))
        maker, seed = self._cast(), self.random.getrandbits(32)
        vendor = maker.company("goods")
        parts = []
        for _ in range(self.random.randint(2, 3)):
            cast = self._cast(seed)
            cast.country = maker.country
            cast.known = [vendor]
            parts.append(Part("invoice", layout, cast))
        return parts

    def _around(self, parts: list[Part]) -> list[Part]:
        kinds = [kind for kind in KINDS if kind != parts[0].kind]
        return [self._any(self.random.choice(kinds)), *parts, self._any(self.random.choice(kinds))]

    def _any(self, kind: str) -> Part:
        return Part(kind, self.random.choice(layouts.of(kind, self.language, self.choice)), self._cast())

    def _cast(self, habits: int | None = None) -> Cast:
        return Cast(self.random, self.language, habits=None if habits is None else Random(habits))


def parts(random: Random, language: str, choice: Choice, number: int) -> list[Part]:
    """The parts of the packet of this number; the first is the usual one, then the plots take turns."""
    plot = Plot(random, language, choice)
    plots = (plot.usual, plot.regulars, plot.months, plot.mixed, plot.people, plot.mixed)
    return plots[(number - 1) % len(plots)]()


def _later(first: date, months: int) -> date:
    index = first.year * 12 + first.month - 1 + months
    return date(index // 12, index % 12 + 1, 1)


def _blank(sheet: Sheet, cast: Cast) -> dict[str, str]:
    sheet.page()
    return {}


BLANK = Layout("blank", _blank)
