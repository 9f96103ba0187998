"""The tops of invoices: letterheads, logos, and the title."""

from __future__ import annotations

from docproc_samples.drawing.company_names import FORMS
from docproc_samples.drawing.invoice_draft import Draft
from docproc_samples.drawing.sheet import GREY


def name_left(draft: Draft) -> float:
    """The vendor's name, large, with its address below; the title at the right."""
    sheet, style = draft.sheet, draft.style
    y = draft.cast.random.uniform(48, 70)
    draft.vendor_shown = True
    sheet.fitted(style.left, y, 320, draft.invoice.vendor.name, draft.cast.random.uniform(12, 19), bold=True,
                 color=style.accent)  # fmt: skip
    bottom = sheet.lines(style.left, y + 16, draft.vendor_lines(named=False), style.size - 0.5)
    title(draft, y + 2)
    return bottom + 14


def logo_left(draft: Draft) -> float:
    """A logo at the left, the vendor's lines at the right edge."""
    sheet, style = draft.sheet, draft.style
    logo(draft, style.left, 42)
    bottom = sheet.lines(style.right, 52, draft.vendor_lines(), style.size, align="right")
    return max(bottom, 105) + 12


def logo_right(draft: Draft) -> float:
    """The vendor's lines at the left, a logo at the right."""
    sheet, style = draft.sheet, draft.style
    logo(draft, style.right - 120, 42)
    lines = draft.vendor_lines()
    sheet.fitted(style.left, 54, 300, lines[0], style.size + 2, bold=True)
    return max(sheet.lines(style.left, 68, lines[1:], style.size), 105) + 14


def centred(draft: Draft) -> float:
    """Everything of the vendor in the middle, above a rule."""
    sheet, style, middle = draft.sheet, draft.style, 297.5
    lines = draft.vendor_lines()
    sheet.fitted(middle, 58, 440, lines[0], draft.cast.random.uniform(13, 20), bold=True, align="center")
    one_line = " - ".join(lines[1:3])
    y = sheet.lines(middle, 74, [one_line, "  ".join(lines[3:])], style.size - 0.7, align="center")
    sheet.rule(style.left, y, style.right, width=1.1, color=style.accent)
    return y + 22


def band(draft: Draft) -> float:
    """A coloured band across the page, the name and the title in white."""
    sheet, style, vendor = draft.sheet, draft.style, draft.invoice.vendor
    dark = style.accent
    high = draft.cast.random.uniform(58, 96)
    sheet.box(0, 0, sheet.width, high, fill=dark, stroke=None)
    sheet.fitted(style.left, high / 2 + 6, 320, vendor.name, 17, bold=True, color="#ffffff")
    title(draft, high / 2 + 7, color="#ffffff")
    draft.vendor_shown = True
    details = "  ·  ".join(draft.vendor_lines(named=False)[:4])
    sheet.fitted(style.left, high + 14, style.width, details, style.size - 1, color=GREY)
    return high + 42


def brand_only(draft: Draft) -> float:
    """A trade mark above; the company itself stands in the footer."""
    logo(draft, draft.style.left, 40, mark=True)
    title(draft, 62)
    return 110.0


def side(draft: Draft) -> float:
    """A logo above, and the company's registered details upwards along the left edge."""
    vendor = draft.invoice.vendor
    logo(draft, draft.style.left, 40)
    draft.vendor_shown = True
    where = f"{vendor.name} · {vendor.address.one_line} · {draft.vendor_id()}"
    registered = f"R.M. de {vendor.address.region}, T. {draft.cast.digits(4)}, F. {draft.cast.digits(2)}"
    draft.sheet.turned(20, 690, f"{where} · {registered}" if draft.cast.spanish else where, 6.8)
    return 112.0


def labelled(draft: Draft) -> float:
    """The vendor as a form: each fact behind its label, in a box."""
    sheet, style, vendor, cast = draft.sheet, draft.style, draft.invoice.vendor, draft.cast
    title(draft, 56, centred=True)
    draft.vendor_shown = True
    sheet.box(style.left, 70, style.width, 76, stroke="#777777")
    facts = [
        (cast.pick(("Razón social", "Empresa", "Nombre"), ("Company", "Supplier")), vendor.name),
        (cast.pick(("NIF", "CIF", "NIF/CIF"), ("VAT No", "Tax no.")), vendor.tax_id),
        (cast.pick(("Domicilio", "Dirección"), ("Address",)), vendor.address.street),
        (cast.pick(("Población", "C.P. y localidad"), ("Town",)), vendor.address.town),
        (cast.pick(("Teléfono", "Tfno."), ("Phone", "Tel")), vendor.phone),
    ]
    for row, (label, value) in enumerate(facts):
        sheet.text(style.left + 8, 84 + row * 13.5, style.label(label), style.size - 0.5, color=GREY)
        sheet.fitted(style.left + 110, 84 + row * 13.5, style.width - 120, value, style.size)
    return 166.0


def word_processor(draft: Draft) -> float:
    """Typed from the top: no logo, one size, the title in bold."""
    sheet, style = draft.sheet, draft.style
    y = draft.cast.random.uniform(60, 90)
    if draft.cast.random.random() < 0.5:
        title(draft, y, centred=True)
        y += 34
    y = sheet.lines(style.left, y, draft.vendor_lines(), style.size + 1.2)
    return y + 18


# --- parts


def title(draft: Draft, y: float, *, color: str | None = None, centred: bool = False) -> None:
    sheet, style = draft.sheet, draft.style
    draft.titled = True
    words = draft.bare("title")
    size = draft.cast.random.uniform(13, 24)
    at, align = (297.5, "center") if centred else (style.right, "right")
    sheet.text(at, y, words, size, bold=True, align=align, color=color or style.accent)


def logo(draft: Draft, x: float, y: float, *, mark: bool = False) -> None:
    """A drawn mark with the name, or a trade mark that is not the company's name."""
    sheet, style, cast = draft.sheet, draft.style, draft.cast
    name = short_name(draft.invoice.vendor.name)
    word = name.split()[-1].upper() if mark else name
    shape = cast.random.randrange(4)
    if shape == 0:
        sheet.disc(x + 20, y + 20, 20, style.accent)
    elif shape == 1:
        sheet.box(x, y, 40, 40, fill=style.accent, stroke=None, radius=cast.random.choice((0, 6, 12)))
    elif shape == 2:
        for bar in range(3):
            sheet.box(x + bar * 14, y + 26 - bar * 12, 10, 14 + bar * 12, fill=style.accent, stroke=None)
    if shape < 2:
        sheet.text(x + 20, y + 28, word[0], 22, bold=True, align="center", color="#ffffff")
    if shape == 3:
        sheet.fitted(x, y + 30, 130, word, 26, bold=True, color=style.accent)
    elif cast.random.random() < 0.6:
        sheet.fitted(x, y + 56, 130, word, 11, bold=True, color=style.accent)


def short_name(name: str) -> str:
    """Without the legal form, as on a sign."""
    for form in sorted({form for forms in FORMS.values() for form in forms}, key=len, reverse=True):
        if form and name.endswith(form):
            return name.removesuffix(form)
    return name
