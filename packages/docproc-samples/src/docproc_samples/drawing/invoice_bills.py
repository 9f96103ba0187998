"""Bills for power, water and telephone: a summary, periods, contract numbers and several amounts."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.identifiers import in_groups
from docproc_samples.drawing.invoice import RATES, Line, of_utility
from docproc_samples.drawing.invoice_draft import Draft
from docproc_samples.drawing.invoice_heads import logo
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import GREY, Column, Sheet
from docproc_samples.drawing.style import style
from docproc_samples.drawing.writing import cents


def energy(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Power or gas: a summary at the left, the contract at the right, the charges below."""
    used = cast.random.randint(90, 480)
    price = Decimal(cast.random.randint(90, 210)) / 1000
    draft = _draft(
        sheet,
        cast,
        "energy",
        [
            (cast.say("Potencia contratada", "Standing charge"), cast.amount(800, 2600)),
            (cast.say(f"Energía consumida {used} kWh", f"Energy used {used} kWh"), cents(price * used)),
            (cast.say("Impuesto sobre electricidad", "Climate levy"), cast.amount(60, 420)),
            (cast.say("Alquiler equipos de medida", "Meter rental"), cast.amount(60, 140)),
        ],
    )
    bill, look = draft.invoice, draft.style
    logo(draft, look.left, 36)
    sheet.lines(look.right, 46, draft.vendor_lines(most=3), 7.5, align="right", color=GREY)
    title = cast.pick(
        ("FACTURA DE ELECTRICIDAD", "DATOS DE LA FACTURA", "Resumen de su factura"),
        ("YOUR ENERGY BILL", "Electricity bill summary"),
    )
    sheet.text(look.left, 122, title, 12, bold=True, color=look.accent)
    start = bill.day - timedelta(days=32)
    period = f"{cast.short_date(start)} {cast.say('a', 'to')} {cast.short_date(bill.day - timedelta(days=2))}"
    facts = [
        (
            cast.pick(
                ("IMPORTE FACTURA", "TOTAL IMPORTE FACTURA", "Importe de su factura"),
                ("Total to pay", "Amount due"),
            ),
            draft.money(bill.total),
        ),
        (
            cast.pick(("Nº factura", "Número de factura", "Factura nº"), ("Bill number", "Invoice number")),
            bill.number,
        ),
        (
            cast.pick(
                ("Fecha emisión factura", "Fecha de emisión", "Fecha factura"), ("Bill date", "Date of bill")
            ),
            draft.day(),
        ),
        (cast.pick(("Periodo de facturación", "Período de consumo"), ("Billing period",)), period),
        (
            cast.pick(
                ("Fecha de cargo", "Fecha límite de pago", "Fecha prevista de cargo"),
                ("Pay by", "Payment due"),
            ),
            draft.due(),
        ),
    ]
    for row, (label, value) in enumerate(facts):
        sheet.text(look.left, 142 + row * 15, look.label(label), 8.5)
        sheet.text(look.left + 262, 142 + row * 15, value, 8.5, bold=row == 0, align="right")
    _address(draft, look.left + 300, 150)
    y = _contract(draft, 240)
    sheet.text(look.left, y + 18, cast.say("DETALLE DE LA FACTURA", "HOW WE WORKED IT OUT"), 10, bold=True)
    y = _charges(draft, y + 24)
    y = _bars(draft, y + 30)
    note = cast.say(
        f"Su lectura anterior fue de {cast.digits(5)} kWh y la actual de {cast.digits(5)} kWh. El coste "
        "medio "
        f"diario ha sido de {draft.money(cents(bill.total / 30))}. Averías 24 h: {bill.vendor.phone}.",
        f"Your last reading was {cast.digits(5)} kWh. On average you paid "
        f"{draft.money(cents(bill.total / 30))} "
        f"a day. Emergencies: {bill.vendor.phone}.",
    )
    sheet.prose(look.left, y + 16, look.width, note, 8, color=GREY)
    return draft.fields()


