"""Papers about people: a curriculum vitae of one or two pages, certificates, a medical report."""

from __future__ import annotations

from docproc_samples.drawing import names
from docproc_samples.drawing.cast import Cast, Person
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import GREY, Sheet
from docproc_samples.drawing.style import Style, style

SKILLS = {
    "es": (
        "Trabajo en equipo",
        "Ofimática avanzada",
        "Inglés B2",
        "Carné B",
        "Facturación y nóminas",
        "Atención al cliente",
        "Contabilidad básica",
        "Francés A2",
        "Gestión de almacén",
        "Diseño gráfico",
    ),
    "en": (
        "Team player",
        "Advanced spreadsheets",
        "Spanish B2",
        "Full driving licence",
        "Payroll and invoicing",
        "Customer care",
        "Bookkeeping",
        "Stock control",
        "Graphic design",
    ),
}
DUTIES = {
    "es": (
        "Atención telefónica y gestión de pedidos.",
        "Preparación de facturas, albaranes y nóminas.",
        "Coordinación de un equipo de cuatro personas.",
        "Control de existencias y compras a proveedores.",
        "Elaboración de informes mensuales para la dirección.",
        "Organización de turnos y formación de personal nuevo.",
    ),
    "en": (
        "Answered calls and handled orders.",
        "Prepared invoices, delivery notes and payslips.",
        "Led a team of four.",
        "Kept stock and bought from suppliers.",
        "Wrote monthly reports for the board.",
        "Planned shifts and trained new staff.",
    ),
}


