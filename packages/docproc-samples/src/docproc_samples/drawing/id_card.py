"""Identity documents, marked as specimens: the Spanish card and a passport's data page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from docproc_samples.drawing import zone
from docproc_samples.drawing.cast import Cast, Person
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import Sheet

CARD = (243.0, 153.0)  # 85.6 x 54 mm
LABEL = "#5a6f8c"
MRZ_NAME = 30  # characters of a card's third line
PASSPORTS = {
    "GB": ("GBR", "UNITED KINGDOM OF GREAT BRITAIN", "BRITISH CITIZEN"),
    "US": ("USA", "UNITED STATES OF AMERICA", "UNITED STATES OF AMERICA"),
}


@dataclass(frozen=True)
class SpanishCard:
    person: Person
    support: str
    expiry: date
    parents: str

    @property
    def mrz(self) -> list[str]:
        given = self.person.given[: MRZ_NAME - len(self.person.surnames) - 2].strip()  # long names are cut
        person = self.person
        bearer = zone.Bearer(
            "ESP", self.support, person.surnames, given, person.birth, person.sex, self.expiry
        )
        return zone.card(bearer, optional=person.tax_id)

    def fields(self) -> dict[str, str]:
        return {
            "full_name": self.person.name.upper(),
            "id_number": self.person.tax_id,
            "date_of_birth": self.person.birth.isoformat(),
            "expiry_date": self.expiry.isoformat(),
            "nationality": "ESP",
        }


def two_sides(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Front on one page, back on the next, as copied on a machine."""
    card = spanish_card(cast)
    scale = cast.random.uniform(1.45, 1.75)
    x, y = cast.random.uniform(60, 100), cast.random.uniform(90, 250)
    sheet.page(font="Helvetica")
    _front(Placed(sheet, x, y, scale), card, cast)
    sheet.page(font="Helvetica")
    _back(Placed(sheet, x + cast.random.uniform(-15, 15), y, scale), card, cast)
    return card.fields()


