"""Bank statements: an account, its movements and what is left."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from functools import partial

from docproc_samples.drawing.cast import Cast, Company, Person
from docproc_samples.drawing.identifiers import in_groups
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import GREY, Column, Sheet

LEFT, RIGHT = 45.0, 550.0
ROWS = 24
SPENDING = {
    "es": (
        "Recibo luz Eléctrica del Valle", "Compra tarjeta Supermercados Colmena",
        "Transferencia emitida alquiler", "Reintegro cajero", "Recibo Telefonía Estela",
        "Compra tarjeta Librería Páginas", "Comisión de mantenimiento", "Bizum enviado",
        "Recibo seguro del hogar", "Adeudo Aguas de Montenegro",
    ),
    "en": (
        "Direct debit Riverbend Energy", "Card payment Honeycomb Market", "Standing order rent",
        "Cash withdrawal", "Direct debit Swiftline Telecom", "Card payment Paper Lantern Books",
        "Account fee", "Transfer to savings", "Home insurance premium", "Direct debit Clearbrook Water",
    ),
}  # fmt: skip
INCOME = {
    "es": ("Abono nómina", "Transferencia recibida", "Devolución compra"),
    "en": ("Salary", "Transfer received", "Refund"),
}


def _draw(sheet: Sheet, cast: Cast, most: int) -> dict[str, str]:
    if cast.country == "US":
        cast.country = "GB"  # accounts in the United States have no IBAN
    bank, holder = cast.company("bank"), cast.person()
    day = cast.day()
    opening = cast.amount(40000, 820000)
    movements = movements_of(cast, day, opening, cast.random.randint(most // 2, most))
    closing = movements[-1][3]
    accent = cast.random.choice(("#0b5563", "#7b2d26", "#2b3a67"))
    pages = [movements[start : start + ROWS] for start in range(0, len(movements), ROWS)]
    for number, rows in enumerate(pages, start=1):
        sheet.page(font="Helvetica")
        _head(sheet, cast, bank, day, accent)
        y = 118.0
        if number == 1:
            y = _summary(sheet, cast, bank, holder, opening, closing, movements[0][0], day)
        y = sheet.table(LEFT, y, _columns(cast), [_cells(cast, *row) for row in rows], size=8.4, step=17,
                        head_fill=accent, head_color="#ffffff", stripes="#f3f5f6")  # fmt: skip
        if number == len(pages):
            words = cast.say(
                f"Saldo final a {cast.short_date(day)}", f"Closing balance on {cast.short_date(day)}"
            )
            sheet.text(LEFT + 4, y + 20, words, 10, bold=True)
            sheet.text(RIGHT - 4, y + 20, cast.money(closing), 10, bold=True, align="right")
        place = cast.say(f"Página {number} de {len(pages)}", f"Page {number} of {len(pages)}")
        sheet.text(RIGHT, 812, place, 8, align="right", color=GREY)
    return {
        "iban": bank.iban,
        "account_holder": holder.name,
        "closing_balance": str(closing),
        "date": day.isoformat(),
    }


def movements_of(
    cast: Cast, day: date, balance: Decimal, count: int
) -> list[tuple[date, str, Decimal, Decimal]]:
    """Day, text, amount and balance after it; the account never goes below zero."""
    days = sorted(day - timedelta(days=cast.random.randrange(30)) for _ in range(count))
    movements = []
    for moved in days:
        amount = -cast.amount(350, 24000)
        if cast.random.random() < 0.15 or balance + amount < 0:
            text, amount = cast.random.choice(INCOME[cast.language]), cast.amount(30000, 210000)
        else:
            text = cast.random.choice(SPENDING[cast.language])
        balance += amount
        movements.append((moved, text, amount, balance))
    return movements


def _head(sheet: Sheet, cast: Cast, bank: Company, day: date, accent: str) -> None:
    sheet.box(LEFT, 38, 26, 26, fill=accent, stroke=None, radius=13)
    sheet.text(LEFT + 36, 57, bank.name, 16, bold=True, color=accent)
    sheet.text(RIGHT, 50, cast.say("EXTRACTO DE CUENTA", "ACCOUNT STATEMENT"), 12, bold=True, align="right")
    sheet.text(
        RIGHT,
        66,
        f"{cast.say('Fecha del extracto', 'Statement date')}: {cast.long_date(day)}",
        9,
        align="right",
    )
    sheet.rule(LEFT, 78, RIGHT, width=1.2, color=accent)


def _summary(
    sheet: Sheet,
    cast: Cast,
    bank: Company,
    holder: Person,
    opening: Decimal,
    closing: Decimal,
    first: date,
    day: date,
) -> float:
    sheet.text(LEFT, 104, cast.say("Titular", "Account holder"), 8, color=GREY)
    sheet.text(LEFT, 118, holder.name, 11, bold=True)
    sheet.lines(LEFT, 132, [holder.address.street, holder.address.town], 9)
    sheet.box(LEFT + 240, 92, 265, 92, fill="#f3f5f6", stroke=None, radius=4)
    rows = [
        ("IBAN", in_groups(bank.iban)),
        (cast.say("Periodo", "Period"), f"{cast.short_date(first)} - {cast.short_date(day)}"),
        (cast.say("Saldo anterior", "Opening balance"), cast.money(opening)),
        (cast.say("Saldo actual", "Closing balance"), cast.money(closing)),
    ]
    for row, (label, value) in enumerate(rows):
        sheet.text(LEFT + 252, 112 + row * 19, label, 8.5, color=GREY)
        sheet.text(RIGHT - 10, 112 + row * 19, value, 9, bold=row in (0, 3), align="right")
    return 212


def _columns(cast: Cast) -> list[Column]:
    return [
        Column(cast.say("Fecha", "Date"), 75),
        Column(cast.say("Concepto", "Description"), 230),
        Column(cast.say("Importe", "Amount"), 100, "right"),
        Column(cast.say("Saldo", "Balance"), 100, "right"),
    ]


def _cells(cast: Cast, day: date, text: str, amount: Decimal, balance: Decimal) -> tuple[str, str, str, str]:
    return cast.short_date(day), text, cast.number(amount), cast.number(balance)


LAYOUTS = (
    Layout("banded", partial(_draw, most=20)),
    Layout("banded_long", partial(_draw, most=45)),
)
