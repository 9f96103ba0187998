"""Spanish payslips as payroll programs print them: coded boxes, columns, bases at the foot."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.identifiers import contribution_account, in_groups, social_security
from docproc_samples.drawing.payslip import Payslip
from docproc_samples.drawing.sheet import GREY, Column, Sheet
from docproc_samples.drawing.style import Style, style
from docproc_samples.drawing.writing import cents

NARROW = ("Helvetica", "Helvetica", "Vera", "Courier")


def name_of(cast: Cast, payslip: Payslip) -> str:
    """The worker as the program writes it: often surnames first."""
    person = payslip.person
    ways = (
        person.name,
        person.name.upper(),
        f"{person.surnames}, {person.given}".upper(),
        f"{person.surnames}, {person.given}",
    )
    return cast.random.choice(ways)


def coded_columns(sheet: Sheet, cast: Cast, payslip: Payslip) -> dict[str, str]:
    """Rows of small labelled boxes, then amount, price, concept, earnings and deductions in columns."""
    look, worker = _begin(sheet, cast), name_of(cast, payslip)
    company = payslip.company
    y = _boxes(
        sheet,
        look,
        36,
        [
            [
                ("EMPRESA", company.name, 2.4),
                ("DOMICILIO", company.address.street, 2.2),
                ("Nº INS. S.S.", contribution_account(cast.random), 1.4),
            ],
            [
                ("TRABAJADOR/A", worker, 2.4),
                ("CATEGORÍA", payslip.job, 1.5),
                ("ANTIGÜEDAD", _since(cast, payslip), 1.1),
                ("D.N.I.", payslip.person.tax_id, 1.2),
            ],
            [
                ("Nº AFILIACIÓN S.S.", social_security(cast.random), 1.8),
                ("TARIFA", str(cast.random.randint(1, 10)), 0.6),
                ("COD.CT", cast.digits(3), 0.7),
                ("PERIODO", payslip.period, 2.6),
                ("TOT. DÍAS", "30", 0.7),
            ],
        ],
    )
    columns = [
        Column(title, share * look.width, align)
        for title, share, align in (
            ("CUANTÍA", 0.11, "right"),
            ("PRECIO", 0.12, "right"),
            ("CONCEPTO", 0.45, "left"),
            ("DEVENGOS", 0.16, "right"),
            ("DEDUCCIONES", 0.16, "right"),
        )
    ]
    rows = [
        ("30,00", cast.number(cents(amount / 30)), f"*{label}", cast.number(amount), "")
        for label, amount in payslip.earnings
    ]
    rows += [("", *_rate_apart(label), "", cast.number(amount)) for label, amount in payslip.deductions]
    rows += [("",) * 5] * (cast.random.randint(15, 22) - len(rows))
    y = sheet.table(
        look.left, y + 8, columns, rows, size=look.size - 1, step=14, head_fill="#e6e9ec", grid=True
    )
    gross = cast.number(payslip.gross)
    y = _boxes(
        sheet,
        look,
        y + 6,
        [
            [
                ("REM. TOTAL", gross, 1),
                ("P.P. EXTRAS", cast.number(payslip.earnings[-1][1]), 1),
                ("BASE S.S.", gross, 1),
                ("BASE A.T. Y DES.", gross, 1),
                ("BASE I.R.P.F.", gross, 1),
                ("T. DEVENGADO", gross, 1.1),
                ("T. A DEDUCIR", cast.number(payslip.deducted), 1.1),
            ]
        ],
    )
    sheet.text(look.left, y + 16, "FECHA", 7, color=GREY)
    sheet.text(look.left + 40, y + 16, cast.long_date(payslip.last_day).upper(), look.size - 0.5)
    sheet.text(look.left + 200, y + 16, "SELLO EMPRESA", 7, color=GREY)
    sheet.text(look.left + 310, y + 16, "RECIBÍ", 7, color=GREY)
    net = cast.random.choice(("LÍQUIDO A PERCIBIR", "LIQUIDO TOTAL A PERCIBIR", "LÍQUIDO"))
    sheet.box(look.right - 160, y + 6, 160, 40)
    sheet.text(look.right - 152, y + 17, net, 7.5, bold=True)
    sheet.text(look.right - 10, y + 36, cast.number(payslip.net), 13, bold=True, align="right")
    _bases(sheet, cast, look, payslip, y + 66)
    fields = {**payslip.fields(), "employee_name": worker}
    del fields["company_tax_id"]  # this program leaves it out
    return fields


def side_by_side(sheet: Sheet, cast: Cast, payslip: Payslip) -> dict[str, str]:
    """Company left, worker right; earnings left, deductions right; three sums below."""
    look, worker = _begin(sheet, cast), name_of(cast, payslip)
    half, company, person = look.width / 2, payslip.company, payslip.person
    title = cast.random.choice(
        ("RECIBO DE SALARIOS", "NÓMINA", "Recibo individual de salarios", "HOJA DE SALARIO")
    )
    sheet.text(297.5, 44, title, 12, bold=True, align="center")
    _form(
        sheet,
        look,
        look.left,
        56,
        half - 5,
        [
            ("Empresa", company.name),
            ("Domicilio", company.address.one_line),
            ("C.I.F.", company.tax_id),
            ("C.C.C.", contribution_account(cast.random)),
        ],
    )
    _form(
        sheet,
        look,
        look.left + half + 5,
        56,
        half - 5,
        [
            ("Trabajador", worker),
            ("N.I.F.", person.tax_id),
            ("Nº S.S.", social_security(cast.random)),
            ("Grupo/Cat.", payslip.job),
        ],
    )
    sheet.box(look.left, 134, look.width, 20, fill="#eef0f2")
    sheet.text(
        look.left + 8,
        147,
        f"{cast.random.choice(('Período de liquidación', 'Periodo', 'Periodo de devengo'))}: ",
        8,
    )
    sheet.text(look.left + 110, 147, payslip.period, 8.5, bold=True)
    bottoms = []
    for x, head, rows in (
        (look.left, "DEVENGOS", payslip.earnings),
        (look.left + half + 5, "DEDUCCIONES", payslip.deductions),
    ):
        columns = [Column(head, half - 85), Column("IMPORTE", 80, "right")]
        cells = [(label, cast.number(amount)) for label, amount in rows] + [("", "")] * (10 - len(rows))
        bottoms.append(
            sheet.table(x, 164, columns, cells, size=look.size - 0.6, step=17, head_fill="#dfe3e8", grid=True)
        )
    y = max(bottoms)
    sheet.text(
        look.left + 4,
        y + 16,
        cast.random.choice(("A. TOTAL DEVENGADO", "TOTAL DEVENGADO", "Total devengos")),
        8.5,
        bold=True,
    )
    sheet.text(look.left + half - 9, y + 16, cast.number(payslip.gross), 9, bold=True, align="right")
    sheet.text(
        look.left + half + 9,
        y + 16,
        cast.random.choice(("B. TOTAL A DEDUCIR", "TOTAL DEDUCCIONES")),
        8.5,
        bold=True,
    )
    sheet.text(look.right - 4, y + 16, cast.number(payslip.deducted), 9, bold=True, align="right")
    sheet.box(look.left + half + 5, y + 26, half - 5, 26, stroke="#333333", line_width=1.2)
    sheet.text(
        look.left + half + 12,
        y + 43,
        cast.random.choice(("LÍQUIDO A PERCIBIR (A-B)", "LÍQUIDO TOTAL A PERCIBIR")),
        8.5,
        bold=True,
    )
    sheet.text(look.right - 8, y + 43, cast.money(payslip.net), 11, bold=True, align="right")
    bank = f"Transferencia a: {in_groups(company.iban[:-6])}** ****"
    sheet.text(look.left, y + 43, bank, 8)
    sheet.text(look.left, y + 74, f"{company.address.city}, a {cast.long_date(payslip.last_day)}", 8.5)
    _bases(sheet, cast, look, payslip, y + 110)
    return {**payslip.fields(), "employee_name": worker}


def numbered_list(sheet: Sheet, cast: Cast, payslip: Payslip) -> dict[str, str]:
    """Concepts with their numbers in one list, company in a corner, worker in a window."""
    look, worker = _begin(sheet, cast), name_of(cast, payslip)
    company = payslip.company
    lines = [company.address.street, company.address.town, f"CIF {company.tax_id}"]
    sheet.fitted(look.left, 48, 240, company.name, 11, bold=True)
    sheet.lines(look.left, 61, lines, 8)
    sheet.lines(
        look.left + 285, 72, [worker, payslip.person.address.street, payslip.person.address.town], 9.5
    )
    facts = [
        ("NIF", payslip.person.tax_id),
        ("N.Afiliación", social_security(cast.random)),
        ("Categoría", payslip.job),
        ("Antigüedad", _since(cast, payslip)),
        ("Período", payslip.period),
        ("C.Cotización", contribution_account(cast.random)),
    ]
    for row, (label, value) in enumerate(facts):
        x = look.left + row % 2 * (look.width / 2)
        sheet.text(x, 136 + row // 2 * 14, f"{label}:", 8, color=GREY)
        sheet.fitted(x + 70, 136 + row // 2 * 14, look.width / 2 - 75, value, 8.5)
    columns = [
        Column("Cód.", 40),
        Column("Concepto", look.width - 240),
        Column("Devengos", 100, "right"),
        Column("Retenciones", 100, "right"),
    ]
    rows = [
        (f"{number:03d}", label.upper(), cast.number(amount), "")
        for number, (label, amount) in enumerate(payslip.earnings, 1)
    ]
    rows += [
        (f"{number:03d}", label.upper(), "", cast.number(amount))
        for number, (label, amount) in enumerate(payslip.deductions, 901)
    ]
    rows.append(("", "TOTALES", cast.number(payslip.gross), cast.number(payslip.deducted)))
    y = sheet.table(look.left, 190, columns, rows, size=look.size - 0.4, step=16)
    sheet.rule(look.left, y + 4, look.right)
    sheet.text(
        look.left + look.width - 240,
        y + 24,
        cast.random.choice(("Neto a percibir", "Importe líquido", "Líquido a percibir")),
        10,
        bold=True,
    )
    sheet.text(look.right - 4, y + 24, cast.money(payslip.net), 12, bold=True, align="right")
    _bases(sheet, cast, look, payslip, y + 70)
    return {**payslip.fields(), "employee_name": worker}


# --- parts


def _begin(sheet: Sheet, cast: Cast) -> Style:
    look = style(cast, fonts=NARROW)
    sheet.page(font=look.font)
    sheet.stretch = cast.random.choice((1.0, 0.9, 0.84))
    return look


def _since(cast: Cast, payslip: Payslip) -> str:
    return cast.short_date(
        date(payslip.month.year - cast.random.randint(1, 18), cast.random.randint(1, 12), 1)
    )


def _rate_apart(label: str) -> tuple[str, str]:
    """`Desempleo 1,55 %` as a price column and a concept."""
    name, _, rate = label.removesuffix(" %").rpartition(" ")
    return rate, name.upper()


def _boxes(sheet: Sheet, look: Style, y: float, rows: list[list[tuple[str, str, float]]]) -> float:
    """Rows of boxes with a small label above each value; the third number is a share of the width."""
    for cells in rows:
        whole, x = sum(share for _, _, share in cells), look.left
        for label, value, share in cells:
            wide = share / whole * look.width
            sheet.box(x, y, wide, 30)
            sheet.fitted(x + 4, y + 9, wide - 6, label, 6.5, color=GREY)
            sheet.fitted(x + 4, y + 23, wide - 8, value, 9)
            x += wide
        y += 30
    return y


def _form(sheet: Sheet, look: Style, x: float, y: float, width: float, pairs: list[tuple[str, str]]) -> None:
    sheet.box(x, y, width, 70)
    for row, (label, value) in enumerate(pairs):
        sheet.text(x + 6, y + 15 + row * 15, f"{label}:", 7.5, color="#444444")
        sheet.fitted(x + 58, y + 15 + row * 15, width - 64, value, 8.8, bold=row == 0)


def _bases(sheet: Sheet, cast: Cast, look: Style, payslip: Payslip, y: float) -> None:
    title = (
        "DETERMINACIÓN DE LAS BASES DE COTIZACIÓN A LA SEGURIDAD SOCIAL Y CONCEPTOS DE RECAUDACIÓN CONJUNTA"
    )
    sheet.fitted(look.left, y, look.width, title, 7.5, bold=True)
    columns = [
        Column("CONCEPTO", look.width * 0.43),
        Column("BASE", look.width * 0.2, "right"),
        Column("TIPO", look.width * 0.15, "right"),
        Column("APORT. EMPRESA", look.width * 0.22, "right"),
    ]
    rates = (
        ("1. Contingencias comunes", "23.60"),
        ("2. AT y EP", "1.50"),
        ("   Desempleo", "5.50"),
        ("   Formación Profesional", "0.60"),
        ("   Fondo Garantía Salarial", "0.20"),
    )
    rows = [
        (
            name,
            cast.number(payslip.gross),
            rate.replace(".", ","),
            cast.number(cents(payslip.gross * Decimal(rate) / 100)),
        )
        for name, rate in rates
    ]
    rows.append(("3. Base sujeta a retención del IRPF", cast.number(payslip.gross), "", ""))
    sheet.table(look.left, y + 6, columns, rows, size=7.2, step=12, grid=cast.random.random() < 0.6)
