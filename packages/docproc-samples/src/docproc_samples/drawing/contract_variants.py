"""More contracts: loan, confidentiality, sale of a vehicle, and the boxed form of an employment contract."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from docproc_samples.drawing import clauses, names
from docproc_samples.drawing.cast import Cast, Company, Person
from docproc_samples.drawing.clauses_variants import LOAN, SALE, SECRECY
from docproc_samples.drawing.contract import Flow, Paragraph, introduced
from docproc_samples.drawing.identifiers import contribution_account, in_groups, social_security
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import Sheet
from docproc_samples.drawing.style import Style, style
from docproc_samples.drawing.writing import cents


def loan(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Two people; the day stands at the end, above the signatures."""
    first, second = cast.person(), cast.person()
    roles = cast.say("EL PRESTAMISTA|EL PRESTATARIO", "the Lender|the Borrower").split("|")
    title = cast.pick(
        ("CONTRATO DE PRÉSTAMO ENTRE PARTICULARES", "CONTRATO PRIVADO DE PRÉSTAMO"), ("LOAN AGREEMENT",)
    )
    return _prose(sheet, cast, title, (first, second), roles, LOAN[cast.language], day_first=False)


def secrecy(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Two companies, each spoken for by a person."""
    first, second = cast.company("services"), cast.company("goods")
    roles = cast.say(
        "LA PARTE DIVULGADORA|LA PARTE RECEPTORA", "the Disclosing Party|the Receiving Party"
    ).split("|")
    title = cast.pick(
        ("ACUERDO DE CONFIDENCIALIDAD", "CONTRATO DE CONFIDENCIALIDAD"),
        ("NON-DISCLOSURE AGREEMENT", "CONFIDENTIALITY AGREEMENT"),
    )
    return _prose(sheet, cast, title, (first, second), roles, SECRECY[cast.language], day_first=True)


def _prose(
    sheet: Sheet,
    cast: Cast,
    title: str,
    parties: tuple[Company | Person, Company | Person],
    roles: Sequence[str],
    agreed: Sequence[tuple[str, str]],
    *,
    day_first: bool,
) -> dict[str, str]:
    day, city = cast.day(), cast.address().city
    flow = Flow(sheet, cast, cast.random.choice(("Times-Roman", "Helvetica", "Vera")))
    dated = cast.say(f"En {city}, a {cast.long_date(day)}", f"Dated {cast.long_date(day)}, {city}")
    flow.add(Paragraph(title, bold=True, centred=True, gap=18))
    if day_first:
        flow.add(Paragraph(dated + cast.say(".", ""), gap=14))
    flow.add(
        Paragraph(cast.pick(("REUNIDOS", "INTERVIENEN", "COMPARECEN"), ("PARTIES", "BETWEEN")), bold=True)
    )
    for number, (party, role) in enumerate(zip(parties, roles, strict=True)):
        flow.add(Paragraph(_presented(cast, party, role, number)))
    flow.add(
        Paragraph(cast.pick(("PACTOS", "ESTIPULACIONES", "CLÁUSULAS"), ("TERMS", "AGREED TERMS")), bold=True)
    )
    words = {
        "amount": cast.money(cast.amount(150000, 3000000)),
        "iban": in_groups(cast.company("bank").iban),
        "city": city,
    }
    common = clauses.SPANISH_COMMON if cast.spanish else clauses.ENGLISH_COMMON
    numbers = cast.random.choice(("{}.", "{}ª.", "{}.-")) if cast.spanish else "{}."
    kept = common[: cast.random.randint(1, len(common))]
    for number, (head, text) in enumerate([*agreed, *kept], start=1):
        flow.add(Paragraph(f"{numbers.format(number)} {head}. {text.format(**words)}"))
    closing = cast.say(
        "Leído el presente documento, las partes lo firman por duplicado",
        "The parties sign this agreement in two copies",
    )
    flow.add(Paragraph(f"{closing}.", gap=12))
    if not day_first:
        flow.add(Paragraph(dated + cast.say(".", "")))
    flow.sign(_bare(roles[0]), parties[0].name, _bare(roles[1]), parties[1].name)
    return _fields(day, parties[0].name, parties[1].name)


def _presented(cast: Cast, party: Company | Person, role: str, number: int) -> str:
    """A company is presented by whoever signs for it."""
    if isinstance(party, Person) or not cast.spanish:
        return introduced(cast, party, role, number)
    person = cast.person()
    polite = "D." if person.sex == "M" else "Dª"
    return (
        f"{polite} {person.name}, con DNI {person.tax_id}, en nombre y representación de {party.name}, con "
        f"CIF {party.tax_id} y domicilio "
        f"en {party.address.one_line} (en adelante, «{role}»)."
    )


def vehicle_sale(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """One page: seller, buyer and vehicle as forms, a few conditions, two signatures."""
    seller, buyer, look, day = (
        cast.person(),
        cast.person(),
        style(cast, fonts=("Helvetica", "Times-Roman")),
        cast.day(),
    )
    sheet.page(font=look.font)
    title = cast.pick(
        ("CONTRATO DE COMPRAVENTA DE VEHÍCULO USADO", "CONTRATO DE COMPRA-VENTA DE VEHÍCULO"),
        ("VEHICLE SALE AGREEMENT", "BILL OF SALE"),
    )
    sheet.text(297, 60, title, 13, bold=True, align="center")
    sheet.text(
        look.left,
        90,
        cast.say(f"En {seller.address.city}, a {cast.long_date(day)}", f"Date: {cast.long_date(day)}"),
        10.5,
    )
    y = _form(sheet, look, 104, cast.say("VENDEDOR", "SELLER"), _about(cast, seller))
    y = _form(sheet, look, y + 10, cast.say("COMPRADOR", "BUYER"), _about(cast, buyer))
    car = cast.random.choice(("Corza 1.4", "Ranger TDI", "Meridia Sport", "Lince 16V"))
    plate = f"{cast.digits(4)} {''.join(cast.random.choices('BCDFGHJKLM', k=3))}"
    y = _form(
        sheet,
        look,
        y + 10,
        cast.say("VEHÍCULO", "VEHICLE"),
        [
            (cast.say("Marca y modelo", "Make and model"), car),
            (cast.say("Matrícula", "Registration"), plate),
            (cast.say("Nº de bastidor", "VIN"), f"VSZ{cast.digits(14)}"),
            (cast.say("Kilómetros", "Mileage"), cast.digits(6)),
        ],
    )
    amount = cast.money(cast.amount(80000, 1900000))
    sheet.text(look.left, y + 26, cast.say("CONDICIONES", "CONDITIONS"), 11, bold=True)
    y += 44
    for number, text in enumerate(SALE[cast.language], start=1):
        y = (
            sheet.prose(
                look.left, y, look.width, f"{number}.{cast.say('ª', '')} {text.format(amount=amount)}", 10
            )
            + 5
        )
    _signatures(
        sheet,
        cast,
        look,
        y + 20,
        (cast.say("El vendedor", "Seller"), seller.name),
        (cast.say("El comprador", "Buyer"), buyer.name),
    )
    return _fields(day, seller.name, buyer.name)


def employment_form(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """The official form: boxes for company and worker, then numbered clauses with blanks filled in."""
    company, worker, boss, look, day = (
        cast.company("services"),
        cast.person(),
        cast.person(),
        style(cast, fonts=("Helvetica",)),
        cast.day(),
    )
    sheet.page(font=look.font)
    sheet.box(look.left, 36, look.width, 30, fill="#e8ecf0")
    sheet.text(
        297,
        55,
        cast.pick(
            ("CONTRATO DE TRABAJO INDEFINIDO", "CONTRATO DE TRABAJO TEMPORAL"), ("EMPLOYMENT CONTRACT",)
        ),
        13,
        bold=True,
        align="center",
    )
    y = _form(
        sheet,
        look,
        80,
        cast.say("DATOS DE LA EMPRESA", "THE EMPLOYER"),
        [
            (cast.say("CIF/NIF", "Tax number"), company.tax_id),
            (cast.say("D./Dña.", "Represented by"), boss.name),
            (cast.say("En concepto de", "As"), cast.say("Administrador único", "Director")),
            (cast.say("Nombre o razón social", "Company name"), company.name),
            (cast.say("Domicilio social", "Address"), company.address.one_line),
            *([("C.C.C.", contribution_account(cast.random))] if cast.spanish else []),
        ],
    )
    y = _form(
        sheet,
        look,
        y + 10,
        cast.say("DATOS DE LA PERSONA TRABAJADORA", "THE EMPLOYEE"),
        [
            (cast.say("D./Dña.", "Name"), worker.name),
            (cast.say("NIF/NIE", "ID"), worker.tax_id),
            (cast.say("Fecha de nacimiento", "Date of birth"), cast.short_date(worker.birth)),
            *([("Nº afiliación S.S.", social_security(cast.random))] if cast.spanish else []),
            (cast.say("Domicilio", "Address"), worker.address.one_line),
        ],
    )
    pay = cast.money(cents(cast.amount(1600000, 3600000) / Decimal(1)))
    job = cast.random.choice(names.JOBS[cast.language])
    texts = cast.say(
        f"PRIMERA. La persona trabajadora prestará sus servicios como {job}, en el centro de trabajo de "
        f"{company.address.city}.|SEGUNDA. La "
        "jornada será de 40 horas semanales, de lunes a viernes, con los descansos que establece la "
        "ley.|TERCERA. La duración será indefinida, "
        f"con un periodo de prueba de dos meses.|CUARTA. Se percibirá una retribución total de {pay} "
        "brutos anuales, distribuidos en salario "
        "base y complementos.|QUINTA. La duración de las vacaciones anuales será de 30 días "
        "naturales.|SEXTA. En lo no previsto se estará a "
        "la legislación vigente y al convenio colectivo.",
        f"1. The Employee works as {job} at {company.address.city}.|2. Working time is 40 hours a week, "
        "Monday to Friday.|3. The contract is "
        f"permanent, with two months' probation.|4. The salary is {pay} gross a year.|5. The Employee has "
        "28 days of holiday a year.|6. The law "
        "of the land applies to all else.",
    )
    sheet.text(look.left, y + 26, cast.say("CLÁUSULAS", "TERMS"), 11, bold=True)
    y += 44
    for text in texts.split("|"):
        y = sheet.prose(look.left, y, look.width, text, 9.6) + 5
    sheet.text(
        look.left,
        y + 14,
        cast.say(f"En {company.address.city}, a {cast.long_date(day)}", f"Signed on {cast.long_date(day)}"),
        10,
    )
    _signatures(
        sheet,
        cast,
        look,
        y + 34,
        (cast.say("La empresa", "Employer"), boss.name),
        (cast.say("El/la trabajador/a", "Employee"), worker.name),
    )
    return _fields(day, company.name, worker.name)


# --- parts


def _about(cast: Cast, person: Person) -> list[tuple[str, str]]:
    return [
        (cast.say("Nombre y apellidos", "Name"), person.name),
        (cast.say("DNI", "ID"), person.tax_id),
        (cast.say("Domicilio", "Address"), person.address.one_line),
    ]


def _form(sheet: Sheet, look: Style, y: float, head: str, rows: Sequence[tuple[str, str]]) -> float:
    sheet.box(look.left, y, look.width, 16, fill="#e8ecf0")
    sheet.text(look.left + 6, y + 12, head, 9, bold=True)
    y += 16
    for label, value in rows:
        sheet.box(look.left, y, look.width, 18)
        sheet.text(look.left + 6, y + 12, label, 8, color="#555555")
        sheet.fitted(look.left + 130, y + 13, look.width - 140, value, 9.8)
        y += 18
    return y


def _signatures(
    sheet: Sheet, cast: Cast, look: Style, y: float, first: tuple[str, str], second: tuple[str, str]
) -> None:
    for x, (role, name) in ((look.left, first), (look.left + look.width / 2, second)):
        sheet.text(x, y + 10, f"{role},", 9.5)
        points = [(cast.random.uniform(5, 20) * step, cast.random.uniform(2, 24)) for step in range(1, 7)]
        sheet.curve(x + 8, y + 50, points)
        sheet.text(x, y + 74, f"Fdo.: {name}" if cast.spanish else name, 9.5)


def _bare(role: str) -> str:
    return role.removeprefix("the ").upper()


def _fields(day: date, first: str, second: str) -> dict[str, str]:
    return {"date": day.isoformat(), "party_a": first, "party_b": second}


LAYOUTS = (
    Layout("loan", loan),
    Layout("vehicle_sale", vehicle_sale),
    Layout("secrecy", secrecy, held_out=True),
    Layout("employment_form", employment_form, held_out=True),
)
