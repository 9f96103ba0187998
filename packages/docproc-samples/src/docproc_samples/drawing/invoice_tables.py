"""The lines of invoices as tables of many shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from docproc_samples.drawing.invoice import Line
from docproc_samples.drawing.invoice_draft import Draft
from docproc_samples.drawing.sheet import Column

Cell = Callable[[Draft, Line], str]
# What a column says, how wide it wants to be (shares of what is left), and how it is aligned.
CELLS: dict[str, tuple[float, str, Cell]] = {
    "code": (1.2, "left", lambda draft, line: _code(line)),
    "description": (5.0, "left", lambda draft, line: line.description),
    "quantity": (0.9, "right", lambda draft, line: _quantity(draft, line)),
    "price": (1.3, "right", lambda draft, line: draft.number(line.price)),
    "rate": (0.9, "right", lambda draft, line: draft.cast.percent(line.rate)),
    "discount": (0.9, "right", lambda draft, line: ""),
    "amount": (1.5, "right", lambda draft, line: draft.number(line.amount)),
    "money": (1.6, "right", lambda draft, line: draft.money(line.amount)),
    "gross": (1.6, "right", lambda draft, line: draft.money(line.amount + line.amount * line.rate / 100)),
    "day": (1.3, "left", lambda draft, line: _some_day(draft)),
}
SHAPES: dict[str, tuple[str, ...]] = {
    "plain": ("description", "quantity", "price", "amount"),
    "rated": ("description", "quantity", "price", "rate", "amount"),
    "counted": ("quantity", "description", "price", "money"),
    "coded": ("code", "description", "quantity", "price", "discount", "amount"),
    "coded_rated": ("code", "description", "quantity", "price", "rate", "amount"),
    "bare": ("description", "money"),
    "dated": ("day", "description", "quantity", "price", "amount"),
    "worked": ("day", "description", "money"),
    "goods": ("code", "description", "quantity"),
    "rate_first": ("code", "quantity", "description", "rate", "price", "discount", "money"),
}


def table(draft: Draft, y: float, lines: Sequence[Line], shape: str, *, blank: int = 0) -> float:
    """Draw the lines; `blank` rows fill the table up, as programs with fixed forms print them."""
    style, random = draft.style, draft.cast.random
    names = SHAPES[shape]
    whole = sum(CELLS[name][0] for name in names)
    columns = [
        Column(_title(draft, name), CELLS[name][0] / whole * style.width, CELLS[name][1]) for name in names
    ]
    rows = [tuple(CELLS[name][2](draft, line) for name in names) for line in lines]
    rows += [("",) * len(names)] * max(0, blank - len(rows))
    look = random.randrange(5)
    fill = (None, style.accent, "#e3e6ea", None, style.accent)[look]
    return draft.sheet.table(
        style.left,
        y,
        columns,
        rows,
        size=style.size - 0.4,
        step=random.uniform(14, 21),
        head_fill=fill,
        head_color="#ffffff" if fill == style.accent else "#1a1a1a",
        stripes="#f1f3f5" if look in (1, 3) else None,
        grid=look in (2, 4) or bool(blank),
    )


def _title(draft: Draft, name: str) -> str:
    if name == "rate":
        return draft.cast.random.choice((draft.tax_name(), f"% {draft.tax_name()}"))
    if name == "discount":
        return draft.cast.pick(("Dto.", "% Dto."), ("Disc.",))
    if name == "day":
        return draft.cast.pick(("Fecha",), ("Date",))
    return draft.bare({"money": "amount", "gross": "amount"}.get(name, name))


def _code(line: Line) -> str:
    value = sum(ord(sign) * place for place, sign in enumerate(line.description, start=7))
    return (f"{value % 100000:05d}", f"{line.description[:2].upper()}-{value % 1000:03d}")[value % 2]


def _quantity(draft: Draft, line: Line) -> str:
    if line.quantity != int(line.quantity) or draft.style.money_form % 2:
        return draft.number(line.quantity)
    return str(line.quantity)


def _some_day(draft: Draft) -> str:
    day = draft.invoice.day - timedelta(days=draft.cast.random.randint(1, 27))
    return draft.cast.short_date(day)
