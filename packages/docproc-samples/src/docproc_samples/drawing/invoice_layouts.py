"""Invoices laid out: classic table, coloured head, freelancer's page, ledger in boxes; all listed."""

from __future__ import annotations

from collections.abc import Callable

from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.invoice import Invoice, of_freelancer, of_goods, of_services
from docproc_samples.drawing.invoice_parts import (
    ACCENTS,
    LEFT,
    RIGHT,
    ROWS,
    account,
    by_page,
    customer_id,
    foot,
    item_cells,
    item_columns,
    number_and_dates,
    payment,
    registry,
    summary,
    tax_id_label,
    tax_name,
    tax_table,
    total_label,
    totals,
)
from docproc_samples.drawing.invoice_utility import utility
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import GREY, Column, Sheet


def classic(sheet: Sheet, cast: Cast, line_count: int | None = None) -> Invoice:
    """Letterhead, customer in a box, ruled table, totals at the right; long ones go on to a second page."""
    invoice = of_goods(cast, line_count or cast.random.randint(3, 9))
    font = cast.random.choice(("Helvetica", "Times-Roman"))
    chunks, seed = by_page(invoice.lines), cast.random.getrandbits(32)
    for number, lines in enumerate(chunks, start=1):
        sheet.page(font=font)
        _classic_head(sheet, cast.repeating(seed), invoice, first=number == 1)
        y = 262.0 if number == 1 else 140.0
        y = sheet.table(
            LEFT, y, item_columns(cast.repeating(seed)), [item_cells(cast, line) for line in lines], size=8.6
        )
        if number < len(chunks):
            carried = cast.say("Suma y sigue en la página siguiente", "Continued on next page")
            sheet.text(RIGHT, y + 16, carried, 8, align="right", color=GREY)
        else:
            y = tax_table(sheet, cast, invoice, y + 18)
            totals(sheet, cast, invoice, y + 18)
            payment(sheet, cast, invoice, 742)
        foot(sheet, cast.repeating(seed), invoice, number, len(chunks))
    return invoice


def _classic_head(sheet: Sheet, cast: Cast, invoice: Invoice, *, first: bool) -> None:
    vendor = invoice.vendor
    sheet.fitted(LEFT, 62, 320, vendor.name, 16, bold=True)
    tax_label = tax_id_label(cast)
    details = [vendor.address.street, vendor.address.town, f"{tax_label}: {vendor.tax_id}"]
    if first:
        details += [f"{cast.say('Tel.', 'Tel')} {vendor.phone} · {vendor.mail}"]
    sheet.lines(LEFT, 78, details, 8.5, color="#333333")
    sheet.text(RIGHT, 64, cast.say("FACTURA", "INVOICE"), 22, bold=True, align="right", color="#333333")
    label = cast.pick(
        ("Nº factura", "Factura nº", "Número de factura"), ("Invoice no.", "Invoice number", "Invoice #")
    )
    sheet.text(RIGHT - 170, 92, f"{label}:", 9)
    sheet.text(RIGHT, 92, invoice.number, 9, bold=True, align="right")
    sheet.text(RIGHT - 170, 107, cast.pick(("Fecha:", "Fecha de factura:"), ("Date:", "Invoice date:")), 9)
    sheet.text(RIGHT, 107, invoice.printed_day, 9, align="right")
    if not first:
        return
    sheet.text(RIGHT - 170, 122, cast.say("Vencimiento:", "Due date:"), 9)
    sheet.text(RIGHT, 122, cast.short_date(invoice.due), 9, align="right")
    sheet.box(LEFT + 255, 152, 250, 84)
    sheet.text(LEFT + 265, 168, cast.pick(("Cliente", "Facturar a"), ("Bill to", "Customer")), 8, color=GREY)
    sheet.fitted(LEFT + 265, 184, 232, invoice.customer_name, 10.5, bold=True)
    sheet.lines(LEFT + 265, 199, [*invoice.customer_address, customer_id(cast, invoice)], 9)


