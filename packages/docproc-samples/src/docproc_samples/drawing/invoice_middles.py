"""The middle of invoices: number and dates, and the customer; each block fills a given width."""

from __future__ import annotations

from collections.abc import Callable

from docproc_samples.drawing.invoice_draft import Draft
from docproc_samples.drawing.sheet import GREY

Block = Callable[[Draft, float, float, float], float]  # draft, x, y, width; returns its lower edge


def facts(draft: Draft, *, most: int = 5) -> list[tuple[str, str]]:
    """Number and date first, then what else this printer likes to show."""
    cast = draft.cast
    shown = [(draft.word("number"), draft.invoice.number), (draft.word("date"), draft.day())]
    if cast.random.random() < 0.25:
        shown.reverse()
    if cast.random.random() < 0.55:
        shown.append((draft.word("due"), draft.due()))
    if cast.random.random() < 0.4:
        shown.append((draft.word("order"), cast.digits(cast.random.randint(4, 7))))
    if cast.random.random() < 0.4:
        shown.insert(cast.random.randint(0, len(shown)), (draft.word("client_code"), cast.digits(5)))
    if cast.random.random() < 0.25:
        shown.append(
            (draft.word("payment"), cast.pick(("Transferencia", "Contado", "30 días"), ("Net 30", "BACS")))
        )
    while len(shown) > most:  # number and day stay
        spare = [fact for fact in shown if fact[1] not in (draft.invoice.number, draft.day())]
        shown.remove(spare[-1])
    if all(value != draft.style.day(draft.invoice.due) for _, value in shown):
        draft.printed.pop("due_date", None)
    return shown


# --- number and dates


def pairs(draft: Draft, x: float, y: float, width: float) -> float:
    """Labels at the left, values at the right of the block."""
    size = draft.style.size
    for label, value in facts(draft):
        draft.sheet.text(x, y + size, label, size, color="#444444")
        draft.sheet.text(x + width, y + size, value, size, bold=True, align="right")
        y += size * 1.7
    return y


def pairs_close(draft: Draft, x: float, y: float, width: float) -> float:
    """`Label: value`, each on its line."""
    size = draft.style.size + 0.5
    for label, value in facts(draft):
        draft.sheet.text(x, y + size, label, size, bold=True)
        draft.sheet.fitted(
            x + draft.sheet.measure(label + " ", size, bold=True) + 1, y + size, width, value, size
        )
        y += size * 1.5
    return y


def grid(draft: Draft, x: float, y: float, width: float) -> float:
    """A table of one row: labels in the head, values below."""
    cells = facts(draft)
    wide = width / len(cells)
    for column, (label, value) in enumerate(cells):
        at = x + column * wide
        draft.sheet.box(at, y, wide, 16, fill="#e6e8eb", stroke="#777777")
        draft.sheet.box(at, y + 16, wide, 20, stroke="#777777")
        draft.sheet.fitted(
            at + wide / 2, y + 11, wide - 6, label.rstrip(" :"), 7.5, bold=True, align="center"
        )
        draft.sheet.fitted(at + wide / 2, y + 30, wide - 6, value, 9, align="center")
    return y + 36


def bare_grid(draft: Draft, x: float, y: float, width: float) -> float:
    """Labels in small grey letters with the values below, no lines."""
    cells = facts(draft, most=4)
    wide = width / len(cells)
    for column, (label, value) in enumerate(cells):
        draft.sheet.fitted(x + column * wide, y + 9, wide - 6, label.rstrip(" :"), 7, color=GREY)
        draft.sheet.fitted(x + column * wide, y + 23, wide - 6, value, 10, bold=column == 0)
    return y + 30


def stacked(draft: Draft, x: float, y: float, width: float) -> float:
    """Each label above its value, one below the other, at the right edge."""
    for label, value in facts(draft, most=4):
        draft.sheet.text(x + width, y + 8, label.rstrip(" :"), 7.2, align="right", color=draft.style.accent)
        draft.sheet.text(x + width, y + 20, value, draft.style.size + 1, align="right")
        y += 28
    return y