def resume(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """One page, headings in colour."""
    person, look = cast.person(), style(cast, fonts=("Helvetica", "Vera", "Times-Roman"))
    sheet.page(font=look.font)
    y = _headline(sheet, cast, look, person)
    y = _experience(sheet, cast, look, y, 2)
    y = _studies(sheet, cast, look, y)
    _skills(sheet, cast, look, y)
    return {}


def long_resume(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Two pages; the second has only the name in its head, or nothing."""
    person, look = cast.person(), style(cast, fonts=("Helvetica", "Times-Roman"))
    sheet.page(font=look.font)
    y = _headline(sheet, cast, look, person)
    _experience(sheet, cast, look, y, 4)
    sheet.page(font=look.font)
    if cast.random.random() < 0.5:
        sheet.text(
            look.right, 40, f"{person.name} · {cast.say('Página', 'Page')} 2", 8, align="right", color=GREY
        )
    y = _studies(sheet, cast, look, 70)
    y = _skills(sheet, cast, look, y)
    sheet.prose(
        look.left,
        y + 16,
        look.width,
        cast.say("Referencias disponibles a petición.", "References on request."),
        10,
    )
    return {}


def side_resume(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A coloured column with photo and contact, the rest beside it."""
    person, look = cast.person(), style(cast, fonts=("Helvetica", "Vera"))
    sheet.page(font=look.font)
    sheet.box(0, 0, 185, 842, fill=look.accent, stroke=None)
    sheet.portrait(45, 50, 95, 110)
    y = sheet.prose(22, 192, 145, person.name, 15, bold=True, color="#ffffff") + 14
    mail = f"{person.given.split()[0].lower()}@correo.example"
    for line in (person.address.street, person.address.town, f"6{cast.digits(8)}", mail):
        y = sheet.prose(22, y, 145, line, 8.5, color="#ffffff") + 4
    for skill in cast.random.sample(SKILLS[cast.language], 5):
        y = sheet.prose(22, y + 6, 145, f"· {skill}", 9, color="#ffffff")
    beside = Style(look.cast, look.font, look.size, look.accent, look.colon, look.capitals, 0, 0, 210, 560)
    y = _experience(sheet, cast, beside, 60, 3)
    _studies(sheet, cast, beside, y)
    return {}


def certificate(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Someone certifies that someone worked or studied there."""
    person, company, look = (
        cast.person(),
        cast.company("services"),
        style(cast, fonts=("Times-Roman", "Helvetica")),
    )
    sheet.page(font=look.font)
    sheet.fitted(297, 90, 440, company.name, 15, bold=True, align="center")
    title = cast.pick(
        ("CERTIFICADO DE EMPRESA", "CERTIFICADO", "CERTIFICADO DE ASISTENCIA"),
        ("CERTIFICATE", "TO WHOM IT MAY CONCERN"),
    )
    sheet.text(297, 160, title, 17, bold=True, align="center", color=look.accent)
    boss = cast.person()
    text = cast.say(
        f"D./Dª {boss.name}, con DNI {boss.tax_id}, en calidad de responsable de personal de "
        f"{company.name}, con CIF {company.tax_id}, "
        f"CERTIFICA que {person.name}, con DNI {person.tax_id}, presta sus servicios en esta empresa desde "
        "el "
        f"{cast.long_date(cast.day())} con la categoría de {cast.random.choice(names.JOBS['es']).lower()}, "
        "percibiendo la retribución "
        "que corresponde a su convenio. Y para que conste, a petición de la persona interesada, se firma "
        "el presente.",
        f"This is to certify that {person.name} has been with {company.name} since "
        f"{cast.long_date(cast.day())} as "
        f"{cast.random.choice(names.JOBS['en']).lower()} and is paid a monthly salary. This letter is "
        "given at the request of the "
        "person concerned.",
    )
    y = sheet.prose(look.left + 20, 210, look.width - 40, text, 12) + 40
    sheet.text(look.left + 20, y, f"{company.address.city}, {cast.long_date(cast.day())}", 11)
    sheet.curve(look.left + 40, y + 60, [(18, 20), (30, 6), (48, 24), (66, 4), (80, 12), (120, 2)])
    sheet.text(look.left + 20, y + 90, f"{cast.say('Fdo.', 'Signed')}: {boss.name}", 11)
    return {}


def medical_report(sheet: Sheet, cast: Cast) -> dict[str, str]:
    person, look = cast.person(), style(cast, fonts=("Helvetica",))
    sheet.page(font=look.font)
    sheet.text(
        look.left,
        56,
        cast.say("Centro de Salud Ribera Alta", "Riverside Health Centre"),
        14,
        bold=True,
        color=look.accent,
    )
    sheet.text(look.right, 56, cast.say("INFORME CLÍNICO", "CLINICAL REPORT"), 12, bold=True, align="right")
    facts = [
        (cast.say("Paciente", "Patient"), person.name),
        (cast.say("F. nacimiento", "Date of birth"), cast.short_date(person.birth)),
        (cast.say("Nº historia", "Record no."), cast.digits(7)),
        (cast.say("Fecha", "Date"), cast.short_date(cast.day())),
    ]
    if cast.spanish:
        facts.append(("DNI", person.tax_id))
    sheet.box(look.left, 72, look.width, 22 + 14 * len(facts))
    for row, (label, value) in enumerate(facts):
        sheet.text(look.left + 8, 90 + row * 14, f"{label}:", 9, color=GREY)
        sheet.text(look.left + 110, 90 + row * 14, value, 9.5)
    parts = cast.say(
        "Motivo de consulta|Dolor lumbar de dos semanas de evolución, sin irradiación.|Exploración|Buen "
        "estado general. Contractura "
        "paravertebral. Reflejos conservados. Tensión arterial 128/79.|Juicio clínico|Lumbalgia "
        "mecánica.|Tratamiento|Calor local, "
        "ibuprofeno 600 mg cada 8 horas durante 5 días y reposo relativo. Revisión en tres semanas si no "
        "mejora.",
        "Reason for visit|Low back pain for two weeks, not radiating.|Findings|Good general condition. "
        "Muscle spasm, reflexes "
        "normal. Blood pressure 128/79.|Assessment|Mechanical back pain.|Plan|Heat, ibuprofen 400 mg three "
        "times a day for five "
        "days, relative rest. Review in three weeks if no better.",
    ).split("|")
    y = 195.0
    for number, text in enumerate(parts):
        y = sheet.prose(look.left, y, look.width, text, 10.5, bold=number % 2 == 0) + (
            2 if number % 2 == 0 else 10
        )
    return {}


# --- parts of a curriculum


def _headline(sheet: Sheet, cast: Cast, look: Style, person: Person) -> float:
    sheet.text(look.left, 70, person.name, 22, bold=True, color=look.accent)
    sheet.text(look.left, 88, cast.random.choice(names.JOBS[cast.language]), 11, color=GREY)
    contact = (
        f"{person.address.one_line} · 6{cast.digits(8)} · {person.given.split()[0].lower()}@correo.example"
    )
    sheet.fitted(look.left, 104, look.width, contact, 9)
    if cast.random.random() < 0.5:
        sheet.text(look.right, 60, "CURRICULUM VITAE", 9, align="right", color=GREY)
    return 130.0


def _heading(sheet: Sheet, look: Style, y: float, words: str) -> float:
    sheet.text(look.left, y, look.label(words).rstrip(":"), 12, bold=True, color=look.accent)
    sheet.rule(look.left, y + 4, look.right, color=look.accent)
    return y + 20


def _experience(sheet: Sheet, cast: Cast, look: Style, y: float, count: int) -> float:
    y = _heading(
        sheet,
        look,
        y,
        cast.pick(
            ("Experiencia profesional", "Experiencia laboral", "Experiencia"), ("Experience", "Employment")
        ),
    )
    year = 2025
    for _ in range(count):
        start = year - cast.random.randint(1, 4)
        sheet.text(look.left, y, cast.random.choice(names.JOBS[cast.language]), 10.5, bold=True)
        sheet.text(look.right, y, f"{start} - {year}", 9.5, align="right", color=GREY)
        sheet.fitted(
            look.left,
            y + 13,
            look.width,
            f"{cast.company('services').name}, {cast.address().city}",
            9.5,
            color=GREY,
        )
        y += 28
        for duty in cast.random.sample(DUTIES[cast.language], cast.random.randint(2, 4)):
            y = sheet.prose(look.left + 12, y, look.width - 12, f"• {duty}", 10)
        y, year = y + 12, start
    return y + 6


def _studies(sheet: Sheet, cast: Cast, look: Style, y: float) -> float:
    y = _heading(sheet, look, y, cast.pick(("Formación académica", "Formación", "Estudios"), ("Education",)))
    courses = cast.say(
        "Grado en Administración y Dirección de Empresas|Técnico superior en Administración y "
        "Finanzas|Bachillerato",
        "BA Business Studies|Diploma in Bookkeeping|A levels",
    ).split("|")
    for number, course in enumerate(cast.random.sample(courses, 2)):
        sheet.text(look.left, y, course, 10)
        sheet.text(
            look.right, y, f"{2012 - number * 4} - {2015 - number * 4}", 9.5, align="right", color=GREY
        )
        y += 18
    return y + 12


def _skills(sheet: Sheet, cast: Cast, look: Style, y: float) -> float:
    y = _heading(sheet, look, y, cast.pick(("Competencias", "Idiomas y otros datos"), ("Skills",)))
    for skill in cast.random.sample(SKILLS[cast.language], 5):
        sheet.text(look.left + 12, y, f"• {skill}", 10)
        y += 15
    return y


LAYOUTS = (
    Layout("resume", resume),
    Layout("long_resume", long_resume),
    Layout("certificate", certificate),
    Layout("side_resume", side_resume, held_out=True),
    Layout("medical_report", medical_report, held_out=True),
)
