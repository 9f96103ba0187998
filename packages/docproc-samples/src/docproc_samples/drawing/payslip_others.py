"""Payslips beyond the programs of Spain: a modern Spanish one, British slips and American pay stubs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.identifiers import social_security
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.payslip import Payslip, english_payslip, spanish_payslip
from docproc_samples.drawing.payslip_programs import (
    coded_columns,
    name_of,
    numbered_list,
    side_by_side,
)
from docproc_samples.drawing.sheet import GREY, Column, Sheet
from docproc_samples.drawing.style import style
from docproc_samples.drawing.writing import cents


def modern(sheet: Sheet, cast: Cast, payslip: Payslip) -> dict[str, str]:
    """What a young company sends: large net pay, little ink."""
    look, worker = style(cast, fonts=("Helvetica", "Vera")), name_of(cast, payslip)
    sheet.page(font=look.font)
    sheet.fitted(look.left, 60, 330, payslip.company.name, 15, bold=True, color=look.accent)
    sheet.text(
        look.right, 60, cast.random.choice(("Tu nómina", "Nómina", "Recibo de salario")), 15, align="right"
    )
    sheet.text(
        look.left, 76, f"{payslip.company.address.one_line} · CIF {payslip.company.tax_id}", 7.5, color=GREY
    )
    facts = [
        ("Empleado/a", worker),
        ("NIF", payslip.person.tax_id),
        ("Puesto", payslip.job),
        ("Periodo", payslip.period),
        ("Nº Seguridad Social", social_security(cast.random)),
    ]
    for row, (label, value) in enumerate(facts):
        sheet.text(look.left, 110 + row * 28, label, 7.5, color=GREY)
        sheet.fitted(look.left, 122 + row * 28, 260, value, 10.5)
    sheet.box(look.right - 210, 100, 210, 74, fill=look.accent, stroke=None, radius=8)
    sheet.text(
        look.right - 196,
        122,
        cast.random.choice(("Neto a percibir", "Importe neto", "Líquido")),
        10,
        color="#ffffff",
    )
    sheet.text(look.right - 196, 154, cast.money(payslip.net), 22, bold=True, color="#ffffff")
    y = 262.0
    for head, rows, total, amount in (
        ("Devengos", payslip.earnings, "Total devengado", payslip.gross),
        ("Deducciones", payslip.deductions, "Total deducciones", payslip.deducted),
    ):
        sheet.text(look.left, y + 16, head, 11, bold=True, color=look.accent)
        columns = [Column("", look.width - 110), Column("", 110, "right")]
        cells = [*((label, cast.money(value)) for label, value in rows), (total, cast.money(amount))]
        y = sheet.table(look.left, y + 6, columns, cells, size=9.2, step=18) + 14
    note = f"Coste total para la empresa: {cast.money(cents(payslip.gross * Decimal('1.31')))}"
    sheet.text(look.left, y + 10, note, 8.5, color=GREY)
    return {**payslip.fields(), "employee_name": worker}


def dense_official(sheet: Sheet, cast: Cast, payslip: Payslip) -> dict[str, str]:
    """The official model set in small type, with dotted lines and every empty heading printed."""
    look, worker = style(cast, fonts=("Times-Roman", "Helvetica")), name_of(cast, payslip)
    sheet.page(font=look.font)
    company = payslip.company
    left = [f"Empresa: {company.name}", f"Domicilio: {company.address.one_line}", f"CIF: {company.tax_id}"]
    right = [
        f"Trabajador/a: {worker}",
        f"NIF: {payslip.person.tax_id}",
        f"Núm. Afil. Seguridad Social: {social_security(cast.random)}",
        f"Grupo profesional: {payslip.job}",
    ]
    for x, lines in ((look.left, left), (look.left + look.width / 2 + 6, right)):
        for row, line in enumerate(lines):
            sheet.fitted(x, 50 + row * 13, look.width / 2 - 8, line, 9)
    sheet.text(look.left, 112, f"Período de liquidación: {payslip.period}", 9)
    sheet.text(look.right, 112, "Total días: 30", 9, align="right")
    rows: list[tuple[str, Decimal | None]] = [("I. DEVENGOS", None), ("1. Percepciones salariales", None)]
    rows += [(f"   {label}", amount) for label, amount in payslip.earnings]
    rows += [
        ("2. Percepciones no salariales", None),
        ("   Indemnizaciones o suplidos", None),
        ("   Prestaciones e indemnizaciones de la Seguridad Social", None),
        ("A. TOTAL DEVENGADO", payslip.gross),
        ("II. DEDUCCIONES", None),
        ("1. Aportaciones del trabajador a las cotizaciones a la Seguridad Social", None),
    ]
    rows += [(f"   {label}", amount) for label, amount in payslip.deductions[:-1]]
    rows += [
        (f"2. {payslip.deductions[-1][0]}", payslip.deductions[-1][1]),
        ("3. Anticipos", None),
        ("4. Valor de los productos recibidos en especie", None),
        ("5. Otras deducciones", None),
        ("B. TOTAL A DEDUCIR", payslip.deducted),
        ("LÍQUIDO TOTAL A PERCIBIR (A-B)", payslip.net),
    ]
    y = 136.0
    for words, amount in rows:
        strong = words.startswith(("I", "A.", "B.", "L"))
        sheet.text(look.left, y, words, 9, bold=strong)
        end = look.left + sheet.measure(words, 9, bold=strong) + 4
        dots = max(0, int((look.right - 80 - end) / sheet.measure(".", 9)))
        if amount is not None or not strong:
            sheet.text(end, y, "." * dots, 9, color=GREY)
        if amount is not None:
            sheet.text(look.right, y, cast.number(amount), 9.5, bold=strong, align="right")
        y += 16.5
    sheet.text(look.left, y + 16, f"{company.address.city}, {cast.long_date(payslip.last_day)}", 9)
    sheet.text(look.left, y + 34, "Firma y sello de la empresa", 8.5)
    sheet.text(look.right, y + 34, "Recibí", 8.5, align="right")
    return {**payslip.fields(), "employee_name": worker}


def british_grid(sheet: Sheet, cast: Cast, payslip: Payslip) -> dict[str, str]:
    """Boxes: payments with units and rate, deductions, the year so far, net pay in a corner."""
    look = style(cast, fonts=("Helvetica", "Courier", "Vera"))
    sheet.page(font=look.font)
    person, worker = payslip.person, f"{'Mr' if payslip.person.sex == 'M' else 'Ms'} {payslip.person.name}"
    cells = [
        ("Employee No.", cast.digits(4)),
        ("Employee", worker),
        ("Process Date", cast.short_date(payslip.last_day)),
        ("NI Number" if cast.country == "GB" else "SSN", person.tax_id),
    ]
    wide = look.width / 4
    for column, (label, value) in enumerate(cells):
        sheet.box(look.left + column * wide, 50, wide, 34)
        sheet.text(look.left + column * wide + 5, 61, label, 7, color=GREY)
        sheet.fitted(look.left + column * wide + 5, 77, wide - 10, value, 9)
    columns = [
        Column("Payments", wide * 0.9),
        Column("Units", wide * 0.35, "right"),
        Column("Rate", wide * 0.4, "right"),
        Column("Amount", wide * 0.6, "right"),
    ]
    rows = [(label, "1.00", cast.number(amount), cast.number(amount)) for label, amount in payslip.earnings]
    sheet.table(
        look.left,
        96,
        columns,
        rows + [("",) * 4] * (9 - len(rows)),
        size=8,
        step=17,
        grid=True,
        head_fill="#e8eaed",
    )
    columns = [Column("Deductions", wide * 1.0), Column("Amount", wide * 0.7, "right")]
    taken = [(label, cast.number(amount)) for label, amount in payslip.deductions]
    y = sheet.table(
        look.left + wide * 2.3,
        96,
        columns,
        taken + [("", "")] * (9 - len(taken)),
        size=8,
        step=17,
        grid=True,
        head_fill="#e8eaed",
    )
    months = payslip.month.month
    period = [("Total Gross Pay", payslip.gross), ("Total Deductions", payslip.deducted)]
    for x, head, factor in ((look.left, "This Period", 1), (look.left + wide * 1.4, "Year To Date", months)):
        sheet.box(x, y + 12, wide * 1.3, 62)
        sheet.text(x + 6, y + 24, head, 8, bold=True)
        for row, (label, amount) in enumerate(period):
            sheet.text(x + 6, y + 42 + row * 16, label, 8)
            sheet.text(
                x + wide * 1.3 - 6, y + 42 + row * 16, cast.number(amount * factor), 8.5, align="right"
            )
    sheet.box(look.right - wide, y + 12, wide, 62, stroke="#333333", line_width=1.3)
    sheet.text(look.right - wide + 8, y + 30, "NET PAY", 9, bold=True)
    sheet.text(look.right - 8, y + 60, cast.money(payslip.net), 13, bold=True, align="right")
    sheet.fitted(look.left, y + 96, 340, payslip.company.name, 11, bold=True)
    sheet.text(look.left, y + 110, f"Pay period: {payslip.period}", 8.5)
    return payslip.fields()


def pay_stub(sheet: Sheet, cast: Cast, payslip: Payslip) -> dict[str, str]:
    """American: current and year-to-date columns, a cheque's stub above."""
    look = style(cast, fonts=("Helvetica", "Times-Roman"))
    sheet.page(font=look.font)
    months, person, company = payslip.month.month, payslip.person, payslip.company
    sheet.fitted(look.left, 52, 300, company.name, 13, bold=True)
    sheet.lines(look.left, 66, [company.address.street, company.address.town], 8.5)
    sheet.text(
        look.right,
        52,
        cast.random.choice(("Earnings Statement", "PAY STUB", "Pay Statement")),
        14,
        bold=True,
        align="right",
    )
    facts = [
        ("Period", payslip.period),
        ("Pay date", cast.short_date(payslip.last_day + timedelta(days=3))),
        ("SSN" if cast.country == "US" else "NI no.", person.tax_id),
        ("Employee ID", cast.digits(5)),
    ]
    for row, (label, value) in enumerate(facts):
        sheet.text(look.right - 190, 70 + row * 13, f"{label}:", 8.5, color=GREY)
        sheet.text(look.right, 70 + row * 13, value, 8.5, align="right")
    sheet.lines(look.left, 112, [person.name, person.address.street, person.address.town], 9.5)
    columns = [
        Column("Earnings", look.width * 0.34),
        Column("Rate", look.width * 0.14, "right"),
        Column("Hours", look.width * 0.12, "right"),
        Column("Current", look.width * 0.2, "right"),
        Column("Year to date", look.width * 0.2, "right"),
    ]
    rows = [
        (label, cast.number(cents(amount / 160)), "160.00", cast.number(amount), cast.number(amount * months))
        for label, amount in payslip.earnings
    ]
    rows.append(("Gross Pay", "", "", cast.number(payslip.gross), cast.number(payslip.gross * months)))
    y = sheet.table(look.left, 168, columns, rows, size=8.6, step=17, head_fill="#e5e9f0")
    columns = [
        Column("Deductions", look.width * 0.6),
        Column("Current", look.width * 0.2, "right"),
        Column("Year to date", look.width * 0.2, "right"),
    ]
    taken = [
        (label, cast.number(amount), cast.number(amount * months)) for label, amount in payslip.deductions
    ]
    taken.append(("Total Deductions", cast.number(payslip.deducted), cast.number(payslip.deducted * months)))
    y = sheet.table(look.left, y + 18, columns, taken, size=8.6, step=17, head_fill="#e5e9f0")
    sheet.box(look.left, y + 14, look.width, 26, fill="#eef1f5", stroke=None)
    sheet.text(look.left + 6, y + 31, "Net Pay", 11, bold=True)
    sheet.text(
        look.left + look.width * 0.8 - 4, y + 31, cast.money(payslip.net), 11, bold=True, align="right"
    )
    sheet.text(look.right - 4, y + 31, cast.money(payslip.net * months), 9.5, align="right")
    return payslip.fields()


# --- layouts

Look = Callable[[Sheet, Cast, Payslip], dict[str, str]]


def _layout(name: str, language: str, look: Look, *, held_out: bool = False) -> Layout:
    made = spanish_payslip if language == "es" else english_payslip
    return Layout(name, lambda sheet, cast: look(sheet, cast, made(cast)), (language,), held_out)


LAYOUTS = (
    _layout("coded_columns", "es", coded_columns),
    _layout("side_by_side", "es", side_by_side),
    _layout("dense_official", "es", dense_official),
    _layout("numbered_list", "es", numbered_list, held_out=True),
    _layout("modern_payslip", "es", modern, held_out=True),
    _layout("british_grid", "en", british_grid),
    _layout("pay_stub", "en", pay_stub, held_out=True),
)