def one_page(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Both sides below each other."""
    card = spanish_card(cast)
    scale = cast.random.uniform(1.45, 1.65)
    x = cast.random.uniform(70, 110)
    sheet.page(font="Helvetica")
    _front(Placed(sheet, x, 80, scale), card, cast)
    _back(Placed(sheet, x, 110 + CARD[1] * scale, scale), card, cast)
    return card.fields()


@dataclass(frozen=True)
class Placed:
    """A card on a page: what is drawn on it is moved and enlarged."""

    sheet: Sheet
    x: float
    y: float
    scale: float = 1.0

    def text(self, x: float, y: float, text: str, size: float, *, bold: bool = False, color: str = "#111111",
             font: str | None = None, align: str = "left") -> None:  # fmt: skip
        self.sheet.text(self.x + x * self.scale, self.y + y * self.scale, text, size * self.scale, bold=bold,
                        color=color, font=font, align=align)  # fmt: skip

    def box(self, x: float, y: float, width: float, height: float, *, fill: str, stroke: str | None = None,
            radius: float = 0) -> None:  # fmt: skip
        by = self.scale
        self.sheet.box(self.x + x * by, self.y + y * by, width * by, height * by, fill=fill, stroke=stroke,
                       radius=radius * by)  # fmt: skip

    def field(self, x: float, y: float, label: str, value: str, size: float = 7.6) -> None:
        self.text(x, y, label, 4.3, color=LABEL)
        self.text(x, y + size + 1.2, value, size, bold=True)

    def portrait(self, x: float, y: float, width: float, height: float) -> None:
        by = self.scale
        self.sheet.portrait(self.x + x * by, self.y + y * by, width * by, height * by)


def spanish_card(cast: Cast) -> SpanishCard:
    person = cast.person()
    expiry = cast.day() + timedelta(days=cast.random.randint(600, 3400))
    support = "".join(cast.random.choices("ABCDEFGHJKLMNPRSTVWXYZ", k=3)) + cast.digits(6)
    father, mother = cast.random.choice(("ANTONIO", "LUIS", "MANUEL")), cast.random.choice(("ROSA", "TERESA"))
    parents = f"{father} / {mother}"
    return SpanishCard(person, support, expiry, parents)


def _front(card_area: Placed, card: SpanishCard, cast: Cast) -> None:
    person = card.person
    area = card_area
    area.box(0, 0, *CARD, fill="#eaf1f6", stroke="#8fa3b5", radius=8)
    area.box(0, 0, CARD[0], 21, fill="#d3e2ee", radius=8)
    area.text(34, 9, "ESPAÑA", 7.5, bold=True, color="#8a1c1c")
    area.text(34, 17, "DOCUMENTO NACIONAL DE IDENTIDAD", 6.4, bold=True, color="#2c3e63")
    area.box(10, 4, 18, 13, fill="#c9a227", radius=2)
    area.portrait(10, 30, 70, 88)
    surnames = person.surnames.upper().split(" ", 1)
    area.text(90, 31, "APELLIDOS", 4.3, color=LABEL)
    area.text(90, 40, surnames[0], 8, bold=True)
    area.text(90, 49, surnames[1], 8, bold=True)
    area.field(90, 57, "NOMBRE", person.given.upper(), 8)
    area.field(90, 74, "SEXO", person.sex)
    area.field(120, 74, "NACIONALIDAD", "ESP")
    area.field(172, 74, "FECHA DE NACIMIENTO", _spaced(person.birth))
    area.field(90, 91, "NUM SOPORT", card.support)
    area.field(172, 91, "VALIDEZ", _spaced(card.expiry))
    area.text(90, 110, "DNI", 6, color=LABEL)
    area.text(106, 118, person.tax_id, 13, bold=True)
    area.text(10, 129, "FIRMA", 4.3, color=LABEL)
    area.text(30, 141, person.given.split()[0], 12, font="Times-Roman", color="#26315e")
    area.text(90, 134, "CAN", 4.3, color=LABEL)
    area.text(102, 136, cast.digits(6), 8)
    area.box(206, 108, 27, 33, fill="#d5dbe0", radius=2)
    area.text(236, 149, "ESPECIMEN", 4.5, color="#8a1c1c", align="right")


def _back(card_area: Placed, card: SpanishCard, cast: Cast) -> None:
    person, area = card.person, card_area
    area.box(0, 0, *CARD, fill="#edf2f5", stroke="#8fa3b5", radius=8)
    area.box(12, 12, 38, 30, fill="#d8c27a", stroke="#a08a3c", radius=4)
    area.text(62, 12, "DOMICILIO", 4.3, color=LABEL)
    area.text(62, 20, person.address.street.upper(), 6.4, bold=True)
    area.text(62, 28, person.address.city.upper(), 6.4, bold=True)
    area.text(62, 36, person.address.region.upper(), 6.4, bold=True)
    area.field(62, 45, "LUGAR DE NACIMIENTO", f"{cast.address().city.upper()}", 6.4)
    area.field(62, 61, "HIJO/A DE", card.parents, 6.4)
    area.field(12, 61, "EQUIPO", f"{cast.digits(5)}A6D1", 5.4)
    area.text(236, 80, "ESPECIMEN", 4.5, color="#8a1c1c", align="right")
    area.box(0, 86, CARD[0], CARD[1] - 88, fill="#f8fafb", radius=6)
    for row, line in enumerate(card.mrz):
        area.text(CARD[0] / 2, 104 + row * 16, line, 12.2, font="Courier", bold=True, align="center")


def _spaced(day: date) -> str:
    return f"{day:%d %m %Y}"


def passport(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """The data page of a passport in English."""
    person = cast.person()
    code, country, nationality = PASSPORTS[cast.country]
    issued = cast.day() - timedelta(days=cast.random.randint(200, 2500))
    expiry = issued.replace(year=issued.year + 10, day=min(issued.day, 28))
    number = cast.digits(9)
    bearer = zone.Bearer(code, number, person.surnames, person.given, person.birth, person.sex, expiry)
    lines = zone.passport(bearer)
    sheet.page(font="Helvetica")
    area = Placed(sheet, cast.random.uniform(45, 60), cast.random.uniform(90, 230), 1.35)
    area.box(0, 0, 355, 250, fill="#f3efe6", stroke="#a89f8a", radius=6)
    area.text(178, 18, country, 10, bold=True, align="center", color="#3b3370")
    area.text(14, 36, "PASSPORT", 8, bold=True, color="#3b3370")
    area.portrait(14, 46, 92, 118)
    area.field(118, 40, "Type", "P", 8)
    area.field(165, 40, "Code of issuing State", code, 8)
    area.field(255, 40, "Passport No.", number, 9)
    area.field(118, 60, "Surname", person.surnames.upper(), 9)
    area.field(118, 79, "Given names", person.given.upper(), 9)
    area.field(118, 98, "Nationality", nationality, 9)
    area.field(118, 117, "Date of birth", _passport_day(person.birth), 9)
    area.field(118, 136, "Sex", person.sex, 9)
    area.field(165, 136, "Place of birth", cast.address().city.upper(), 9)
    area.field(118, 155, "Date of issue", _passport_day(issued), 9)
    area.field(235, 155, "Authority", cast.say("", "PASSPORT OFFICE"), 8)
    area.field(118, 174, "Date of expiry", _passport_day(expiry), 9)
    area.text(60, 182, person.given, 13, font="Times-Roman", color="#26315e", align="center")
    area.text(345, 198, "SPECIMEN", 5, color="#8a1c1c", align="right")
    area.box(0, 205, 355, 44, fill="#fbf9f4")
    for row, line in enumerate(lines):
        area.text(177.5, 222 + row * 17, line, 12.2, font="Courier", bold=True, align="center")
    return {
        "full_name": person.name.upper(),
        "id_number": number,
        "date_of_birth": person.birth.isoformat(),
        "expiry_date": expiry.isoformat(),
        "nationality": nationality,
    }


def _passport_day(day: date) -> str:
    return f"{day:%d %b %Y}".upper()


LAYOUTS = (
    Layout("dni_two_pages", two_sides, ("es",)),
    Layout("dni_one_page", one_page, ("es",)),
    Layout("passport", passport, ("en",)),
)
