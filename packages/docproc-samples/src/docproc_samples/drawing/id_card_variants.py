"""More identity documents, all marked as specimens: cards, residence permits, passports, licences."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from stdnum.es import dni

from docproc_samples.drawing import zone
from docproc_samples.drawing.cast import Cast, Person
from docproc_samples.drawing.id_card import CARD, PASSPORTS, Placed, SpanishCard, spanish_card
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import A4, Sheet

FOREIGN = (
    ("MAR", "Yassine", "El Idrissi", "M"),
    ("COL", "Valentina", "Restrepo Londoño", "F"),
    ("ROU", "Andreea", "Ionescu", "F"),
    ("ARG", "Facundo", "Benegas Luna", "M"),
    ("UKR", "Oksana", "Kovalenko", "F"),
    ("SEN", "Mamadou", "Diagne", "M"),
)
PAPERS = ("#e9f0f4", "#f1ece4", "#e8f1ea", "#eceaf4")

APART_SHARE = 0.35  # of cards with two sides: one on each page

Face = Callable[[Placed], None]


def place(sheet: Sheet, cast: Cast, *faces: Face, size: tuple[float, float] = CARD) -> None:
    """Sides of a card on a page: copied on A4, or the page cut to the card as a telephone does."""
    if len(faces) == 1 and cast.random.random() < 0.45:
        scale, margin = cast.random.uniform(1.5, 2.0), cast.random.uniform(4, 26)
        wide, high = size[0] * scale + 2 * margin, size[1] * scale + 2 * margin
        sheet.page(wide, high, font="Helvetica")
        sheet.box(
            0,
            0,
            wide,
            high,
            fill=cast.random.choice(("#b9a58c", "#8d8d8d", "#d9d4cb", "#5d6470")),
            stroke=None,
        )
        faces[0](Placed(sheet, margin, margin, scale))
        return
    apart = len(faces) > 1 and cast.random.random() < APART_SHARE
    sheet.page(font="Helvetica")
    scale = cast.random.uniform(1.3, 1.0 * min(1.8, (A4[0] - 80) / size[0]))
    x, y = cast.random.uniform(30, A4[0] - size[0] * scale - 20), cast.random.uniform(60, 120)
    for face in faces:
        face(Placed(sheet, x, y, scale))
        y += size[1] * scale + cast.random.uniform(20, 60)
        if apart and face is not faces[-1]:
            sheet.page(font="Helvetica")
            y = cast.random.uniform(60, 120)


def dni_bilingual(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """The European model: labels in two languages, the number below."""
    card = spanish_card(cast)
    place(sheet, cast, lambda area: _european_front(area, cast, card), lambda area: _back(area, cast, card))
    return card.fields()


def dni_front(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Only the front of the European model."""
    card = spanish_card(cast)
    place(sheet, cast, lambda area: _european_front(area, cast, card))
    return card.fields()


def _european_front(area: Placed, cast: Cast, card: SpanishCard) -> None:
    person = card.person
    area.box(0, 0, *CARD, fill=cast.random.choice(PAPERS), stroke="#8fa3b5", radius=8)
    area.box(8, 6, 22, 15, fill="#1f3f94", radius=1)
    area.text(19, 16, "ES", 6, bold=True, color="#f5d442", align="center")
    area.text(36, 12, "ESPAÑA", 6.5, bold=True)
    area.text(36, 19, "DOCUMENTO NACIONAL DE IDENTIDAD / NATIONAL IDENTITY CARD", 4.7, color="#2c3e63")
    area.portrait(8, 27, 66, 84)
    surnames = person.surnames.upper()
    area.field(82, 29, "APELLIDOS / SURNAMES", surnames.split(" ", 1)[0], 7.2)
    area.text(82, 46, surnames.split(" ", 1)[1], 7.2, bold=True)
    area.field(82, 53, "NOMBRE / NAME", person.given.upper(), 7.2)
    area.field(82, 69, "SEXO / SEX", person.sex, 7)
    area.field(122, 69, "NACIONALIDAD / NATIONALITY", "ESP", 7)
    area.field(82, 84, "FECHA DE NACIMIENTO / DATE OF BIRTH", f"{person.birth:%d %m %Y}", 7)
    issued = card.expiry - timedelta(days=3652)
    area.field(82, 99, "EMISIÓN / ISSUE", f"{issued:%d %m %Y}", 7)
    area.field(150, 99, "VALIDEZ / EXPIRY", f"{card.expiry:%d %m %Y}", 7)
    area.field(150, 114, "NUM SOPORTE / DOC No", card.support, 6.6)
    area.field(8, 118, "DNI / ID No", person.tax_id, 11)
    area.text(95, 138, person.given.split()[0], 11, font="Times-Italic", color="#26315e")
    area.text(236, 149, "ESPECIMEN", 4.5, color="#8a1c1c", align="right")


