"""The sums of invoices and what stands below them."""

from __future__ import annotations

from decimal import Decimal

from docproc_samples.drawing import invoice_words
from docproc_samples.drawing.invoice_draft import Draft
from docproc_samples.drawing.sheet import BLACK, GREY, Column


def stack(draft: Draft, y: float) -> float:
    """One sum below the other at the right, the total last and larger."""
    sheet, style = draft.sheet, draft.style
    wide = draft.cast.random.uniform(170, 235)
    x = style.right - wide
    for label, amount in sums(draft):
        sheet.fitted(x, y + 10, wide * 0.62, label, style.size)
        sheet.text(style.right - 4, y + 10, draft.money(amount), style.size, align="right")
        y += style.size * 1.75
    sheet.rule(x, y + 2, style.right, width=1.1, color=style.accent)
    sheet.fitted(x, y + 17, wide * 0.55, draft.word("total"), style.size + 2, bold=True)
    sheet.text(
        style.right - 4, y + 17, draft.money(draft.invoice.total), style.size + 2, bold=True, align="right"
    )
    return y + 30


def boxed_total(draft: Draft, y: float) -> float:
    """Sums at the right; the total in a filled box."""
    sheet, style = draft.sheet, draft.style
    x = style.right - 200
    for label, amount in sums(draft):
        sheet.fitted(x + 8, y + 10, 110, label, style.size)
        sheet.text(style.right - 8, y + 10, draft.money(amount), style.size, align="right")
        y += style.size * 1.8
    dark = draft.cast.random.random() < 0.6
    color = "#ffffff" if dark else BLACK
    sheet.box(x, y, 200, 30, fill=style.accent if dark else "#eceff2", stroke=None if dark else "#555555")
    sheet.fitted(x + 8, y + 19, 90, draft.word("total"), 10.5, bold=True, color=color)
    sheet.text(
        style.right - 8, y + 20, draft.money(draft.invoice.total), 13, bold=True, align="right", color=color
    )
    return y + 42


def strip(draft: Draft, y: float) -> float:
    """A row of boxes: every sum below its label, the total last."""
    cells = [(label.rstrip(" :"), draft.number(amount)) for label, amount in sums(draft)]
    cells.append((draft.bare("total"), draft.money(draft.invoice.total)))
    wide = draft.style.width / len(cells)
    for column, (label, value) in enumerate(cells):
        x, last = draft.style.left + column * wide, column == len(cells) - 1
        draft.sheet.box(x, y, wide, 15, fill="#e3e6ea", stroke="#666666")
        draft.sheet.box(x, y + 15, wide, 24, stroke="#666666")
        draft.sheet.fitted(x + wide / 2, y + 10.5, wide - 6, label, 7.2, bold=True, align="center")
        draft.sheet.fitted(
            x + wide / 2, y + 31, wide - 6, value, 10 if last else 9, bold=last, align="center"
        )
    return y + 48


def rate_table(draft: Draft, y: float) -> float:
    """Base, rate and tax by rate at the left; the total in a box at the right."""
    sheet, style, cast = draft.sheet, draft.style, draft.cast
    name = draft.tax_name()
    titles = cast.pick(
        (f"Base|% {name}|Cuota", f"Base imponible|Tipo|Cuota {name}", "Base Imp.|%|Importe"),
        ("Net|Rate|Tax", f"Net amount|{name} %|{name}"),
    )
    columns = [
        Column(title, width, "right") for title, width in zip(titles.split("|"), (90, 60, 80), strict=True)
    ]
    rows = [
        (draft.number(tax.base), cast.percent(tax.rate), draft.number(tax.amount))
        for tax in draft.invoice.taxes
    ]
    bottom = sheet.table(
        style.left,
        y,
        columns,
        rows,
        size=style.size - 0.8,
        step=15,
        grid=cast.random.random() < 0.6,
        head_fill="#e9ecef",
    )
    rows_right = [
        (draft.word("net"), draft.invoice.net),
        (draft.word("tax"), draft.invoice.tax),
        *_withheld(draft),
    ]
    at = y + 10
    for label, amount in rows_right:
        sheet.fitted(style.right - 190, at, 100, label, style.size)
        sheet.text(style.right - 6, at, draft.number(amount), style.size, align="right")
        at += style.size * 1.6
    sheet.box(style.right - 196, at - 2, 196, 26, stroke=style.accent, line_width=1.2)
    sheet.fitted(style.right - 190, at + 15, 90, draft.word("total"), 10.5, bold=True)
    sheet.text(style.right - 6, at + 15, draft.money(draft.invoice.total), 12, bold=True, align="right")
    return max(bottom, at + 26) + 10