def water(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A town's water works: everything in ruled boxes, consumption in blocks."""
    blocks = [
        (
            cast.say(
                f"Bloque {number} ({cast.random.randint(5, 20)} m3)", f"Tier {number} ({number * 6} m3)"
            ),
            cast.amount(250, 1900),
        )
        for number in (1, 2)
    ]
    draft = _draft(
        sheet,
        cast,
        "water",
        [
            (cast.say("Cuota de servicio abastecimiento", "Service charge"), cast.amount(600, 1800)),
            *blocks,
            (cast.say("Alcantarillado", "Sewerage"), cast.amount(300, 1200)),
            (cast.say("Canon de saneamiento", "Environmental levy"), cast.amount(300, 1100)),
        ],
    )
    bill, look = draft.invoice, draft.style
    sheet.box(look.left, 36, look.width, 62)
    lines = draft.vendor_lines(most=3)
    sheet.fitted(look.left + 10, 56, 330, lines[0], 13, bold=True)
    sheet.lines(look.left + 10, 70, lines[1:], 7.5)
    sheet.text(look.right - 10, 58, cast.say("FACTURA DE AGUA", "WATER BILL"), 12, bold=True, align="right")
    start = bill.day - timedelta(days=61)
    cells = [
        (cast.say("Nº FACTURA", "BILL NO."), bill.number),
        (cast.say("FECHA FACTURA", "BILL DATE"), draft.day()),
        (cast.say("PERIODO", "PERIOD"), f"{cast.short_date(start)} - {cast.short_date(bill.day)}"),
        (cast.say("Nº PÓLIZA", "ACCOUNT"), cast.digits(8)),
    ]
    _cells(draft, 108, cells)
    _address(draft, look.left + 270, 172)
    y = _contract(draft, 232)
    y = _charges(draft, y + 14)
    sheet.box(look.left, y + 14, look.width, 34, stroke=look.accent, line_width=1.4)
    sheet.text(look.left + 12, y + 36, cast.say("TOTAL A PAGAR", "TOTAL PAYABLE"), 12, bold=True)
    sheet.text(look.right - 12, y + 36, draft.money(bill.total), 14, bold=True, align="right")
    due = cast.say(
        f"Domiciliada en cuenta. Fecha de cargo: {draft.due()}", f"We will collect this on {draft.due()}"
    )
    sheet.text(look.left, y + 66, due, 8.5)
    return draft.fields()


def telephone(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A telephone company: the amount at the top right, fees by line."""
    line_number = f"6{cast.digits(8)}"
    draft = _draft(
        sheet,
        cast,
        "telephone",
        [
            (cast.say("Cuota fibra 600 Mb + móvil", "Fibre 500 and mobile plan"), cast.amount(2200, 5500)),
            (cast.say(f"Línea adicional {line_number}", "Extra line"), cast.amount(500, 1500)),
            (cast.say("Consumo fuera de tarifa", "Usage outside your plan"), cast.amount(0, 900)),
        ],
    )
    bill, look = draft.invoice, draft.style
    sheet.box(0, 0, sheet.width, 12, fill=look.accent, stroke=None)
    logo(draft, look.left, 34, mark=True)
    sheet.text(look.right, 58, cast.pick(("Tu factura", "Factura"), ("Your bill",)), 20, align="right")
    sheet.text(
        look.right, 80, cast.pick(("Importe a pagar", "Total a pagar"), ("Amount to pay",)), 9, align="right"
    )
    sheet.text(look.right, 104, draft.money(bill.total), 22, bold=True, align="right", color=look.accent)
    facts = [
        (cast.pick(("Nº de factura", "N.º factura"), ("Bill no.",)), bill.number),
        (cast.pick(("Fecha de emisión", "Fecha de factura"), ("Bill date",)), draft.day()),
        (cast.say("Titular", "Account name"), bill.customer_name),
        (cast.say("NIF/CIF", "Account no."), bill.customer_tax_id if cast.spanish else cast.digits(9)),
        (cast.say("Teléfono", "Telephone"), line_number),
        (cast.say("Periodo facturado", "Period"), f"01/{bill.day:%m} - 30/{bill.day:%m/%Y}"),
        (cast.say("Se cargará en tu cuenta el", "We will collect on"), draft.due()),
    ]
    if cast.spanish:
        draft.printed["customer_tax_id"] = bill.customer_tax_id
    for row, (label, value) in enumerate(facts):
        sheet.text(look.left, 140 + row * 16, look.label(label), 9, color=GREY)
        sheet.text(look.left + 140, 140 + row * 16, value, 9)
    y = _charges(draft, 272)
    account = (
        f"{in_groups(bill.vendor.iban[:-8])} **** ****" if cast.country != "US" else f"****{cast.digits(4)}"
    )
    sheet.text(look.left, y + 26, f"{cast.say('Cuenta bancaria', 'Bank account')}: {account}", 8.5)
    vendor = bill.vendor
    sheet.fitted(
        297.5, 800, 520, f"{vendor.name}. {vendor.address.one_line}. {draft.vendor_id()}", 7.5, align="center"
    )
    return draft.fields()


# --- parts


def _draft(sheet: Sheet, cast: Cast, trade: str, charges: list[tuple[str, Decimal]]) -> Draft:
    rate = RATES[cast.country][0]
    lines = [Line(words, Decimal(1), amount, rate) for words, amount in charges if amount]
    look = style(cast, fonts=("Helvetica", "Helvetica", "Vera"))
    draft = Draft(sheet, cast, look, of_utility(cast, lines, trade))
    sheet.page(font=look.font)
    sheet.stretch = cast.random.choice((1.0, 0.9))
    return draft


def _address(draft: Draft, x: float, y: float) -> None:
    """The customer as in an envelope's window."""
    draft.sheet.lines(
        x,
        y,
        [
            draft.invoice.customer_name.upper() if draft.style.capitals else draft.invoice.customer_name,
            *draft.invoice.customer_address,
        ],
        10,
    )


def _contract(draft: Draft, y: float) -> float:
    cast, bill, sheet = draft.cast, draft.invoice, draft.sheet
    rows = [
        (cast.pick(("Titular del contrato", "Titular"), ("Account holder",)), bill.customer_name),
        (cast.say("Dirección de suministro", "Supply address"), ", ".join(bill.customer_address)),
        (
            cast.pick(("Referencia del contrato", "Nº de contrato", "Contrato nº"), ("Account number",)),
            cast.digits(10),
        ),
        (cast.say("CUPS", "Meter point"), f"ES00{cast.digits(4)} {cast.digits(12)} AB"),
    ]
    if cast.spanish:
        draft.printed["customer_tax_id"] = bill.customer_tax_id
        rows.insert(1, ("NIF", bill.customer_tax_id))
    if cast.country != "US":
        rows.append((cast.say("IBAN", "Bank account"), f"{in_groups(bill.vendor.iban[:-4])} ****"))
    for row, (label, value) in enumerate(rows):
        sheet.text(draft.style.left, y + 12 + row * 13, draft.style.label(label), 8, color=GREY)
        sheet.fitted(draft.style.left + 130, y + 12 + row * 13, 330, value, 8.5)
    return y + 12 + len(rows) * 13


def _charges(draft: Draft, y: float) -> float:
    bill, cast = draft.invoice, draft.cast
    columns = [
        Column(draft.bare("description"), draft.style.width - 110),
        Column(draft.bare("amount"), 110, "right"),
    ]
    rows = [(line.description, draft.money(line.amount)) for line in bill.lines]
    rows.append((draft.bare("net"), draft.money(bill.net)))
    tax = bill.taxes[0]
    on = f" {cast.say('s/', 'on')} {draft.number(tax.base)}" if cast.random.random() < 0.5 else ""
    rows.append((f"{draft.tax_name(tax.rate)}{on}", draft.money(tax.amount)))
    rows.append(
        (
            cast.pick(
                ("TOTAL IMPORTE FACTURA", "Total factura", "TOTAL A PAGAR"), ("Total this bill", "Total due")
            ),
            draft.money(bill.total),
        )
    )
    return draft.sheet.table(draft.style.left, y, columns, rows, size=8.8, step=16, stripes="#f3f5f7")


def _cells(draft: Draft, y: float, cells: list[tuple[str, str]]) -> None:
    wide = draft.style.width / len(cells)
    for column, (label, value) in enumerate(cells):
        x = draft.style.left + column * wide
        draft.sheet.box(x, y, wide, 36)
        draft.sheet.text(x + 5, y + 11, label, 6.5, color=GREY)
        draft.sheet.fitted(x + 5, y + 27, wide - 10, value, 9)


def _bars(draft: Draft, y: float) -> float:
    for month in range(13):
        high = draft.cast.random.uniform(8, 46)
        draft.sheet.box(draft.style.left + month * 22, y + 50 - high, 14, high, fill="#b9c4cf", stroke=None)
    return y + 56


LAYOUTS = (
    Layout("energy_bill", energy),
    Layout("telephone_bill", telephone),
    Layout("water_bill", water, held_out=True),
)
