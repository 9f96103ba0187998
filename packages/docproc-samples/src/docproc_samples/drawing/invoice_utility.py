"""A utility's bill: what was used, by meter and month, and what it costs."""

from __future__ import annotations

from decimal import Decimal

from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.invoice import RATES, Invoice, Line, of_utility
from docproc_samples.drawing.invoice_parts import (
    ACCENTS,
    LEFT,
    RIGHT,
    customer_id,
    payment,
    tax_id_label,
    tax_name,
    total_label,
)
from docproc_samples.drawing.sheet import GREY, Column, Sheet
from docproc_samples.drawing.writing import SIGNS, cents


def utility(sheet: Sheet, cast: Cast) -> Invoice:
    """A bill for consumption: summary in a box, meter readings, use by month as bars."""
    accent = cast.random.choice(ACCENTS)
    before, used = cast.random.randint(10000, 60000), cast.random.randint(140, 420)
    invoice = of_utility(cast, _consumption(cast, used))
    vendor = invoice.vendor
    sheet.page(font="Helvetica")
    sheet.text(LEFT, 58, vendor.name, 19, bold=True, color=accent)
    own = f"{vendor.address.one_line} · {tax_id_label(cast)} {vendor.tax_id}"
    sheet.text(LEFT, 74, own, 7.5, color=GREY)
    sheet.rule(LEFT, 84, RIGHT, width=2, color=accent)
    sheet.box(LEFT, 100, 235, 120, fill="#f4f6f8", stroke=None, radius=6)
    sheet.text(
        LEFT + 12, 120, cast.say("DATOS DE LA FACTURA", "YOUR BILL AT A GLANCE"), 9.5, bold=True, color=accent
    )
    period_end = cast.short_date(invoice.day)
    facts = [
        (cast.say("Nº de factura", "Bill number"), invoice.number),
        (cast.say("Fecha de emisión", "Issue date"), invoice.printed_day),
        (cast.say("Periodo hasta", "Period to"), period_end),
        (cast.say("Fecha de cargo", "Payment due"), cast.short_date(invoice.due)),
        (cast.say("Contrato", "Account number"), cast.digits(10)),
    ]
    for row, (label, value) in enumerate(facts):
        sheet.text(LEFT + 12, 140 + row * 15, label, 8.5, color=GREY)
        sheet.text(LEFT + 224, 140 + row * 15, value, 8.5, bold=row == 0, align="right")
    sheet.lines(LEFT + 290, 128, [invoice.customer_name, *invoice.customer_address], 10.5)
    sheet.text(LEFT + 290, 178, customer_id(cast, invoice), 8.5, color=GREY)
    sheet.box(LEFT, 236, RIGHT - LEFT, 46, fill=accent, stroke=None, radius=6)
    sheet.text(
        LEFT + 16, 265, cast.say("TOTAL IMPORTE FACTURA", "TOTAL AMOUNT DUE"), 12, bold=True, color="#ffffff"
    )
    sheet.text(RIGHT - 16, 267, cast.money(invoice.total), 19, bold=True, align="right", color="#ffffff")
    _meter(sheet, cast, before, used, accent)
    sheet.text(LEFT, 462, cast.say("Detalle de la factura", "Charges in detail"), 11, bold=True, color=accent)
    columns = [
        Column(cast.say("Concepto", "Charge"), 385),
        Column(cast.say("Importe", "Amount"), 120, "right"),
    ]
    rows = [(line.description, cast.money(line.amount)) for line in invoice.lines]
    rows.append((cast.say("Base imponible", "Total before tax"), cast.money(invoice.net)))
    rows += [(tax_name(cast, tax.rate, tax.base), cast.money(tax.amount)) for tax in invoice.taxes]
    y = sheet.table(LEFT, 470, columns, rows, step=17, stripes="#f4f6f8")
    sheet.rule(LEFT, y + 2, RIGHT, width=1, color=accent)
    sheet.text(LEFT + 4, y + 20, total_label(cast), 11, bold=True)
    sheet.text(RIGHT - 4, y + 20, cast.money(invoice.total), 11, bold=True, align="right")
    payment(sheet, cast, invoice, 742)
    help_text = cast.say("Atención al cliente y averías", "Customer service and emergencies")
    sheet.text(LEFT, 806, f"{help_text}: {vendor.phone} · {vendor.domain}", 8, color=GREY)
    return invoice


def _consumption(cast: Cast, used: int) -> list[Line]:
    rate = RATES[cast.country][0]
    price = Decimal(cast.random.randint(95, 210)) / 1000
    usage = cast.say(
        f"Consumo: {used} x {price} €".replace(".", ","),
        f"Usage: {used} units at {SIGNS[cast.currency]}{price}",
    )
    wanted = [
        (usage, cents(price * used)),
        (cast.say("Término fijo, 30 días", "Standing charge, 30 days"), cast.amount(900, 2400)),
        (cast.say("Alquiler de equipo de medida", "Meter rental"), cast.amount(60, 140)),
    ]  # fmt: skip
    return [Line(description, Decimal(1), amount, rate) for description, amount in wanted]


def _meter(sheet: Sheet, cast: Cast, before: int, used: int, accent: str) -> None:
    sheet.text(LEFT, 310, cast.say("Lecturas del contador", "Meter readings"), 11, bold=True, color=accent)
    rows = [
        (cast.say("Lectura anterior", "Previous reading"), str(before)),
        (cast.say("Lectura actual (real)", "Present reading (actual)"), str(before + used)),
        (cast.say("Consumo del periodo", "Used in this period"), str(used)),
    ]
    columns = [
        Column(cast.say("Concepto", "Reading"), 150),
        Column(cast.say("Unidades", "Units"), 80, "right"),
    ]
    sheet.table(LEFT, 318, columns, rows, size=8.5, step=17)
    sheet.text(LEFT + 290, 310, cast.say("Su consumo", "Your usage"), 11, bold=True, color=accent)
    for month in range(12):
        height = cast.random.uniform(25, 90) if month < 11 else 70
        sheet.box(
            LEFT + 292 + month * 17,
            422 - height,
            11,
            height,
            fill=accent if month == 11 else "#c4ccd4",
            stroke=None,
        )
    sheet.rule(LEFT + 288, 422, RIGHT)