def sentence(draft: Draft, x: float, y: float, width: float) -> float:
    """The title with the number in it, and the place with the day."""
    draft.titled = True
    number, day = draft.invoice.number, draft.day()
    words = draft.cast.pick(
        (f"FACTURA Nº {number}", f"Factura núm.: {number}", f"FACTURA: {number}", f"Factura {number}"),
        (f"Invoice {number}", f"INVOICE NO. {number}", f"Invoice #{number}"),
    )
    draft.sheet.text(x, y + 14, words, 13, bold=True)
    city = draft.invoice.vendor.address.city
    on = draft.cast.pick(
        (f"{city}, {day}", f"Fecha: {day}", f"En {city}, a {day}"), (f"Date: {day}", day, f"Dated {day}")
    )
    draft.sheet.text(x, y + 32, on, draft.style.size + 1)
    return y + 42


# --- the customer


def addressed(draft: Draft, x: float, y: float, width: float) -> float:
    """As in an envelope's window: no label at all."""
    return _lines(draft, x + 4, y + 10, width, _customer(draft))


def headed(draft: Draft, x: float, y: float, width: float) -> float:
    """A label above the customer's lines."""
    draft.sheet.text(
        x, y + 9, draft.word("customer"), draft.style.size - 1, bold=True, color=draft.style.accent
    )
    return _lines(draft, x, y + 23, width, _customer(draft))


def boxed(draft: Draft, x: float, y: float, width: float) -> float:
    lines = _customer(draft)
    high = 24 + len(lines) * draft.style.size * 1.4
    draft.sheet.box(x, y, width, high, radius=draft.cast.random.choice((0, 0, 6)))
    draft.sheet.text(x + 8, y + 11, draft.bare("customer"), 7, color=GREY)
    _lines(draft, x + 8, y + 25, width - 16, lines)
    return y + high


def formed(draft: Draft, x: float, y: float, width: float) -> float:
    """Each fact of the customer behind its label."""
    cast, invoice = draft.cast, draft.invoice
    rows = [
        (
            cast.pick(("Nombre", "Cliente", "Razón social", "Nombre o razón social"), ("Name", "Customer")),
            invoice.customer_name,
        ),
        (cast.pick(("Dirección", "Domicilio"), ("Address",)), invoice.customer_address[0]),
        (
            cast.pick(("Población", "Localidad", "C.P./Población"), ("Town", "City")),
            invoice.customer_address[1],
        ),
    ]
    if draft.customer_id():
        label = cast.pick(("NIF", "CIF/NIF", "N.I.F."), ("VAT No",))
        rows.insert(cast.random.choice((1, 3)), (label, invoice.customer_tax_id))
    if cast.random.random() < 0.5:
        draft.sheet.text(x, y + 9, draft.word("customer"), draft.style.size, bold=True)
        y += 16
    for label, value in rows:
        draft.sheet.text(x, y + 9, draft.style.label(label), draft.style.size - 0.7, color=GREY)
        offset = min(95.0, width * 0.35)
        draft.sheet.fitted(x + offset, y + 9, width - offset, value, draft.style.size)
        y += draft.style.size * 1.6
    return y


def _customer(draft: Draft) -> list[str]:
    person = not draft.cast.spanish or draft.invoice.customer_tax_id[:1].isdigit()
    name = draft.invoice.customer_name
    lines = [name, *draft.invoice.customer_address]
    tax_id = draft.customer_id()
    if tax_id:
        lines.insert(draft.cast.random.choice((1, 3, 3)), tax_id)
    if draft.cast.random.random() < 0.15 and not person:
        lines.append(draft.cast.say("España", "United Kingdom"))
    return lines


def _lines(draft: Draft, x: float, y: float, width: float, lines: list[str]) -> float:
    size = draft.style.size
    for row, line in enumerate(lines):
        draft.sheet.fitted(x, y, width, line, size + (0.8 if row == 0 else 0), bold=row == 0)
        y += size * 1.4
    return y