def full_table(draft: Draft, y: float) -> float:
    """One wide table: base, rate, tax and total of each rate; the sum of all below."""
    sheet, style, invoice = draft.sheet, draft.style, draft.invoice
    name = draft.tax_name()
    titles = draft.cast.pick(
        (f"Base imponible|% {name}|Cuota {name}|% R.E.|Cuota R.E.|Total",),
        (f"Net|{name} rate|{name}|Discount %|Discount|Gross",),
    )
    columns = [Column(title, style.width / 6, "right") for title in titles.split("|")]
    rows = [
        (
            draft.number(tax.base),
            draft.cast.percent(tax.rate),
            draft.number(tax.amount),
            "",
            "",
            draft.number(tax.base + tax.amount),
        )
        for tax in invoice.taxes
    ]
    y = sheet.table(
        style.left, y, columns, rows, size=style.size - 0.8, step=15, grid=True, head_fill="#e9ecef"
    )
    for label, amount in [*_withheld(draft)]:
        sheet.text(style.right - 110, y + 14, label, style.size, align="right")
        sheet.text(style.right - 4, y + 14, draft.number(amount), style.size, align="right")
        y += 15
    sheet.text(style.right - 110, y + 19, draft.word("total"), 11.5, bold=True, align="right")
    sheet.text(style.right - 4, y + 19, draft.money(invoice.total), 12, bold=True, align="right")
    if len(invoice.taxes) > 1:  # the sums over all rates are printed nowhere
        draft.printed.setdefault("net_amount", "")
        draft.printed.setdefault("tax_amount", "")
    return y + 34


def typed(draft: Draft, y: float) -> float:
    """As typed by hand: label, dots or spaces, amount."""
    sheet, style = draft.sheet, draft.style
    for label, amount in [*sums(draft), (draft.word("total"), draft.invoice.total)]:
        bold = amount == draft.invoice.total
        sheet.text(style.left + style.width * 0.45, y + 10, label, style.size + 1, bold=bold)
        sheet.text(style.right, y + 10, draft.money(amount), style.size + 1, bold=bold, align="right")
        y += style.size * 1.9
    return y + 8


def sums(draft: Draft) -> list[tuple[str, Decimal]]:
    """Everything between the lines and the total."""
    invoice = draft.invoice
    rows = [(draft.word("net"), invoice.net)]
    several = len(invoice.taxes) > 1
    for tax in invoice.taxes:
        base = f" {draft.cast.say('s/', 'on')} {draft.number(tax.base)}" if several else ""
        rows.append((draft.style.label(f"{draft.tax_name(tax.rate)}{base}"), tax.amount))
    if several:
        rows.append((draft.word("tax"), invoice.tax))
    return rows + _withheld(draft)


def _withheld(draft: Draft) -> list[tuple[str, Decimal]]:
    if not draft.invoice.withheld:
        return []
    rate = draft.cast.percent(draft.invoice.withheld_rate)
    return [(draft.style.label(f"{draft.bare('withheld')} ({rate})"), -draft.invoice.withheld)]


# --- below


def foot(draft: Draft, y: float, *, note: str = "") -> None:
    """Payment, bank account and small print; the company too, where it stands nowhere else."""
    sheet, style, cast = draft.sheet, draft.style, draft.cast
    y = max(y + 12, cast.random.uniform(y + 12, 700))
    if note:
        y = sheet.prose(style.left, y, style.width, note, style.size) + 8
    lines = [f"{draft.word('payment')} {cast.pick(*invoice_words.WAYS)}"]
    if cast.random.random() < 0.7:
        lines.append(f"{draft.word('account')} {draft.account()}")
    if cast.random.random() < 0.3:
        lines.append(f"{draft.word('due')} {draft.due()}   {draft.number(draft.invoice.total)}")
    y = sheet.lines(style.left, y, lines, style.size)
    if cast.random.random() < 0.7:
        sheet.prose(style.left, min(y + 14, 775), style.width, cast.pick(*invoice_words.NOTES), 7, color=GREY)
    _company_line(draft)


def _company_line(draft: Draft) -> None:
    vendor, cast = draft.invoice.vendor, draft.cast
    if not draft.vendor_shown or cast.random.random() < 0.35:
        line = f"{vendor.name} · {vendor.address.one_line} · {draft.vendor_id()}"
        draft.sheet.fitted(
            297.5, 806, 520, line, 8 if not draft.vendor_shown else 7, align="center", color="#444444"
        )
    if cast.spanish and cast.random.random() < 0.4 and not vendor.tax_id[0].isdigit():
        where = f"Inscrita en el Registro Mercantil de {vendor.address.region}, Tomo {cast.digits(4)}, Folio "
        sheet_number = f"{vendor.address.region[:2].upper()}-{cast.digits(5)}"
        line = f"{where}{cast.digits(3)}, Hoja {sheet_number}, Inscripción 1ª"
        draft.sheet.fitted(297.5, 818, 520, line, 6.5, align="center", color=GREY)
