"""Payslips: the Spanish official model in two shapes, and an English one."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from docproc_samples.drawing import names
from docproc_samples.drawing.cast import Cast, Company, Person
from docproc_samples.drawing.identifiers import contribution_account, in_groups, social_security
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import GREY, Column, Sheet
from docproc_samples.drawing.writing import MONTHS, cents

LEFT, RIGHT = 40.0, 555.0
CONTRIBUTIONS = (
    ("Contingencias comunes", Decimal("4.70")),
    ("Mecanismo de equidad intergeneracional", Decimal("0.13")),
    ("Desempleo", Decimal("1.55")),
    ("Formación profesional", Decimal("0.10")),
)


EXTRAS = (
    "Mejora voluntaria", "Plus actividad", "Plus nocturnidad", "Incentivos", "Complemento puesto",
    "Quebranto moneda",
    "Complemento ad personam", "Plus vestuario", "Dietas", "Plus responsabilidad", "A cuenta convenio",
)  # fmt: skip


# Before the period, but no part of it.
_PERIOD_WORDS = re.compile(r"^(?:del|mens|desde)\s+", re.IGNORECASE)


@dataclass(frozen=True)
class Payslip:
    company: Company
    person: Person
    month: date
    period: str
    job: str
    earnings: list[tuple[str, Decimal]]
    deductions: list[tuple[str, Decimal]]

    @property
    def gross(self) -> Decimal:
        return sum((amount for _, amount in self.earnings), Decimal(0))

    @property
    def deducted(self) -> Decimal:
        return sum((amount for _, amount in self.deductions), Decimal(0))

    @property
    def net(self) -> Decimal:
        return self.gross - self.deducted

    @property
    def last_day(self) -> date:
        return self.month.replace(day=calendar.monthrange(self.month.year, self.month.month)[1])

    def fields(self) -> dict[str, str]:
        spanish = self.company.address.country == "ES"
        known = {"company_tax_id": self.company.tax_id} if spanish else {}
        return known | {
            "total_deductions": str(self.deducted),
            "company_name": self.company.name,
            "employee_name": self.person.name,
            "gross_amount": str(self.gross),
            "net_amount": str(self.net),
            "period": _PERIOD_WORDS.sub("", self.period),
            "employee_tax_id": self.person.tax_id,
        }


# --- what they say


def spanish_payslip(cast: Cast) -> Payslip:
    month = cast.day().replace(day=1)
    base = cast.amount(118400, 231000)
    earnings = [("Salario base", base), ("Plus convenio", cast.amount(4500, 18500))]
    if cast.random.random() < 0.6:
        earnings.append(("Antigüedad", cast.amount(2500, 13000)))
    if cast.random.random() < 0.5:
        earnings.append(("Plus transporte", cast.amount(3000, 9500)))
    if cast.random.random() < 0.3:
        earnings.append(("Horas extraordinarias", cast.amount(4000, 22000)))
    extras = cast.random.sample(EXTRAS, cast.random.randint(0, 2))
    earnings += [(name, cast.amount(1500, 16000)) for name in extras]
    earnings.append(("Prorrata pagas extraordinarias", cents(base / 6)))
    gross = sum((amount for _, amount in earnings), Decimal(0))
    rates = [*CONTRIBUTIONS, ("Retención I.R.P.F.", cast.amount(800, 2190))]
    deductions = [(f"{name} {cast.percent(rate)}", cents(gross * rate / 100)) for name, rate in rates]
    return Payslip(
        cast.company(cast.random.choice(("goods", "services"))),
        cast.person(),
        month,
        _spanish_period(cast, month),
        cast.random.choice(names.JOBS["es"]),
        earnings,
        deductions,
    )


def _spanish_period(cast: Cast, month: date) -> str:
    last = calendar.monthrange(month.year, month.month)[1]
    name = MONTHS["es"][month.month - 1]
    return cast.random.choice(
        (
            f"del 1 al {last} de {name} de {month.year}",
            f"01/{month:%m/%Y} - {last}/{month:%m/%Y}",
            f"{name.capitalize()} {month.year}",
            f"del 01/{month:%m/%Y} al {last}/{month:%m/%Y}",
            f"{name.upper()} {month.year}",
            f"{name.capitalize()} de {month.year}",
            f"{month:%m/%Y}",
            f"Del 01 al {last} de {name.capitalize()} de {month.year}",
            f"01-{month:%m-%Y} a {last}-{month:%m-%Y}",
            f"MENS {month:%d} {name[:3].upper()} {month:%y} a {last} {name[:3].upper()} {month:%y}",
        )
    )


def english_payslip(cast: Cast) -> Payslip:
    month = cast.day().replace(day=1)
    name = MONTHS["en"][month.month - 1]
    last = calendar.monthrange(month.year, month.month)[1]
    period = cast.random.choice(
        (f"{name} {month.year}", f"1 {name} {month.year} to {last} {name} {month.year}")
    )
    earnings = [("Basic salary", cast.amount(195000, 410000))]
    if cast.random.random() < 0.5:
        earnings.append(("Overtime", cast.amount(4500, 39000)))
    if cast.random.random() < 0.3:
        earnings.append(("Bonus", cast.amount(10000, 60000)))
    gross = sum((amount for _, amount in earnings), Decimal(0))
    rates: tuple[tuple[str, int], ...]
    if cast.country == "GB":
        rates = (("Income tax (PAYE)", 13), ("National Insurance", 7), ("Pension contribution", 5))
    else:
        rates = (
            ("Federal income tax", 12),
            ("Social Security tax", 6),
            ("Medicare", 1),
            ("401(k) contribution", 4),
        )
    deductions = [
        (label, cents(gross * (rate + cast.random.randint(0, 90) / Decimal(100)) / 100))
        for label, rate in rates
    ]
    company = cast.company(cast.random.choice(("goods", "services")))
    return Payslip(
        company, cast.person(), month, period, cast.random.choice(names.JOBS["en"]), earnings, deductions
    )


# --- how they look


def _official_model(sheet: Sheet, cast: Cast, payslip: Payslip) -> None:
    """The boxes of the official receipt: both parties, I. earnings, II. deductions, bases at the foot."""
    company, person = payslip.company, payslip.person
    sheet.page(font="Helvetica")
    title = "RECIBO INDIVIDUAL JUSTIFICATIVO DEL PAGO DE SALARIOS"
    sheet.text(sheet.width / 2, 48, title, 11, bold=True, align="center")
    half = (RIGHT - LEFT) / 2
    sheet.box(LEFT, 60, half, 76)
    sheet.box(LEFT + half, 60, half, 76)
    _pairs(sheet, LEFT + 8, 75, [
        ("Empresa:", company.name), ("Domicilio:", company.address.one_line), ("CIF:", company.tax_id),
        ("Código de cuenta de cotización a la S.S.:", contribution_account(cast.random)),
    ])  # fmt: skip
    _pairs(sheet, LEFT + half + 8, 75, [
        ("Trabajador:", person.name), ("NIF:", person.tax_id),
        ("Nº afiliación a la Seguridad Social:", social_security(cast.random)),
        ("Categoría o grupo profesional:", payslip.job),
        ("Grupo de cotización:", f"{cast.random.randint(1, 9):02d}"),
    ])  # fmt: skip
    sheet.box(LEFT, 142, RIGHT - LEFT, 20)
    sheet.text(LEFT + 8, 156, "Periodo de liquidación:", 8.5, color="#333333")
    sheet.text(LEFT + 112, 156, payslip.period, 9, bold=True)
    sheet.text(
        RIGHT - 8,
        156,
        f"Total días: {payslip.last_day.day if cast.random.random() < 0.5 else 30}",
        8.5,
        align="right",
    )
    y = _section(sheet, cast, 168, "I. DEVENGOS", "1. Percepciones salariales", payslip.earnings)
    y = _sum(sheet, y + 6, "A. TOTAL DEVENGADO", cast.money(payslip.gross))
    split = len(payslip.deductions) - 1
    social, income = payslip.deductions[:split], payslip.deductions[split:]
    heading = "1. Aportación del trabajador a las cotizaciones a la Seguridad Social y recaudación conjunta"
    y = _section(sheet, cast, y + 8, "II. DEDUCCIONES", heading, social)
    contributed = sum((amount for _, amount in social), Decimal(0))
    sheet.text(LEFT + 22, y + 8, "TOTAL APORTACIONES", 8.5, bold=True)
    sheet.text(RIGHT - 10, y + 8, cast.number(contributed), 8.5, align="right")
    y += 24
    for label, amount in [(f"2. Impuesto sobre la renta: {income[0][0]}", income[0][1])]:
        sheet.text(LEFT + 10, y, label, 8.5)
        sheet.text(RIGHT - 10, y, cast.number(amount), 8.5, align="right")
        y += 15
    sheet.text(LEFT + 10, y, "3. Anticipos", 8.5)
    sheet.text(RIGHT - 10, y, cast.number(Decimal(0)), 8.5, align="right")
    y = _sum(sheet, y + 8, "B. TOTAL A DEDUCIR", cast.money(payslip.deducted))
    y = _sum(sheet, y + 6, "LÍQUIDO TOTAL A PERCIBIR (A - B)", cast.money(payslip.net), fill="#e3e6ea")
    sheet.text(LEFT, y + 18, f"{company.address.city}, {cast.long_date(payslip.last_day)}", 8.5)
    sheet.text(LEFT, y + 36, "Firma y sello de la empresa", 8, color=GREY)
    sheet.curve(LEFT + 10, y + 66, [(20, 26), (30, 8), (44, 22), (60, 4), (70, 14), (95, 2)])
    sheet.text(RIGHT, y + 36, "RECIBÍ", 8, align="right", color=GREY)
    _bases(sheet, cast, payslip, y + 88)


def _section(
    sheet: Sheet, cast: Cast, y: float, title: str, heading: str, rows: list[tuple[str, Decimal]]
) -> float:
    sheet.box(LEFT, y, RIGHT - LEFT, 17, fill="#e3e6ea")
    sheet.text(LEFT + 8, y + 12, title, 9, bold=True)
    sheet.text(RIGHT - 10, y + 12, "TOTALES", 8, bold=True, align="right")
    sheet.text(LEFT + 10, y + 30, heading, 8.5)
    y += 46
    for label, amount in rows:
        sheet.text(LEFT + 22, y, label, 8.5)
        sheet.text(RIGHT - 10, y, cast.number(amount), 8.5, align="right")
        y += 15
    return y


def _sum(sheet: Sheet, y: float, label: str, amount: str, fill: str | None = None) -> float:
    sheet.box(LEFT + 200, y, RIGHT - LEFT - 200, 19, fill=fill)
    sheet.text(LEFT + 208, y + 13, label, 9, bold=True)
    sheet.text(RIGHT - 10, y + 13, amount, 9.5, bold=True, align="right")
    return y + 19


def _bases(sheet: Sheet, cast: Cast, payslip: Payslip, y: float) -> None:
    title = "Determinación de las bases de cotización a la S.S. y de la base sujeta a retención del IRPF"
    sheet.text(LEFT, y, title, 7.5, bold=True)
    columns = [
        Column("Concepto", 215), Column("Base", 100, "right"), Column("Tipo", 90, "right"),
        Column("Aportación empresa", 110, "right"),
    ]  # fmt: skip
    gross = payslip.gross
    rates = (
        ("Contingencias comunes", "23.60"),
        ("AT y EP", "1.50"),
        ("Desempleo", "5.50"),
        ("FOGASA", "0.20"),
    )
    rows = [
        (
            name,
            cast.number(gross),
            cast.percent(Decimal(rate)),
            cast.number(cents(gross * Decimal(rate) / 100)),
        )
        for name, rate in rates
    ]
    rows.append(("Base sujeta a retención del IRPF", cast.number(gross), "", ""))
    sheet.table(LEFT, y + 6, columns, rows, size=7.5, step=13, head_fill="#eef0f2", grid=True)


def _programs_print(sheet: Sheet, cast: Cast, payslip: Payslip) -> None:
    """What a payroll program prints: a row of codes, earnings and deductions side by side."""
    company, person = payslip.company, payslip.person
    sheet.page(font=cast.random.choice(("Helvetica", "Courier")))
    narrow = sheet.font == "Courier"
    size = 7.0 if narrow else 8.5
    sheet.text(LEFT, 50, "NÓMINA", 15, bold=True)
    sheet.text(LEFT, 70, company.name, 10, bold=True)
    sheet.lines(LEFT, 83, [company.address.street, company.address.town, f"C.I.F. {company.tax_id}"], size)
    sheet.box(300, 40, 255, 88, radius=5)
    sheet.text(312, 58, person.name, 10, bold=True)
    sheet.lines(312, 73, [
        f"N.I.F. {person.tax_id}", f"Nº afil. S.S. {social_security(cast.random)}",
        f"Categoría: {payslip.job}",
        f"Antigüedad: {cast.short_date(date(payslip.month.year - cast.random.randint(1, 12), 3, 1))}",
    ], size)  # fmt: skip
    sheet.box(LEFT, 140, RIGHT - LEFT, 32, fill="#f2f4f6")
    sheet.text(LEFT + 8, 152, "PERIODO", 7, color=GREY)
    sheet.text(LEFT + 8, 165, payslip.period, size + 0.5, bold=True)
    sheet.text(RIGHT - 90, 152, "CUENTA COTIZACIÓN", 7, align="center", color=GREY)
    sheet.text(RIGHT - 90, 165, contribution_account(cast.random), size + 0.5, align="center")
    columns = [
        Column("CONCEPTO", 275), Column("DEVENGOS", 120, "right"), Column("DEDUCCIONES", 120, "right"),
    ]  # fmt: skip
    rows = [(label, cast.number(amount), "") for label, amount in payslip.earnings]
    rows += [(label, "", cast.number(amount)) for label, amount in payslip.deductions]
    rows += [("", "", "")] * (15 - len(rows))
    y = sheet.table(LEFT, 186, columns, rows, size=size, step=18, head_fill="#d9dee3", grid=True)
    cells = [
        ("T. DEVENGADO", cast.number(payslip.gross)),
        ("T. A DEDUCIR", cast.number(payslip.deducted)),
        ("LÍQUIDO A PERCIBIR", cast.money(payslip.net)),
    ]
    for column, (label, value) in enumerate(cells):
        x = LEFT + column * 171.6
        sheet.box(x, y + 14, 171.6, 42, fill="#f2f4f6" if column == 2 else None)
        sheet.text(x + 10, y + 28, label, 7.5, color=GREY)
        sheet.text(x + 161, y + 47, value, 12, bold=True, align="right")
    sheet.text(LEFT, y + 78, f"Abono en cuenta: {in_groups(company.iban[:-4])} ****", size)
    sheet.text(LEFT, y + 94, f"{company.address.city}, a {cast.long_date(payslip.last_day)}", size)
    _bases(sheet, cast, payslip, y + 126)


def _english_columns(sheet: Sheet, cast: Cast, payslip: Payslip) -> None:
    """Payments at the left, deductions at the right, net pay in a bar."""
    company, person = payslip.company, payslip.person
    sheet.page(font="Helvetica")
    sheet.text(LEFT, 60, company.name, 15, bold=True)
    sheet.text(LEFT, 75, company.address.one_line, 8.5, color=GREY)
    sheet.text(RIGHT, 60, "PAYSLIP", 17, bold=True, align="right", color="#33415c")
    sheet.rule(LEFT, 86, RIGHT, width=1.5, color="#33415c")
    _pairs(sheet, LEFT, 108, _english_facts(cast, payslip)[:3], 9.5, 17)
    _pairs(sheet, 315, 108, _english_facts(cast, payslip)[3:], 9.5, 17)
    half = (RIGHT - LEFT - 15) / 2
    columns = [Column("Payments", half - 90), Column("Amount", 90, "right")]
    rows = [(label, cast.money(amount)) for label, amount in payslip.earnings]
    y = sheet.table(LEFT, 180, columns, rows, head_fill="#dfe4ee", step=19)
    columns = [Column("Deductions", half - 90), Column("Amount", 90, "right")]
    rows = [(label, cast.money(amount)) for label, amount in payslip.deductions]
    y = max(y, sheet.table(LEFT + half + 15, 180, columns, rows, head_fill="#dfe4ee", step=19))
    sheet.rule(LEFT, y + 12, RIGHT)
    sheet.text(LEFT + 4, y + 30, "Gross pay", 10, bold=True)
    sheet.text(LEFT + half - 4, y + 30, cast.money(payslip.gross), 10, bold=True, align="right")
    sheet.text(LEFT + half + 19, y + 30, "Total deductions", 10, bold=True)
    sheet.text(RIGHT - 4, y + 30, cast.money(payslip.deducted), 10, bold=True, align="right")
    sheet.box(LEFT, y + 48, RIGHT - LEFT, 36, fill="#33415c", stroke=None)
    sheet.text(LEFT + 14, y + 71, "NET PAY", 13, bold=True, color="#ffffff")
    sheet.text(RIGHT - 14, y + 71, cast.money(payslip.net), 14, bold=True, align="right", color="#ffffff")
    _year_to_date(sheet, cast, payslip, y + 110)
    sheet.text(LEFT, 800, f"{person.name} · Private and confidential", 8, color=GREY)


def _english_card(sheet: Sheet, cast: Cast, payslip: Payslip) -> None:
    """A plain statement of earnings, one row below the other."""
    sheet.page(font=cast.random.choice(("Helvetica", "Times-Roman")))
    sheet.box(LEFT, 40, RIGHT - LEFT, 60, fill="#f3f1ea")
    sheet.text(LEFT + 14, 66, payslip.company.name, 14, bold=True)
    sheet.text(LEFT + 14, 84, "Statement of earnings and deductions", 10, color=GREY)
    sheet.text(RIGHT - 14, 66, "Pay Slip", 14, align="right")
    y = _pairs(sheet, LEFT + 14, 128, _english_facts(cast, payslip), 10, 17)
    columns = [Column("Description", 315), Column("This period", 200, "right")]
    rows = [(label, cast.money(amount)) for label, amount in payslip.earnings]
    rows.append(("GROSS PAY", cast.money(payslip.gross)))
    rows += [(f"Less: {label}", f"-{cast.money(amount)}") for label, amount in payslip.deductions]
    rows.append(("TOTAL DEDUCTIONS", cast.money(payslip.deducted)))
    rows.append(("NET PAY", cast.money(payslip.net)))
    y = sheet.table(LEFT, y + 12, columns, rows, size=10, step=20, grid=True)
    _year_to_date(sheet, cast, payslip, y + 30)


def _english_facts(cast: Cast, payslip: Payslip) -> list[tuple[str, str]]:
    person = payslip.person
    number = "NI number:" if cast.country == "GB" else "SSN:"
    paid = cast.long_date(payslip.last_day)
    return [
        ("Employee:", person.name), ("Position:", payslip.job), (number, person.tax_id),
        ("Pay period:", payslip.period), ("Pay date:", paid),
        ("Tax code:", "1257L" if cast.country == "GB" else "S-1"),
    ]  # fmt: skip


def _year_to_date(sheet: Sheet, cast: Cast, payslip: Payslip, y: float) -> None:
    months = payslip.month.month
    sheet.text(LEFT, y, "Year to date", 10, bold=True)
    rows = [("Gross pay to date", payslip.gross * months), ("Deductions to date", payslip.deducted * months)]
    for row, (label, amount) in enumerate(rows, start=1):
        sheet.text(LEFT, y + row * 15, label, 9)
        sheet.text(LEFT + 230, y + row * 15, cast.money(amount), 9, align="right")


def _pairs(
    sheet: Sheet, x: float, y: float, pairs: list[tuple[str, str]], size: float = 7.5, step: float = 13
) -> float:
    """Labels with their values behind them; a value too long for its box is drawn smaller."""
    for label, value in pairs:
        sheet.text(x, y, label, size, color="#444444")
        offset = sheet.measure(label, size) + 4
        room = 245 - offset
        fitting = min(
            size + 0.5, (size + 0.5) * room / max(room, sheet.measure(value, size + 0.5, bold=True))
        )
        sheet.text(x + offset, y, value, fitting, bold=True)
        y += step
    return y


def _layout(
    name: str, language: str, look: Callable[[Sheet, Cast, Payslip], None], *, held_out: bool = False
) -> Layout:
    def draw(sheet: Sheet, cast: Cast) -> dict[str, str]:
        payslip = spanish_payslip(cast) if language == "es" else english_payslip(cast)
        look(sheet, cast, payslip)
        return payslip.fields()

    return Layout(name, draw, (language,), held_out)


LAYOUTS = (
    _layout("official_model", "es", _official_model),
    _layout("programs_print", "es", _programs_print, held_out=True),
    _layout("english_columns", "en", _english_columns),
    _layout("english_card", "en", _english_card, held_out=True),
)
