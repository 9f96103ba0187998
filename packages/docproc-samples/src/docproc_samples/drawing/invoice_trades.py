"""Invoices of particular trades: web shop, hotel, workshop, and one that corrects another."""

from __future__ import annotations

from datetime import timedelta

from docproc_samples.drawing import invoice_middles, invoice_tables, invoice_totals
from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.invoice import Invoice, Line, of_goods, of_services, of_stay, of_workshop
from docproc_samples.drawing.invoice_draft import Draft
from docproc_samples.drawing.invoice_heads import logo
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import GREY, Column, Sheet
from docproc_samples.drawing.style import style
from docproc_samples.drawing.writing import cents


def web_shop(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Paid already: the total at the top, who sold it, addresses side by side, prices with tax."""
    draft = _draft(sheet, cast, of_goods(cast, cast.random.randint(1, 4)))
    sold, look = draft.invoice, draft.style
    draft.sheet.text(look.right, 52, draft.bare("title"), 18, align="right")
    logo(draft, look.left, 34, mark=True)
    sheet.text(look.right, 70, cast.say("Pagado", "Paid"), 9, align="right", color="#2d6a4f")
    half = look.width / 2
    paid = [
        (cast.pick(("Número de la factura", "Número de factura"), ("Invoice number",)), sold.number),
        (
            cast.pick(("Fecha de la factura/Fecha de la entrega", "Fecha de la factura"), ("Invoice date",)),
            draft.day(),
        ),
        (
            cast.pick(
                ("Total pendiente", "Total a pagar", "Importe total"), ("Total payable", "Invoice total")
            ),
            draft.money(sold.total),
        ),
    ]
    for row, (label, value) in enumerate(paid):
        sheet.text(look.left + half, 96 + row * 15, label, 8.5, color=GREY)
        sheet.text(look.right, 96 + row * 15, value, 9, bold=True, align="right")
    order = f"{cast.digits(3)}-{cast.digits(7)}-{cast.digits(7)}"
    sheet.text(look.left, 100, cast.say("Vendido por", "Sold by"), 8, color=GREY)
    sheet.lines(look.left, 113, draft.vendor_lines(most=3), look.size)
    y = 178.0
    heads = cast.say("Dirección de facturación|Dirección de envío", "Billing address|Delivery address").split(
        "|"
    )
    lines = [sold.customer_name, *sold.customer_address]
    if cast.spanish and cast.random.random() < 0.6:
        lines.append(draft.customer_id())
    for x, head in zip((look.left, look.left + half), heads, strict=True):
        sheet.text(x, y, head, 8.5, bold=True)
        sheet.lines(x, y + 13, lines, look.size)
    bought = sold.day - timedelta(days=cast.random.randint(0, 4))
    sheet.text(
        look.left, y + 78, f"{cast.say('Fecha del pedido', 'Order date')}  {draft.style.day(bought)}", 8.5
    )
    sheet.text(look.left, y + 91, f"{cast.say('Número del pedido', 'Order number')}  {order}", 8.5)
    y = _lines_with_tax(draft, y + 108)
    y = invoice_totals.stack(draft, y + 10)
    y = _rates(draft, y + 6)
    sheet.prose(
        look.left,
        780,
        look.width,
        cast.say(
            "Conserve esta factura como garantía de su compra.", "Keep this invoice as proof of purchase."
        ),
        7.5,
        color=GREY,
    )
    return draft.fields()


def hotel(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A stay: guest, room, arrival and departure, one line a day."""
    nights = cast.random.randint(1, 6)
    draft = _draft(sheet, cast, of_stay(cast, nights))
    stay, look = draft.invoice, draft.style
    sheet.fitted(297.5, 60, 420, stay.vendor.name, 17, bold=True, align="center", color=look.accent)
    sheet.lines(297.5, 76, draft.vendor_lines(named=False)[:4], 8, align="center")
    draft.vendor_shown = True
    sheet.text(look.left, 140, f"{draft.bare('title')} {stay.number}", 12, bold=True)
    arrival = stay.day - timedelta(days=nights)
    facts = [
        (cast.pick(("Cliente", "Huésped", "Nombre"), ("Guest", "Name")), stay.customer_name),
        (cast.say("Habitación", "Room"), cast.digits(3)),
        (cast.say("Llegada", "Arrival"), look.day(arrival)),
        (cast.say("Salida", "Departure"), look.day(stay.day)),
        (cast.pick(("Fecha factura", "Fecha"), ("Invoice date", "Date")), draft.day()),
        (cast.say("Reserva", "Booking"), cast.digits(8)),
    ]
    if cast.spanish:
        draft.printed["customer_tax_id"] = stay.customer_tax_id
        facts.insert(1, ("NIF", stay.customer_tax_id))
    for row, (label, value) in enumerate(facts):
        x = look.left + (row % 2) * look.width / 2
        sheet.text(x, 164 + row // 2 * 16, look.label(label), look.size - 0.5, color=GREY)
        sheet.fitted(x + 80, 164 + row // 2 * 16, look.width / 2 - 85, value, look.size)
    y = invoice_tables.table(draft, 240, stay.lines, "dated")
    y = invoice_totals.rate_table(draft, y + 16)
    invoice_totals.foot(draft, y)
    return draft.fields()


def workshop(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A garage: the vehicle in a strip, labour and parts."""
    draft = _draft(sheet, cast, of_workshop(cast))
    done, look = draft.invoice, draft.style
    lines = draft.vendor_lines()
    sheet.box(look.left, 36, look.width / 2 - 8, 86)
    sheet.fitted(look.left + 8, 54, look.width / 2 - 24, lines[0], 12, bold=True)
    sheet.lines(look.left + 8, 69, lines[1:5], 8)
    invoice_middles.boxed(draft, look.left + look.width / 2 + 8, 36, look.width / 2 - 8)
    plate = f"{cast.digits(4)} {''.join(cast.random.choices('BCDFGHJKLMNPRSTVWXYZ', k=3))}"
    cells = [
        (draft.bare("title"), done.number),
        (cast.say("FECHA", "DATE"), draft.day()),
        (cast.say("MATRÍCULA", "REG. NO."), plate),
        (cast.say("KMS.", "MILEAGE"), cast.digits(6)),
        (cast.say("O.R.", "JOB"), cast.digits(5)),
    ]
    wide = look.width / len(cells)
    for column, (label, value) in enumerate(cells):
        sheet.box(look.left + column * wide, 138, wide, 34)
        sheet.text(look.left + column * wide + 5, 148, label, 6.8, color=GREY)
        sheet.fitted(look.left + column * wide + 5, 164, wide - 9, value, 9.5, bold=column == 0)
    y = invoice_tables.table(draft, 186, done.lines, "coded", blank=14)
    y = invoice_totals.strip(draft, y + 8)
    words = cast.say(
        "Garantía de la reparación: 3 meses o 2.000 km. Piezas sustituidas a disposición del cliente.",
        "Repairs are guaranteed for three months. Replaced parts may be collected.",
    )
    invoice_totals.foot(draft, y, note=words)
    return draft.fields()


def corrective(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """It replaces an earlier invoice, whose number and date are printed too."""
    draft = _draft(sheet, cast, of_services(cast))
    look = draft.style
    sheet.fitted(look.left, 60, 300, draft.invoice.vendor.name, 15, bold=True)
    draft.vendor_shown = True
    y = sheet.lines(look.left, 75, draft.vendor_lines(named=False), look.size - 0.5)
    title = cast.pick(("FACTURA RECTIFICATIVA", "Factura rectificativa"), ("CORRECTED INVOICE",))
    sheet.text(look.right, 60, title, 14, bold=True, align="right", color=look.accent)
    draft.titled = True
    half = look.width / 2 - 12
    top = max(y, 120)
    y = (
        max(
            invoice_middles.pairs(draft, look.left + half + 24, top, half),
            invoice_middles.headed(draft, look.left, top, half),
        )
        + 14
    )
    old = look.day(draft.invoice.day - timedelta(days=cast.random.randint(12, 60)))
    why = cast.say(
        f"Rectifica a la factura A{cast.digits(6)} de fecha {old}, por error en los datos.",
        f"Replaces our invoice A{cast.digits(6)} of {old}, which was wrong.",
    )
    y = sheet.prose(look.left, y + 8, look.width, why, look.size, bold=True) + 8
    y = invoice_tables.table(draft, y, draft.invoice.lines, "rated")
    y = invoice_totals.stack(draft, y + 14)
    invoice_totals.foot(draft, y)
    return draft.fields()


# --- parts


def _draft(sheet: Sheet, cast: Cast, made: Invoice) -> Draft:
    look = style(cast, fonts=("Helvetica", "Helvetica", "Vera", "Times-Roman"))
    sheet.page(font=look.font)
    return Draft(sheet, cast, look, made)


def _lines_with_tax(draft: Draft, y: float) -> float:
    cast, width = draft.cast, draft.style.width
    titles = cast.say(
        "Descripción|Cant.|Precio unit. (IVA excl.)|IVA %|Precio total (IVA incl.)",
        "Description|Qty|Unit price (excl. tax)|Tax %|Item total (incl. tax)",
    ).split("|")
    shares = (0.44, 0.08, 0.18, 0.1, 0.2)
    columns = [
        Column(title, share * width, "left" if share > 0.4 else "right")
        for title, share in zip(titles, shares, strict=True)
    ]
    rows = [_with_tax(draft, line) for line in draft.invoice.lines]
    return draft.sheet.table(draft.style.left, y, columns, rows, size=8.2, step=22)


def _with_tax(draft: Draft, line: Line) -> tuple[str, str, str, str, str]:
    gross = cents(line.amount * (100 + line.rate) / 100)
    return (
        line.description,
        str(line.quantity),
        draft.money(line.price),
        draft.cast.percent(line.rate),
        draft.money(gross),
    )


def _rates(draft: Draft, y: float) -> float:
    columns = [
        Column(title, 90, "right") for title in draft.cast.say("IVA %|Base|IVA", "Rate|Net|Tax").split("|")
    ]
    rows = [
        (draft.cast.percent(tax.rate), draft.money(tax.base), draft.money(tax.amount))
        for tax in draft.invoice.taxes
    ]
    return draft.sheet.table(draft.style.left, y, columns, rows, size=8, step=14)


LAYOUTS = (
    Layout("web_shop", web_shop),
    Layout("workshop", workshop),
    Layout("corrective", corrective),
    Layout("hotel", hotel, held_out=True),
)
