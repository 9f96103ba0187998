"""Bank statements in other looks: value dates, money in and out apart, newest first, credit cards."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from docproc_samples.drawing.bank_statement import movements_of
from docproc_samples.drawing.cast import Cast, Company, Person
from docproc_samples.drawing.identifiers import in_groups
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import GREY, Column, Sheet
from docproc_samples.drawing.style import Style, style

ROWS = 30

Movement = tuple[date, str, Decimal, Decimal]


class Account:
    """An invented account with its movements up to a day."""

    def __init__(self, cast: Cast, most: int) -> None:
        if cast.country == "US":
            cast.country = "GB"  # accounts in the United States have no IBAN
        self.cast = cast
        self.bank: Company = cast.company("bank")
        self.holder: Person = cast.person()
        self.day = cast.day()
        self.opening = cast.amount(30000, 900000)
        self.movements: list[Movement] = movements_of(
            cast, self.day, self.opening, cast.random.randint(most // 2, most)
        )
        self.name = cast.random.choice((self.holder.name, self.holder.name.upper()))

    @property
    def closing(self) -> Decimal:
        return self.movements[-1][3]

    def fields(self) -> dict[str, str]:
        return {
            "iban": self.bank.iban,
            "account_holder": self.name,
            "closing_balance": str(self.closing),
            "date": self.day.isoformat(),
        }


def value_dates(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Boxes above, then day, value day, text, amount and balance; long ones go on."""
    account, look = Account(cast, 40), style(cast, fonts=("Helvetica", "Courier", "Vera"))
    titles = cast.say("F. Oper.|F. Valor|Concepto|Importe|Saldo", "Date|Value|Details|Amount|Balance").split(
        "|"
    )
    columns = _columns(look, titles, (0.13, 0.13, 0.42, 0.16, 0.16))
    numbered = cast.random.random() < 0.6
    pages = [account.movements[start : start + ROWS] for start in range(0, len(account.movements), ROWS)]
    for number, rows in enumerate(pages, start=1):
        sheet.page(font=look.font)
        sheet.text(look.left, 50, account.bank.name.upper(), 13, bold=True, color=look.accent)
        sheet.text(
            look.right,
            50,
            cast.pick(("EXTRACTO DE CUENTA CORRIENTE", "Extracto mensual"), ("CURRENT ACCOUNT STATEMENT",)),
            10,
            align="right",
        )
        y = _boxes(sheet, account, look) if number == 1 else 70.0
        cells = [
            (
                cast.short_date(day),
                cast.short_date(day + timedelta(days=1)),
                text.upper(),
                cast.number(amount),
                cast.number(after),
            )
            for day, text, amount, after in rows
        ]
        y = sheet.table(look.left, y, columns, cells, size=look.size - 1.2, step=15, head_fill="#e7eaee")
        if numbered:
            sheet.text(
                look.right,
                812,
                cast.say(f"Hoja {number} de {len(pages)}", f"Sheet {number} of {len(pages)}"),
                8,
                align="right",
            )
    label = cast.pick(
        ("SALDO FINAL", "SALDO A SU FAVOR", "Saldo a fecha de extracto"),
        ("CLOSING BALANCE", "Balance carried forward"),
    )
    sheet.text(look.right - 130, y + 18, label, 9, bold=True, align="right")
    sheet.text(look.right - 4, y + 18, cast.money(account.closing), 10, bold=True, align="right")
    return account.fields()