def _back(area: Placed, cast: Cast, card: SpanishCard) -> None:
    person = card.person
    area.box(0, 0, *CARD, fill="#eef2f0", stroke="#8fa3b5", radius=8)
    area.box(196, 10, 36, 28, fill="#d8c27a", stroke="#a08a3c", radius=4)
    area.text(10, 12, "DOMICILIO / ADDRESS", 4.3, color="#5a6f8c")
    area.text(10, 20, f"{person.address.street.upper()}", 6, bold=True)
    area.text(10, 28, f"{person.address.city.upper()}  {person.address.region.upper()}", 6, bold=True)
    area.field(10, 36, "LUGAR DE NACIMIENTO / PLACE OF BIRTH", cast.address().city.upper(), 6)
    area.field(10, 52, "HIJO/A DE / PARENTS", card.parents, 6)
    area.text(236, 80, "ESPECIMEN", 4.5, color="#8a1c1c", align="right")
    for row, line in enumerate(card.mrz):
        area.text(CARD[0] / 2, 104 + row * 16, line, 12.2, font="Courier", bold=True, align="center")


def dni_older(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """The older card: first and second surname apart, the number below the photo."""
    card = spanish_card(cast)
    person = card.person

    def front(area: Placed) -> None:
        area.box(0, 0, *CARD, fill="#eaf0ee", stroke="#9aa9a5", radius=8)
        area.text(121, 12, "ESPAÑA", 8, bold=True, align="center", color="#7a2a2a")
        area.text(121, 20, "DOCUMENTO NACIONAL DE IDENTIDAD", 5.8, align="center")
        area.portrait(160, 26, 74, 92)
        first, second = person.surnames.upper().split(" ", 1)
        area.field(10, 28, "PRIMER APELLIDO", first, 7.4)
        area.field(10, 44, "SEGUNDO APELLIDO", second, 7.4)
        area.field(10, 60, "NOMBRE", person.given.upper(), 7.4)
        area.field(10, 76, "SEXO", person.sex, 7)
        area.field(40, 76, "NACIONALIDAD", "ESP", 7)
        area.field(90, 76, "FECHA DE NACIMIENTO", f"{person.birth:%d %m %Y}", 7)
        area.field(10, 92, "IDESP", card.support, 7)
        area.field(90, 92, "VÁLIDO HASTA", f"{card.expiry:%d %m %Y}", 7)
        area.text(10, 130, "DNI NÚM.", 6)
        area.text(46, 132, person.tax_id[:-1] + "-" + person.tax_id[-1], 12, bold=True)
        area.text(236, 149, "ESPECIMEN", 4.5, color="#8a1c1c", align="right")

    sides = [front, lambda area: _back(area, cast, card)] if cast.random.random() < 0.6 else [front]
    place(sheet, cast, *sides)
    return card.fields()


def residence_card(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A foreigner's residence card with its NIE."""
    nationality, given, surnames, sex = cast.random.choice(FOREIGN)
    letter, digits = cast.random.choice("XYZ"), cast.digits(7)
    check = dni.calc_check_digit(str("XYZ".index(letter)) + digits)
    number = f"{letter}{digits}{check}"
    birth = date(cast.random.randint(1965, 2003), cast.random.randint(1, 12), cast.random.randint(1, 28))
    expiry = cast.day() + timedelta(days=cast.random.randint(200, 1800))
    support = f"E{cast.digits(8)}"
    bearer = zone.Bearer(nationality, support, surnames, given, birth, sex, expiry)
    lines = zone.card(bearer, "IR", optional=number)

    def front(area: Placed) -> None:
        area.box(0, 0, *CARD, fill="#f0e9ee", stroke="#a596a8", radius=8)
        area.text(10, 12, "ESPAÑA", 7, bold=True)
        area.text(60, 12, "PERMISO DE RESIDENCIA", 7.5, bold=True, color="#693b6b")
        area.text(232, 12, number, 8, bold=True, align="right")
        area.portrait(8, 24, 68, 88)
        area.field(84, 24, "APELLIDOS / SURNAME", surnames.upper(), 7)
        area.field(84, 40, "NOMBRE / NAME", given.upper(), 7)
        area.field(84, 56, "SEXO / SEX", sex, 7)
        area.field(118, 56, "NACIONALIDAD / NATIONALITY", nationality, 7)
        area.field(84, 72, "FECHA DE NACIMIENTO / DATE OF BIRTH", f"{birth:%d %m %Y}", 7)
        area.field(84, 88, "TIPO DE PERMISO / TYPE", "RESIDENCIA LARGA DURACIÓN", 6)
        area.field(84, 104, "VÁLIDO HASTA / VALID UNTIL", f"{expiry:%d %m %Y}", 7)
        area.field(10, 122, "NIE", number, 10)
        area.text(236, 149, "ESPECIMEN", 4.5, color="#8a1c1c", align="right")

    def back(area: Placed) -> None:
        area.box(0, 0, *CARD, fill="#f3eef2", stroke="#a596a8", radius=8)
        area.field(10, 20, "OBSERVACIONES", "AUTORIZA A TRABAJAR", 6)
        area.text(236, 80, "ESPECIMEN", 4.5, color="#8a1c1c", align="right")
        for row, line in enumerate(lines):
            area.text(CARD[0] / 2, 104 + row * 16, line, 12.2, font="Courier", bold=True, align="center")

    place(sheet, cast, *([front, back] if cast.random.random() < 0.7 else [front]))
    return _fields(f"{given} {surnames}", number, birth, expiry, nationality)


def spanish_passport(sheet: Sheet, cast: Cast) -> dict[str, str]:
    person = cast.person()
    expiry = cast.day() + timedelta(days=cast.random.randint(300, 3300))
    number = f"{''.join(cast.random.choices('ABCDEFGHJKLMNPRSTVXZ', k=3))}{cast.digits(6)}"
    bearer = zone.Bearer("ESP", number, person.surnames, person.given, person.birth, person.sex, expiry)
    lines = zone.passport(bearer)

    def page(area: Placed) -> None:
        area.box(0, 0, 340, 236, fill="#f4ecec", stroke="#b39a9a", radius=5)
        area.text(12, 16, "PASAPORTE / PASSPORT", 7.5, bold=True, color="#7a1f2b")
        area.text(328, 16, "ESPAÑA", 9, bold=True, align="right")
        area.portrait(12, 30, 84, 108)
        rows = (
            ("TIPO / TYPE", "P"),
            ("APELLIDOS / SURNAME (1)", person.surnames.upper()),
            ("NOMBRE / GIVEN NAMES (2)", person.given.upper()),
            ("NACIONALIDAD / NATIONALITY (3)", "ESPAÑOLA"),
            ("FECHA DE NACIMIENTO / DATE OF BIRTH (4)", f"{person.birth:%d %m %Y}"),
            ("SEXO / SEX (5)", person.sex),
            ("LUGAR DE NACIMIENTO / PLACE OF BIRTH (6)", cast.address().city.upper()),
            ("FECHA DE EXPEDICIÓN / DATE OF ISSUE (7)", f"{expiry - timedelta(days=3652):%d %m %Y}"),
            ("FECHA DE CADUCIDAD / DATE OF EXPIRY (8)", f"{expiry:%d %m %Y}"),
        )
        for row, (label, value) in enumerate(rows):
            area.field(108, 28 + row * 17.4, label, value, 8)
        area.field(250, 28, "PASAPORTE Nº / PASSPORT No.", number, 9)
        area.text(328, 190, "ESPECIMEN", 5, color="#8a1c1c", align="right")
        for row, line in enumerate(lines):
            area.text(170, 210 + row * 16, line, 11.6, font="Courier", bold=True, align="center")

    place(sheet, cast, page, size=(340, 236))
    return _fields(person.name, number, person.birth, expiry, "ESPAÑOLA")


def spanish_licence(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A driving licence: the fields have numbers, hardly any words."""
    person = cast.person()
    expiry = cast.day() + timedelta(days=cast.random.randint(300, 3300))
    _licence(sheet, cast, "PERMISO DE CONDUCCIÓN", "REINO DE ESPAÑA", person, expiry, person.tax_id, "DGT")
    fields = _fields(person.name, person.tax_id, person.birth, expiry, "")
    return {name: value for name, value in fields.items() if value}


def british_licence(sheet: Sheet, cast: Cast) -> dict[str, str]:
    cast.country = "GB"
    person = cast.person()
    expiry = cast.day() + timedelta(days=cast.random.randint(300, 3300))
    letters = (person.surnames.upper() + "99999")[:5]
    ending = "".join(cast.random.choices("ABCDEFGHJK", k=2))
    number = f"{letters}{cast.digits(6)}{person.given[0].upper()}99{ending}"
    _licence(sheet, cast, "DRIVING LICENCE", "UK", person, expiry, number, "DVLA")
    fields = _fields(person.name, number, person.birth, expiry, "")
    return {name: value for name, value in fields.items() if value}


def _licence(
    sheet: Sheet, cast: Cast, title: str, state: str, person: Person, expiry: date, number: str, office: str
) -> None:
    issued = expiry - timedelta(days=3652)
    dots = "%d.%m.%Y" if office == "DVLA" else cast.random.choice(("%d/%m/%Y", "%d-%m-%Y"))

    def front(area: Placed) -> None:
        area.box(0, 0, *CARD, fill="#f3e6ec", stroke="#b59aa6", radius=8)
        area.box(8, 6, 22, 15, fill="#1f3f94", radius=1)
        area.text(38, 16, title, 9, bold=True, color="#5b2c44")
        area.text(234, 16, state, 6.5, align="right")
        area.portrait(10, 30, 62, 80)
        rows = [
            ("1.", person.surnames.upper()),
            ("2.", person.given.upper()),
            ("3.", f"{person.birth.strftime(dots)}  {cast.address().city.upper()}"),
            ("4a.", f"{issued.strftime(dots)}    4c. {office}"),
            ("4b.", expiry.strftime(dots)),
            ("5.", number),
            ("9.", "AM/B1/B"),
        ]
        for row, (label, value) in enumerate(rows):
            area.text(82, 36 + row * 13.5, label, 6.4, color="#5b2c44")
            area.text(98, 36 + row * 13.5, value, 7.4, bold=True)
        area.text(30, 128, person.given.split()[0], 10, font="Times-Italic", color="#26315e")
        area.text(
            236, 149, "SPECIMEN" if office == "DVLA" else "ESPECIMEN", 4.5, color="#8a1c1c", align="right"
        )

    place(sheet, cast, front)


def american_licence(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A state's driver license: short labels before each value."""
    cast.country = "US"
    person = cast.person()
    expiry = cast.day() + timedelta(days=cast.random.randint(300, 2600))
    number = f"{cast.random.choice('ABCDHKLMNRST')}{cast.digits(7)}"
    state = cast.random.choice(("OREGON", "MINNESOTA", "WISCONSIN", "COLORADO", "MAINE"))

    def front(area: Placed) -> None:
        area.box(0, 0, *CARD, fill=cast.random.choice(PAPERS), stroke="#8894a5", radius=8)
        area.text(10, 15, state, 11, bold=True, color="#20508a")
        area.text(234, 15, "DRIVER LICENSE", 8, bold=True, align="right")
        area.portrait(8, 28, 64, 84)
        area.text(80, 34, "DL", 5.6, color="#20508a")
        area.text(94, 35, number, 9.5, bold=True)
        rows = [
            ("DOB", f"{person.birth:%m/%d/%Y}"),
            ("EXP", f"{expiry:%m/%d/%Y}"),
            ("LN", person.surnames.upper()),
            ("FN", person.given.upper()),
            ("", person.address.street.upper()),
            ("", person.address.town.upper()),
        ]
        for row, (label, value) in enumerate(rows):
            area.text(80, 48 + row * 12, label, 5.6, color="#20508a")
            area.text(98 if label else 80, 48 + row * 12, value, 7.4, bold=True)
        area.text(
            80, 124, f"SEX {person.sex}   HGT 5'-{cast.random.randint(2, 11):02d}\"   EYES BRO   CLASS C", 6
        )
        area.text(80, 136, f"ISS {expiry - timedelta(days=2900):%m/%d/%Y}", 6)
        area.text(236, 149, "SPECIMEN", 4.5, color="#8a1c1c", align="right")

    place(sheet, cast, front)
    fields = _fields(person.name, number, person.birth, expiry, "")
    return {name: value for name, value in fields.items() if value}


def passport_card(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """An identity card in English, with the zone of a card on the same page."""
    person = cast.person()
    code, country, nationality = PASSPORTS[cast.country]
    expiry = cast.day() + timedelta(days=cast.random.randint(300, 3300))
    number = f"C{cast.digits(8)}"
    lines = zone.card(
        zone.Bearer(code, number, person.surnames, person.given, person.birth, person.sex, expiry), "IP"
    )

    def front(area: Placed) -> None:
        area.box(0, 0, *CARD, fill="#e9edf5", stroke="#8c97b0", radius=8)
        area.text(10, 13, country, 6.4, bold=True)
        area.text(234, 13, "IDENTITY CARD", 7, bold=True, align="right")
        area.portrait(8, 24, 66, 86)
        rows = (
            ("Nationality", nationality),
            ("Card No.", number),
            ("Surname", person.surnames.upper()),
            ("Given Names", person.given.upper()),
            ("Sex", person.sex),
            ("Date of Birth", f"{person.birth:%d %b %Y}".upper()),
            ("Expires On", f"{expiry:%d %b %Y}".upper()),
        )
        for row, (label, value) in enumerate(rows):
            area.field(84, 24 + row * 15.6, label, value, 6.8)
        area.text(236, 149, "SPECIMEN", 4.5, color="#8a1c1c", align="right")

    def back(area: Placed) -> None:
        area.box(0, 0, *CARD, fill="#f0f2f7", stroke="#8c97b0", radius=8)
        area.text(236, 80, "SPECIMEN", 4.5, color="#8a1c1c", align="right")
        for row, line in enumerate(lines):
            area.text(CARD[0] / 2, 104 + row * 16, line, 12.2, font="Courier", bold=True, align="center")

    place(sheet, cast, front, back)
    return _fields(person.name, number, person.birth, expiry, nationality)


def _fields(name: str, number: str, birth: date, expiry: date, nationality: str) -> dict[str, str]:
    return {
        "full_name": name.upper(),
        "id_number": number,
        "date_of_birth": birth.isoformat(),
        "expiry_date": expiry.isoformat(),
        "nationality": nationality,
    }


LAYOUTS = (
    Layout("dni_bilingual", dni_bilingual, ("es",)),
    Layout("residence_card", residence_card, ("es",)),
    Layout("spanish_licence", spanish_licence, ("es",)),
    Layout("dni_front", dni_front, ("es",)),
    Layout("dni_older", dni_older, ("es",), held_out=True),
    Layout("spanish_passport", spanish_passport, ("es",), held_out=True),
    Layout("american_licence", american_licence, ("en",)),
    Layout("passport_card", passport_card, ("en",), held_out=True),
    Layout("british_licence", british_licence, ("en",), held_out=True),
)
