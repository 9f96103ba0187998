"""Contracts: parties, recitals, clauses and signatures over several pages of prose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from docproc_samples.drawing import clauses, names
from docproc_samples.drawing.cast import Cast, Company, Person
from docproc_samples.drawing.identifiers import in_groups
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import GREY, Sheet

LEFT, WIDTH = 72.0, 451.0
TOP, BOTTOM = 80.0, 770.0


@dataclass(frozen=True)
class Paragraph:
    text: str
    bold: bool = False
    centred: bool = False
    gap: float = 9.0


def _draw(sheet: Sheet, cast: Cast, kind: str) -> dict[str, str]:
    first, second = _parties(cast, kind)
    day, city = cast.day(), cast.address().city
    flow = Flow(sheet, cast, cast.random.choice(("Times-Roman", "Helvetica")))
    for paragraph in _paragraphs(cast, kind, first, second, cast.long_date(day), city):
        flow.add(paragraph)
    flow.sign(_role(cast, kind, 0), first.name, _role(cast, kind, 1), second.name)
    return {"date": day.isoformat(), "party_a": first.name, "party_b": second.name}


class Flow:
    """Prose that goes on to the next page by itself."""

    def __init__(self, sheet: Sheet, cast: Cast, font: str) -> None:
        self.sheet, self.cast, self.font = sheet, cast, font
        self.size = 11.3 if font == "Times-Roman" else 10.2
        self.first_page = sheet.page_count
        self.numbering = cast.random.choice(("- {} -", "{}", cast.say("Página {}", "Page {}"), ""))
        self._next_page()

    def add(self, paragraph: Paragraph) -> None:
        size = self.size + (2.2 if paragraph.centred else 0)
        lines = self.sheet.folded(paragraph.text, WIDTH, size, bold=paragraph.bold)
        if paragraph.bold and self.y > BOTTOM - 60:  # a heading does not stand alone at the foot
            self._next_page()
        for line in lines:
            if self.y > BOTTOM:
                self._next_page()
            x, align = (LEFT + WIDTH / 2, "center") if paragraph.centred else (LEFT, "left")
            self.sheet.text(x, self.y, line, size, bold=paragraph.bold, align=align)
            self.y += size * 1.42
        self.y += paragraph.gap

    def sign(self, first_role: str, first: str, second_role: str, second: str) -> None:
        if self.y > BOTTOM - 110:
            self._next_page()
        for x, role, name in ((LEFT, first_role, first), (LEFT + 245, second_role, second)):
            self.sheet.text(x, self.y + 16, role, 9, bold=True)
            chance = self.cast.random
            points = [(chance.uniform(5, 20) * step, chance.uniform(2, 24)) for step in range(1, 9)]
            self.sheet.curve(x + 8, self.y + 62, points)
            self.sheet.rule(x, self.y + 78, x + 190)
            self.sheet.text(x, self.y + 92, name, 9)

    def _next_page(self) -> None:
        self.sheet.page(font=self.font)
        number = self.sheet.page_count - self.first_page
        words = self.numbering.format(number)
        self.sheet.text(297, 810, words, 9, align="center", color=GREY)
        self.y = TOP


def _parties(cast: Cast, kind: str) -> tuple[Company | Person, Company | Person]:
    if kind == "rental":
        return cast.person(), cast.person()
    if kind == "services":
        return cast.company("goods"), cast.company("services")
    return cast.company("services"), cast.person()


def _role(cast: Cast, kind: str, number: int) -> str:
    role = clauses.ROLES[cast.language][kind][number]
    return role if cast.spanish else role.removeprefix("the ").upper()


def _paragraphs(
    cast: Cast, kind: str, first: Company | Person, second: Company | Person, day: str, city: str
) -> Iterator[Paragraph]:
    iban = first.iban if isinstance(first, Company) else cast.company("bank").iban
    words = {
        "amount": cast.money(cast.amount(55000, 310000)),
        "iban": in_groups(iban),
        "place": first.address.one_line,
        "job": cast.random.choice(names.JOBS[cast.language]).lower(),
        "city": city,
    }
    yield Paragraph(clauses.TITLES[cast.language][kind], bold=True, centred=True, gap=16)
    yield Paragraph(cast.say(f"En {city}, a {day}", f"This agreement is made at {city} on {day}"), gap=14)
    yield Paragraph(cast.say("REUNIDOS", "BETWEEN"), bold=True)
    for number, party in enumerate((first, second)):
        yield Paragraph(introduced(cast, party, clauses.ROLES[cast.language][kind][number], number))
    if cast.spanish:
        yield Paragraph("Ambas partes se reconocen capacidad legal suficiente para obligarse y")
    yield Paragraph(cast.say("EXPONEN", "WHEREAS"), bold=True)
    yield Paragraph(clauses.RECITALS[cast.language][kind].format(**words))
    yield Paragraph(cast.say("CLÁUSULAS", "THE PARTIES AGREE AS FOLLOWS"), bold=True)
    for number, (title, text) in enumerate(clauses.CLAUSES[kind][cast.language]):
        yield Paragraph(
            cast.say(f"{clauses.ORDINALS[number]}.- {title}.", f"{number + 1}. {title}"), bold=True, gap=1
        )
        yield Paragraph(text.format(**words))
    yield Paragraph(
        cast.say(
            "Y en prueba de conformidad, firman el presente contrato por duplicado en el lugar y fecha "
            "del encabezamiento.",
            "Signed by both parties in two copies at the place and on the date first written above.",
        )
    )


def introduced(cast: Cast, party: Company | Person, role: str, number: int) -> str:
    if isinstance(party, Company):
        spanish = f"{party.name}, con CIF {party.tax_id} y domicilio social en {party.address.one_line}"
    else:
        polite = "D." if party.sex == "M" else "Dª"
        home = party.address.one_line
        spanish = f"{polite} {party.name}, mayor de edad, con DNI {party.tax_id} y domicilio en {home}"
    side = cast.say("De una parte" if number == 0 else "De otra parte", f"({number + 1})")
    return cast.say(
        f"{side}, {spanish}, en adelante {role}.",
        f'{side} {party.name}, of {party.address.one_line} ("{role}");',
    )


LAYOUTS = (
    Layout("rental", partial(_draw, kind="rental")),
    Layout("services", partial(_draw, kind="services")),
    Layout("employment", partial(_draw, kind="employment"), held_out=True),
)