def in_and_out(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Money in and money out in columns of their own, the address in a window."""
    account, look = Account(cast, 26), style(cast, fonts=("Helvetica", "Times-Roman"))
    sheet.page(font=look.font)
    sheet.disc(look.left + 14, 50, 14, look.accent)
    sheet.text(look.left + 36, 56, account.bank.name, 15, bold=True, color=look.accent)
    sheet.lines(
        look.left, 110, [account.name, account.holder.address.street, account.holder.address.town], 10.5
    )
    first = account.movements[0][0]
    facts = [
        (cast.say("Fecha de emisión", "Statement date"), cast.long_date(account.day)),
        ("IBAN", in_groups(account.bank.iban)),
        (cast.say("Periodo", "Period"), f"{cast.short_date(first)} - {cast.short_date(account.day)}"),
        (cast.say("Saldo inicial", "Opening balance"), cast.money(account.opening)),
        (cast.say("Saldo final", "Closing balance"), cast.money(account.closing)),
    ]
    for row, (label, value) in enumerate(facts):
        sheet.text(look.left + 245, 104 + row * 15, look.label(label), 9, color=GREY)
        sheet.fitted(look.right, 104 + row * 15, 165, value, 9.5, align="right", bold=row == 4)
    titles = cast.say(
        "Fecha|Concepto|Cargos|Abonos|Saldo", "Date|Description|Money out|Money in|Balance"
    ).split("|")
    columns = _columns(look, titles, (0.14, 0.4, 0.15, 0.15, 0.16))
    cells = [
        (
            cast.short_date(day),
            text,
            cast.number(-amount) if amount < 0 else "",
            cast.number(amount) if amount > 0 else "",
            cast.number(after),
        )
        for day, text, amount, after in account.movements
    ]
    sheet.table(look.left, 196, columns, cells, size=8.6, step=17)
    return account.fields()


def newest_first(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Printed from the bank's web site: the balance above, the newest movement first."""
    account, look = Account(cast, 24), style(cast, fonts=("Helvetica", "Vera"))
    sheet.page(font=look.font)
    sheet.text(look.left, 46, account.bank.domain, 8.5, color=GREY)
    sheet.text(look.right, 46, cast.short_date(account.day), 8.5, align="right", color=GREY)
    sheet.text(
        look.left,
        76,
        cast.pick(
            ("Movimientos de la cuenta", "Últimos movimientos", "Consulta de movimientos"),
            ("Account activity", "Transactions"),
        ),
        15,
        bold=True,
    )
    sheet.text(look.left, 98, f"{cast.say('Titular', 'Holder')}: {account.name}", 10)
    sheet.text(look.left, 113, f"{cast.say('Cuenta', 'Account')}: {in_groups(account.bank.iban)}", 10)
    sheet.text(
        look.right,
        98,
        cast.pick(
            ("Saldo disponible", "Saldo actual", "Saldo contable"), ("Available balance", "Current balance")
        ),
        9,
        align="right",
        color=GREY,
    )
    sheet.text(look.right, 118, cast.money(account.closing), 16, bold=True, align="right", color=look.accent)
    titles = cast.say("Fecha|Descripción|Importe|Saldo", "Date|Description|Amount|Balance").split("|")
    columns = _columns(look, titles, (0.16, 0.48, 0.18, 0.18))
    cells = [
        (cast.short_date(day), text, cast.money(amount), cast.money(after))
        for day, text, amount, after in reversed(account.movements)
    ]
    sheet.table(look.left, 136, columns, cells, size=8.8, step=21, stripes="#f5f6f8")
    return account.fields()


def credit_card(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A card's month: purchases, and what will be taken from the account."""
    account, look = Account(cast, 18), style(cast, fonts=("Helvetica", "Times-Roman"))
    sheet.page(font=look.font)
    spent = [movement for movement in account.movements if movement[2] < 0]
    total = sum((-amount for _, _, amount, _ in spent), Decimal(0))
    sheet.text(look.left, 56, account.bank.name, 15, bold=True, color=look.accent)
    sheet.text(
        look.right,
        56,
        cast.pick(("EXTRACTO DE TARJETA", "Liquidación de tarjeta de crédito"), ("CREDIT CARD STATEMENT",)),
        11,
        bold=True,
        align="right",
    )
    facts = [
        (cast.say("Titular", "Cardholder"), account.name),
        (cast.say("Tarjeta", "Card"), f"**** **** **** {cast.digits(4)}"),
        (cast.say("Cuenta de cargo", "Paid from"), in_groups(account.bank.iban)),
        (cast.say("Fecha de liquidación", "Statement date"), cast.short_date(account.day)),
        (cast.say("Límite de crédito", "Credit limit"), cast.money(Decimal(3000))),
        (cast.say("Total a cargar", "Total to pay"), cast.money(total)),
    ]
    for row, (label, value) in enumerate(facts):
        sheet.text(look.left, 84 + row * 15, look.label(label), 9, color=GREY)
        sheet.text(look.left + 130, 84 + row * 15, value, 9.5)
    titles = cast.say("Fecha|Comercio|Importe", "Date|Merchant|Amount").split("|")
    cells = [(cast.short_date(day), text, cast.number(-amount)) for day, text, amount, _ in spent]
    y = sheet.table(look.left, 186, _columns(look, titles, (0.18, 0.6, 0.22)), cells, size=9, step=18)
    sheet.text(look.right - 110, y + 18, "TOTAL", 10, bold=True, align="right")
    sheet.text(look.right - 4, y + 18, cast.money(total), 10, bold=True, align="right")
    # A card owes and has no balance; that field stays unlabelled.
    return {name: value for name, value in account.fields().items() if name != "closing_balance"}


def _boxes(sheet: Sheet, account: Account, look: Style) -> float:
    cast = account.cast
    rows = [
        [(cast.say("TITULAR", "HOLDER"), account.name), ("IBAN", in_groups(account.bank.iban))],
        [
            (cast.say("FECHA EXTRACTO", "STATEMENT DATE"), cast.short_date(account.day)),
            (cast.say("DIVISA", "CURRENCY"), cast.currency),
            (cast.say("SALDO ANTERIOR", "PREVIOUS BALANCE"), cast.number(account.opening)),
        ],
    ]
    for line, cells in enumerate(rows):
        wide = look.width / len(cells)
        for column, (label, value) in enumerate(cells):
            sheet.box(look.left + column * wide, 64 + line * 32, wide, 32)
            sheet.text(look.left + column * wide + 5, 74 + line * 32, label, 6.5, color=GREY)
            sheet.fitted(look.left + column * wide + 5, 90 + line * 32, wide - 10, value, 9)
    return 140.0


def _columns(look: Style, titles: list[str], shares: tuple[float, ...]) -> list[Column]:
    """Days and texts to the left, amounts to the right."""
    widest = shares.index(max(shares))
    return [
        Column(title, share * look.width, "left" if place <= widest else "right")
        for place, (title, share) in enumerate(zip(titles, shares, strict=True))
    ]


LAYOUTS = (
    Layout("value_dates", value_dates),
    Layout("newest_first", newest_first, held_out=True),
    Layout("credit_card", credit_card),
    Layout("in_and_out", in_and_out, held_out=True),
)
