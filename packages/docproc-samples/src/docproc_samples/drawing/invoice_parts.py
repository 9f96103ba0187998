"""What the layouts of invoices share: the table of items, totals, payment and small print."""

from __future__ import annotations

from decimal import Decimal

from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.identifiers import in_groups
from docproc_samples.drawing.invoice import Invoice, Line
from docproc_samples.drawing.sheet import GREY, Column, Sheet

LEFT, RIGHT = 45.0, 550.0
ROWS = 19  # on one page, with room for the totals
ACCENTS = ("#14507a", "#7a1f3d", "#2d6a4f", "#5b3a8c", "#b3541e")


def by_page(lines: list[Line]) -> list[list[Line]]:
    """The lines of each page."""
    if len(lines) <= ROWS:
        return [lines]
    return [lines[:ROWS], *by_page(lines[ROWS:])]


def item_columns(cast: Cast) -> list[Column]:
    return [
        Column(cast.pick(("Descripción", "Concepto"), ("Description", "Item")), 255),
        Column(cast.pick(("Cantidad", "Uds."), ("Qty", "Quantity")), 50, "right"),
        Column(cast.pick(("Precio", "Precio unit."), ("Unit price", "Price")), 75, "right"),
        Column(cast.say("IVA", "VAT" if cast.country == "GB" else "Tax"), 45, "right"),
        Column(cast.pick(("Importe",), ("Amount", "Line total")), 80, "right"),
    ]


def item_cells(cast: Cast, line: Line) -> tuple[str, str, str, str, str]:
    return (
        line.description,
        str(line.quantity),
        cast.number(line.price),
        cast.percent(line.rate),
        cast.number(line.amount),
    )


def number_and_dates(cast: Cast, invoice: Invoice) -> list[tuple[str, str]]:
    return [
        (cast.say("Nº de factura", "Invoice no."), invoice.number),
        (cast.say("Fecha de emisión", "Issued"), invoice.printed_day),
        (cast.say("Vencimiento", "Due"), cast.short_date(invoice.due)),
        (cast.say("Pedido", "PO number"), cast.digits(6)),
    ]


def tax_id_label(cast: Cast) -> str:
    return {"ES": "CIF", "GB": "VAT No", "US": "EIN"}[cast.country]


def customer_id(cast: Cast, invoice: Invoice) -> str:
    if cast.spanish:
        return f"{'NIF' if invoice.customer_tax_id[0].isdigit() else 'CIF'}: {invoice.customer_tax_id}"
    return f"Customer ref {sum(map(ord, invoice.customer_name)) + 10000}"


def tax_name(cast: Cast, rate: Decimal, base: Decimal | None) -> str:
    name = {"ES": "IVA", "GB": "VAT", "US": "Sales tax"}[cast.country]
    of = "" if base is None else f" {cast.say('s/', 'on')} {cast.money(base)}"
    return f"{name} {cast.percent(rate)}{of}"


def total_label(cast: Cast) -> str:
    spanish = ("TOTAL", "Total a pagar", "Importe total", "TOTAL FACTURA")
    return cast.pick(spanish, ("TOTAL", "Total due", "Amount due", "Grand total"))


def tax_table(sheet: Sheet, cast: Cast, invoice: Invoice, y: float) -> float:
    if len(invoice.taxes) < 2:
        return y - 14
    columns = [
        Column(cast.say("Tipo", "Rate"), 60),
        Column(cast.say("Base", "Net"), 80, "right"),
        Column(cast.say("Cuota", "Tax"), 80, "right"),
    ]
    rows = [(cast.percent(tax.rate), cast.number(tax.base), cast.number(tax.amount)) for tax in invoice.taxes]
    return sheet.table(LEFT, y, columns, rows, size=8, step=14)


def summary(sheet: Sheet, cast: Cast, invoice: Invoice, y: float) -> float:
    rows = [(cast.pick(("Base imponible", "Subtotal"), ("Subtotal", "Net total")), invoice.net)]
    rows += [(tax_name(cast, tax.rate, None), tax.amount) for tax in invoice.taxes]
    if len(invoice.taxes) > 1:
        rows.append((cast.say("Total IVA", "Total tax"), invoice.tax))
    for label, amount in rows:
        sheet.text(RIGHT - 206, y, label, 9.5)
        sheet.text(RIGHT - 12, y, cast.money(amount), 9.5, align="right")
        y += 17
    return y


def totals(sheet: Sheet, cast: Cast, invoice: Invoice, y: float) -> None:
    y = summary(sheet, cast, invoice, y)
    sheet.rule(RIGHT - 215, y - 8, RIGHT, width=1.2, color="#222222")
    sheet.text(RIGHT - 206, y + 8, total_label(cast), 11.5, bold=True)
    sheet.text(RIGHT - 12, y + 8, cast.money(invoice.total), 11.5, bold=True, align="right")


def account(cast: Cast, invoice: Invoice) -> str:
    if cast.country == "US":
        return f"routing 000{cast.digits(6)}, account {cast.digits(9)}"
    return f"IBAN {in_groups(invoice.vendor.iban)}"


def payment(sheet: Sheet, cast: Cast, invoice: Invoice, y: float) -> None:
    way = cast.pick(
        ("Forma de pago: transferencia bancaria", "Pago mediante domiciliación bancaria"),
        ("Payment by bank transfer", "Please quote the invoice number with your payment"),
    )
    sheet.lines(LEFT, y, [way, account(cast, invoice)], 8.5)


def registry(cast: Cast, invoice: Invoice) -> str:
    vendor = invoice.vendor
    where = cast.say(
        f"Inscrita en el Registro Mercantil de {vendor.address.region}, tomo {cast.digits(4)}",
        "Registered office as above. Goods remain our property until paid in full",
    )
    return f"{vendor.name} · {where}"


def foot(sheet: Sheet, cast: Cast, invoice: Invoice, number: int, count: int) -> None:
    sheet.rule(LEFT, 790, RIGHT)
    sheet.text(LEFT, 803, registry(cast, invoice), 6.5, color=GREY)
    words = cast.say(f"Página {number} de {count}", f"Page {number} of {count}")
    sheet.text(RIGHT, 803, words, 8, align="right", color=GREY)
