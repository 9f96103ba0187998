"""Papers of trade that are no invoices: quotes, delivery notes, orders, pro-forma invoices, reminders."""

from __future__ import annotations

from collections.abc import Callable

from docproc_samples.drawing import invoice_heads, invoice_middles, invoice_tables, invoice_totals
from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.invoice import of_goods, of_services
from docproc_samples.drawing.invoice_draft import Draft
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import Sheet
from docproc_samples.drawing.style import style

# What it is called, what its number is called, and whether it shows prices.
PAPERS: dict[str, tuple[tuple[str, ...], tuple[str, ...], str, str, bool]] = {
    "quote": (
        ("PRESUPUESTO", "Presupuesto", "OFERTA"),
        ("QUOTATION", "QUOTE", "Estimate"),
        "Presupuesto nº",
        "Quote no.",
        True,
    ),
    "delivery_note": (
        ("ALBARÁN", "ALBARÁN DE ENTREGA", "NOTA DE ENTREGA"),
        ("DELIVERY NOTE", "PACKING SLIP"),
        "Albarán nº",
        "Delivery no.",
        False,
    ),
    "purchase_order": (
        ("PEDIDO", "ORDEN DE COMPRA", "Pedido de compra"),
        ("PURCHASE ORDER",),
        "Pedido nº",
        "PO number",
        True,
    ),
    "pro_forma": (
        ("FACTURA PROFORMA", "PROFORMA"),
        ("PRO FORMA INVOICE", "Proforma invoice"),
        "Proforma nº",
        "Proforma no.",
        True,
    ),
}
NOTES = {
    "quote": (
        "Validez de la oferta: 30 días. Precios sin compromiso. Conforme el cliente (firma y fecha):",
        "This quotation is valid for 30 days. Signed and accepted by:",
    ),
    "delivery_note": (
        "Mercancía recibida conforme. Nombre, DNI y firma:",
        "Received in good order. Name and signature:",
    ),
    "purchase_order": (
        "Rogamos confirmen plazo de entrega. Lugar de entrega: nuestro almacén.",
        "Please confirm the delivery date. Deliver to our warehouse.",
    ),
    "pro_forma": (
        "Documento sin validez fiscal. La factura definitiva se emitirá al recibir el pago.",
        "This is not a tax invoice. The invoice follows on payment.",
    ),
}
HEADS = (invoice_heads.name_left, invoice_heads.logo_left, invoice_heads.centred, invoice_heads.logo_right)
METAS = (invoice_middles.pairs, invoice_middles.grid, invoice_middles.pairs_close)
CUSTOMERS = (invoice_middles.boxed, invoice_middles.headed, invoice_middles.formed)
TOTALS = (invoice_totals.stack, invoice_totals.boxed_total, invoice_totals.rate_table)


def paper(kind: str) -> Callable[[Sheet, Cast], dict[str, str]]:
    def draw(sheet: Sheet, cast: Cast) -> dict[str, str]:
        spanish, english, number, english_number, priced = PAPERS[kind]
        made = of_goods(cast, cast.random.randint(2, 9)) if cast.random.random() < 0.7 else of_services(cast)
        names = {
            "title": cast.pick(spanish, english),
            "number": cast.say(number, english_number),
            "date": cast.say("Fecha", "Date"),
            "total": "TOTAL",
            "due": cast.say("Entrega", "Delivery"),
            "payment": cast.say("Condiciones", "Terms"),
        }
        if kind == "purchase_order":
            names["customer"] = cast.say("Proveedor", "Supplier")
        draft = Draft(sheet, cast, style(cast), made, called=names)
        sheet.page(font=draft.style.font)
        y = cast.random.choice(HEADS)(draft)
        if not draft.titled:
            sheet.text(draft.style.left, y + 10, names["title"], 15, bold=True)
            y += 24
        half = draft.style.width / 2 - 14
        y = (
            max(
                cast.random.choice(METAS)(draft, draft.style.left, y, half),
                cast.random.choice(CUSTOMERS)(draft, draft.style.left + half + 28, y, half),
            )
            + 18
        )
        y = invoice_tables.table(draft, y, made.lines, "plain" if priced else "goods")
        if priced:
            y = cast.random.choice(TOTALS)(draft, y + 14)
        sheet.prose(draft.style.left, y + 40, draft.style.width, cast.say(*NOTES[kind]), 9)
        return {}

    return draw


def reminder(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A letter about an unpaid invoice, with its number and amount, and yet no invoice."""
    owed = of_services(cast)
    look = style(cast, fonts=("Helvetica", "Times-Roman"))
    sheet.page(font=look.font)
    sheet.fitted(look.left, 64, 340, owed.vendor.name, 14, bold=True)
    sheet.lines(look.left, 80, [owed.vendor.address.one_line, f"Tel. {owed.vendor.phone}"], 8.5)
    sheet.lines(look.left + 260, 140, [owed.customer_name, *owed.customer_address], 10.5)
    sheet.text(look.left, 220, f"{owed.vendor.address.city}, {cast.long_date(owed.due)}", 10.5)
    subject = cast.say(
        f"Asunto: recordatorio de pago de la factura {owed.number}", f"Re: overdue invoice {owed.number}"
    )
    sheet.text(look.left, 250, subject, 10.5, bold=True)
    amount, day = cast.money(owed.total), cast.long_date(owed.day)
    texts = cast.say(
        "Muy señores nuestros:|Al revisar nuestra contabilidad hemos observado que sigue pendiente de "
        "pago la factura "
        f"{owed.number}, de fecha {day}, por importe de {amount}. Les rogamos que atiendan el pago a la "
        "mayor brevedad.|Si ya lo han "
        "hecho, les pedimos que no tengan en cuenta esta carta y que nos hagan llegar el justificante de "
        "la transferencia.|"
        "Quedamos a su disposición para cualquier aclaración.|Atentamente,",
        f"Dear Sirs,|Our records show that invoice {owed.number} dated {day} for {amount} has not been "
        "paid. We would be glad "
        "to receive your payment at your earliest convenience.|If you have paid in the meantime, please "
        "disregard this letter "
        "and let us have a copy of the transfer.|Yours faithfully,",
    )
    y = 280.0
    for text in texts.split("|"):
        y = sheet.prose(look.left, y, look.width, text, 11) + 10
    sheet.text(look.left, y + 40, cast.say("Dpto. de Administración", "Accounts department"), 10.5)
    return {}


LAYOUTS = (
    Layout("quote", paper("quote")),
    Layout("delivery_note", paper("delivery_note")),
    Layout("pro_forma", paper("pro_forma")),
    Layout("reminder", reminder),
    Layout("purchase_order", paper("purchase_order"), held_out=True),
)