def modern(sheet: Sheet, cast: Cast) -> Invoice:
    """A coloured band with the vendor's name, stripes, and the total in a coloured box."""
    invoice = of_services(cast)
    accent = cast.random.choice(ACCENTS)
    vendor = invoice.vendor
    sheet.page(font="Helvetica")
    sheet.box(0, 0, sheet.width, 104, fill=accent, stroke=None)
    sheet.box(LEFT, 32, 40, 40, fill="#ffffff", stroke=None, radius=8)
    sheet.text(LEFT + 20, 60, vendor.name[0], 24, bold=True, align="center", color=accent)
    sheet.fitted(LEFT + 52, 52, 320, vendor.name, 17, bold=True, color="#ffffff")
    sheet.text(LEFT + 52, 69, f"{vendor.domain} · {vendor.phone}", 8.5, color="#ffffff")
    sheet.text(
        RIGHT,
        62,
        cast.pick(("Factura", "FACTURA"), ("Invoice", "INVOICE")),
        24,
        align="right",
        color="#ffffff",
    )
    columns = (
        (LEFT, cast.say("DE", "FROM")),
        (LEFT + 185, cast.say("PARA", "TO")),
        (LEFT + 370, cast.say("DATOS", "DETAILS")),
    )
    for x, title in columns:
        sheet.text(x, 138, title, 8, bold=True, color=accent)
    sheet.fitted(LEFT, 154, 175, vendor.name, 9)
    sheet.fitted(LEFT + 185, 154, 175, invoice.customer_name, 9)
    sender = [vendor.address.street, vendor.address.town, f"{tax_id_label(cast)} {vendor.tax_id}"]
    sheet.lines(LEFT, 166, sender, 9)
    receiver = [*invoice.customer_address, customer_id(cast, invoice)]
    sheet.lines(LEFT + 185, 166, receiver, 9)
    for row, (label, value) in enumerate(number_and_dates(cast, invoice)):
        sheet.text(LEFT + 370, 154 + row * 14, label, 8.5, color=GREY)
        sheet.text(RIGHT, 154 + row * 14, value, 8.5, bold=row == 0, align="right")
    rows = [item_cells(cast, line) for line in invoice.lines]
    y = sheet.table(
        LEFT,
        232,
        item_columns(cast),
        rows,
        step=23,
        head_fill=accent,
        head_color="#ffffff",
        stripes="#f1f3f5",
    )
    y = summary(sheet, cast, invoice, y + 26)
    sheet.box(RIGHT - 220, y, 220, 44, fill=accent, stroke=None, radius=5)
    sheet.text(RIGHT - 206, y + 27, total_label(cast), 11, bold=True, color="#ffffff")
    sheet.text(RIGHT - 12, y + 28, cast.money(invoice.total), 16, bold=True, align="right", color="#ffffff")
    payment(sheet, cast, invoice, 730)
    thanks = cast.say("Gracias por confiar en nosotros.", "Thank you for your business.")
    sheet.text(LEFT, 800, thanks, 9, color=accent)
    return invoice


def freelancer(sheet: Sheet, cast: Cast) -> Invoice:
    """Almost bare: a name, a few lines of work, and in Spain the income tax withheld."""
    invoice = of_freelancer(cast)
    vendor = invoice.vendor
    font = cast.random.choice(("Helvetica", "Times-Roman", "Courier"))
    small = 8.0 if font == "Courier" else 10.0
    sheet.page(font=font)
    sheet.text(70, 90, vendor.name, 15, bold=True)
    sheet.lines(
        70,
        106,
        [vendor.address.one_line, f"{cast.say('NIF', tax_id_label(cast))} {vendor.tax_id}", vendor.mail],
        small,
    )
    title = cast.pick(
        ("Factura {}", "FACTURA Nº {}", "Factura núm. {}"), ("Invoice {}", "INVOICE No. {}", "Invoice #{}")
    )
    sheet.text(70, 185, title.format(invoice.number), 13, bold=True)
    on = cast.say(f"{vendor.address.city}, {invoice.printed_day}", invoice.printed_day)
    sheet.text(525, 185, on, small, align="right")
    receiver = [invoice.customer_name, *invoice.customer_address, customer_id(cast, invoice)]
    sheet.text(70, 220, cast.say("A la atención de:", "For:"), small, color=GREY)
    y = sheet.lines(70, 236, receiver, small) + 26
    for line in invoice.lines:
        quantity = f"{line.quantity} x {cast.money(line.price)}"
        sheet.text(70, y, line.description, small)
        sheet.text(420, y, quantity, small - 0.5, align="right", color=GREY)
        sheet.text(525, y, cast.money(line.amount), small, align="right")
        y += 20
    sheet.rule(70, y, 525)
    rows = [(cast.say("Base imponible", "Subtotal"), invoice.net)]
    rows += [(tax_name(cast, tax.rate, None), tax.amount) for tax in invoice.taxes]
    if invoice.withheld:
        rows.append((f"Retención IRPF {cast.percent(invoice.withheld_rate)}", -invoice.withheld))
    for label, amount in rows:
        y += 19
        sheet.text(300, y, label, small)
        sheet.text(525, y, cast.money(amount), small, align="right")
    sheet.rule(300, y + 8, 525, width=1.2, color="#222222")
    sheet.text(300, y + 26, total_label(cast), 12, bold=True)
    sheet.text(525, y + 26, cast.money(invoice.total), 12, bold=True, align="right")
    way = cast.say("Forma de pago: transferencia a", "Please pay by bank transfer to")
    sheet.text(70, y + 80, f"{way} {account(cast, invoice)}", small)
    return invoice


