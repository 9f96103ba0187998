"""Invoices put together from heads, middles, tables and totals; every layout is one combination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from docproc_samples.drawing import (
    invoice,
    invoice_heads,
    invoice_middles,
    invoice_tables,
    invoice_totals,
)
from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.invoice import Invoice
from docproc_samples.drawing.invoice_draft import Draft
from docproc_samples.drawing.invoice_middles import Block
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import Sheet
from docproc_samples.drawing.style import FONTS, style

ROWS = 16  # of a page whose invoice goes on


@dataclass(frozen=True)
class Recipe:
    head: Callable[[Draft], float]
    meta: Block
    customer: Block
    arranged: str  # "customer right", "customer left", "customer below" or "customer above"
    shape: str
    totals: Callable[[Draft, float], float]
    made: Callable[[Cast], Invoice]
    fonts: tuple[str, ...] = FONTS
    note: str = ""
    blank: int = 0


def draw(sheet: Sheet, cast: Cast, recipe: Recipe) -> dict[str, str]:
    draft = Draft(sheet, cast, style(cast, fonts=recipe.fonts), recipe.made(cast))
    sheet.page(font=draft.style.font)
    sheet.stretch = cast.random.choice((1.0, 1.0, 0.9, 0.84))
    y = _middle(draft, recipe, recipe.head(draft))
    lines, seed = draft.invoice.lines, cast.random.getrandbits(32)
    draft.cast = cast.repeating(seed)
    if len(lines) > ROWS + 4:
        y = invoice_tables.table(draft, y, lines[:ROWS], recipe.shape)
        _carry(draft, y, sum((line.amount for line in lines[:ROWS]), Decimal(0)))
        lines, y = lines[ROWS:], 70.0
        draft.cast = cast.repeating(seed)  # both pages have the same table
    y = invoice_tables.table(draft, y, lines, recipe.shape, blank=recipe.blank)
    draft.cast = cast
    y = recipe.totals(draft, y + cast.random.uniform(10, 26))
    invoice_totals.foot(draft, y, note=recipe.note if cast.spanish else "")
    fields = draft.fields()
    return {name: value for name, value in fields.items() if value}


def _middle(draft: Draft, recipe: Recipe, y: float) -> float:
    """Meta data and customer beside or below each other, and a title where there is none yet."""
    left, width = draft.style.left, draft.style.width
    if recipe.meta is invoice_middles.sentence:
        draft.titled = True
    if not draft.titled:
        draft.sheet.text(left, y + 12, draft.bare("title"), draft.cast.random.uniform(12, 18), bold=True)
        y += 24
    half = width / 2 - 14
    first, second = recipe.meta, recipe.customer
    if recipe.arranged == "customer below":
        return second(draft, left, first(draft, left, y, width) + 12, half + 40) + 18
    if recipe.arranged == "customer above":
        return first(draft, left, second(draft, left, y, half + 40) + 12, width) + 18
    if recipe.arranged == "customer left":
        first, second = second, first
    return max(first(draft, left, y, half), second(draft, left + half + 28, y, half)) + 20


def _carry(draft: Draft, y: float, amount: Decimal) -> None:
    """The sum so far, at the foot of one page and the head of the next."""
    words = draft.cast.say("Suma y sigue", "Carried forward")
    draft.sheet.text(draft.style.right - 4, y + 16, f"{words} {draft.number(amount)}", 8.5, align="right")
    draft.sheet.text(297, 815, draft.cast.say("Pág. 1/2", "Page 1/2"), 8, align="center")
    draft.sheet.page(font=draft.style.font)
    words = draft.cast.say("Suma anterior", "Brought forward")
    draft.sheet.text(draft.style.left, 50, draft.invoice.vendor.name, 9, bold=True)
    number = f"{draft.word('number')} {draft.invoice.number}"
    draft.sheet.text(draft.style.right, 50, f"{number}   {words} {draft.number(amount)}", 8.5, align="right")
    draft.sheet.text(297, 815, draft.cast.say("Pág. 2/2", "Page 2/2"), 8, align="center")


# --- what is sold


def goods(cast: Cast) -> Invoice:
    return invoice.of_goods(cast, cast.random.randint(2, 11))


def many_goods(cast: Cast) -> Invoice:
    return invoice.of_goods(cast, cast.random.randint(22, 34))


def canarian(cast: Cast) -> Invoice:
    """Sold in the Canary Islands, where the tax is another."""
    sold = goods(cast)
    return invoice.at_rate(sold, Decimal(7), "IGIC") if cast.spanish else sold


def untaxed(cast: Cast) -> Invoice:
    return invoice.at_rate(invoice.of_services(cast), Decimal(0), "IVA" if cast.spanish else "")


REVERSE_CHARGE = (
    "Operación exenta de IVA por tratarse de una entrega intracomunitaria, art. 25 Ley 37/1992. "
    "Inversión del sujeto pasivo."
)
H, M, T = invoice_heads, invoice_middles, invoice_totals
RECIPES: dict[str, Recipe] = {
    "office_plain": Recipe(H.name_left, M.pairs, M.boxed, "customer right", "plain", T.stack, goods),
    "office_logo": Recipe(
        H.logo_left, M.pairs_close, M.headed, "customer right", "rated", T.boxed_total, goods
    ),
    "software_grid": Recipe(
        H.name_left, M.grid, M.boxed, "customer above", "coded", T.rate_table, goods, blank=12
    ),
    "software_strip": Recipe(H.logo_right, M.grid, M.formed, "customer below", "coded_rated", T.strip, goods),
    "typed_freelancer": Recipe(
        H.word_processor,
        M.sentence,
        M.headed,
        "customer below",
        "bare",
        T.typed,
        invoice.of_freelancer,
        ("Times-Roman", "Helvetica", "Courier"),
    ),
    "freelancer_band": Recipe(
        H.band, M.bare_grid, M.headed, "customer above", "worked", T.stack, invoice.of_freelancer
    ),
    "centred_letterhead": Recipe(
        H.centred, M.pairs_close, M.addressed, "customer right", "counted", T.rate_table, goods
    ),
    "trade_mark": Recipe(
        H.brand_only, M.pairs, M.headed, "customer left", "rated", T.boxed_total, invoice.of_services
    ),
    "window_envelope": Recipe(
        H.logo_left, M.pairs, M.addressed, "customer right", "dated", T.strip, invoice.of_services
    ),
    "carried_over": Recipe(
        H.name_left, M.grid, M.boxed, "customer above", "coded_rated", T.rate_table, many_goods
    ),
    "rent": Recipe(
        H.word_processor, M.pairs_close, M.formed, "customer below", "bare", T.stack, invoice.of_rent
    ),
    "islands": Recipe(H.logo_right, M.pairs, M.headed, "customer left", "rated", T.rate_table, canarian),
    "form_page": Recipe(
        H.labelled, M.bare_grid, M.formed, "customer above", "plain", T.typed, invoice.of_services
    ),
}
HELD_OUT: dict[str, Recipe] = {
    "side_line": Recipe(H.side, M.stacked, M.formed, "customer left", "rate_first", T.boxed_total, goods),
    "full_tax_table": Recipe(
        H.logo_right, M.bare_grid, M.boxed, "customer above", "coded_rated", T.full_table, goods
    ),
    "typed_letter": Recipe(
        H.word_processor, M.sentence, M.addressed, "customer right", "plain", T.typed, invoice.of_freelancer
    ),
    "reverse_charge": Recipe(
        H.logo_left, M.stacked, M.headed, "customer left", "counted", T.stack, untaxed, note=REVERSE_CHARGE
    ),
    "centred_form": Recipe(H.labelled, M.grid, M.formed, "customer below", "coded", T.rate_table, goods),
    "brand_footer_long": Recipe(
        H.brand_only, M.stacked, M.addressed, "customer left", "rate_first", T.strip, many_goods
    ),
    "band_grid": Recipe(
        H.band, M.grid, M.formed, "customer below", "worked", T.boxed_total, invoice.of_freelancer
    ),
}


def _layout(name: str, recipe: Recipe, *, held_out: bool) -> Layout:
    return Layout(name, lambda sheet, cast: draw(sheet, cast, recipe), held_out=held_out)


LAYOUTS = (
    *(_layout(name, recipe, held_out=False) for name, recipe in RECIPES.items()),
    *(_layout(name, recipe, held_out=True) for name, recipe in HELD_OUT.items()),
)