def ledger(sheet: Sheet, cast: Cast, line_count: int | None = None) -> Invoice:
    """What a billing program prints: everything in boxes, codes for articles, totals in a strip below."""
    invoice = of_goods(cast, line_count or cast.random.randint(4, 12))
    chunks, seed = by_page(invoice.lines), cast.random.getrandbits(32)
    for number, lines in enumerate(chunks, start=1):
        sheet.page(font="Helvetica")
        _ledger_head(sheet, cast.repeating(seed), invoice, number, len(chunks))
        columns = [
            Column(cast.say("CÓDIGO", "CODE"), 60),
            Column(cast.say("DESCRIPCIÓN", "DESCRIPTION"), 215),
            Column(cast.say("UDS.", "QTY"), 45, "right"),
            Column(cast.say("PRECIO", "PRICE"), 65, "right"),
            Column(cast.say("IVA", "TAX"), 45, "right"),
            Column(cast.say("IMPORTE", "AMOUNT"), 75, "right"),
        ]
        rows = [(f"{cast.digits(6)}", *item_cells(cast, line)) for line in lines]
        blank = [("",) * 6] * (ROWS - len(rows))
        y = sheet.table(LEFT, 232, columns, rows + blank, size=8, head_fill="#e3e6ea", grid=True)
        if number == len(chunks):
            _strip(sheet, cast, invoice, y + 14)
            payment(sheet, cast, invoice, 742)
        else:
            sheet.text(RIGHT, y + 16, cast.say("Sigue...", "Continued..."), 8, align="right")
        sheet.text(
            sheet.width / 2, 818, registry(cast.repeating(seed), invoice), 6.5, align="center", color=GREY
        )
    return invoice


def _ledger_head(sheet: Sheet, cast: Cast, invoice: Invoice, number: int, count: int) -> None:
    vendor = invoice.vendor
    sheet.box(LEFT, 40, 235, 92)
    sheet.fitted(LEFT + 10, 60, 215, vendor.name, 12, bold=True)
    about = [
        vendor.address.street,
        vendor.address.town,
        f"{tax_id_label(cast)}: {vendor.tax_id}",
        f"Tel. {vendor.phone}",
    ]
    sheet.lines(LEFT + 10, 76, about, 8.5)
    sheet.box(LEFT + 250, 40, 255, 92)
    receiver = [*invoice.customer_address, customer_id(cast, invoice)]
    sheet.text(LEFT + 260, 56, cast.say("CLIENTE", "CUSTOMER"), 7, color=GREY)
    sheet.fitted(LEFT + 260, 72, 238, invoice.customer_name, 10, bold=True)
    sheet.lines(LEFT + 260, 87, receiver, 8.5)
    cells = [
        (cast.say("FACTURA", "INVOICE"), invoice.number),
        (cast.say("FECHA", "DATE"), invoice.printed_day),
        (cast.say("COD. CLIENTE", "CUSTOMER REF"), cast.digits(5)),
        (cast.say("PÁGINA", "PAGE"), f"{number} {cast.say('de', 'of')} {count}"),
    ]
    for column, (label, value) in enumerate(cells):
        x = LEFT + column * 126.25
        sheet.box(x, 146, 126.25, 18, fill="#e3e6ea")
        sheet.box(x, 164, 126.25, 24)
        sheet.text(x + 63, 158, label, 7.5, bold=True, align="center")
        sheet.text(x + 63, 180, value, 9, align="center")
    delivery = cast.say("Albarán", "Delivery note")
    sheet.text(
        LEFT,
        216,
        f"{delivery}: {cast.digits(7)}  ·  {cast.say('Vencimiento', 'Due')}: {cast.short_date(invoice.due)}",
        8,
    )


def _strip(sheet: Sheet, cast: Cast, invoice: Invoice, y: float) -> None:
    columns = [
        Column(cast.say("BASE IMPONIBLE", "NET"), 130, "right"),
        Column(cast.say("% IVA", "TAX %"), 80, "right"),
        Column(cast.say("CUOTA IVA", "TAX"), 110, "right"),
    ]
    rows = [(cast.number(tax.base), cast.percent(tax.rate), cast.number(tax.amount)) for tax in invoice.taxes]
    rows.append((cast.number(invoice.net), cast.say("Suma", "Sum"), cast.number(invoice.tax)))
    bottom = sheet.table(LEFT, y, columns, rows, size=8, head_fill="#e3e6ea", grid=True)
    sheet.box(LEFT + 335, y, 170, bottom - y, line_width=1.4, stroke="#333333")
    sheet.text(LEFT + 347, y + 18, cast.say("TOTAL FACTURA", "INVOICE TOTAL"), 9, bold=True)
    sheet.text(RIGHT - 12, bottom - 12, cast.money(invoice.total), 15, bold=True, align="right")


def classic_long(sheet: Sheet, cast: Cast) -> Invoice:
    return classic(sheet, cast, cast.random.randint(24, 34))


def ledger_long(sheet: Sheet, cast: Cast) -> Invoice:
    return ledger(sheet, cast, cast.random.randint(24, 34))


def _layout(draw: Callable[[Sheet, Cast], Invoice], *, held_out: bool = False) -> Layout:
    return Layout(
        draw.__name__, lambda sheet, cast: draw(sheet, cast).fields(cast.currency), held_out=held_out
    )


LONG = (_layout(classic_long), _layout(ledger_long, held_out=True))
LAYOUTS = (
    _layout(classic),
    _layout(modern),
    _layout(utility),
    _layout(freelancer, held_out=True),
    _layout(ledger, held_out=True),
    *LONG,
)
