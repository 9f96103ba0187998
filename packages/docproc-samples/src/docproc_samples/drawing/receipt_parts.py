"""Parts that till receipts share: who sells, when, taxes, and how it was paid."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from docproc_samples.drawing.cast import Cast, Company
from docproc_samples.drawing.invoice_heads import short_name
from docproc_samples.drawing.invoice_words import tax_id_label
from docproc_samples.drawing.receipt_goods import Item
from docproc_samples.drawing.roll import Roll, roll
from docproc_samples.drawing.sheet import Sheet
from docproc_samples.drawing.writing import cents, date_writings

RATES = {"ES": Decimal(21), "GB": Decimal(20), "US": Decimal("8.25")}
SHORT_DAYS = {"ES": (0, 0, 3, 5, 6, 4), "GB": (0, 0, 4, 6), "US": (0, 0, 3, 4)}  # of the ways to write a day
THANKS = (
    (
        "GRACIAS POR SU VISITA",
        "Gracias por su compra",
        "¡Vuelva pronto!",
        "GRACIAS POR SU CONFIANZA",
        "Conserve este ticket para cambios",
        "SE ADMITEN DEVOLUCIONES CON TICKET",
    ),
    ("THANK YOU", "Please come again", "Thank you for shopping with us", "Keep this receipt for returns"),
)


@dataclass
class Till:
    """One receipt on its way out of the printer."""

    cast: Cast
    paper: Roll
    vendor: Company
    day: date
    name: str = ""
    tax_id: str = ""  # as printed

    def number(self, amount: Decimal) -> str:
        return self.cast.number(amount)

    def when(self) -> str:
        ways = date_writings(self.day, self.cast.country)
        return ways[self.cast.random.choice(SHORT_DAYS[self.cast.country])]

    def clock(self) -> str:
        seconds = f":{self.cast.random.randint(0, 59):02d}" if self.cast.random.random() < 0.4 else ""
        return f"{self.cast.random.randint(8, 22):02d}:{self.cast.random.randint(0, 59):02d}{seconds}"

    def finish(self, sheet: Sheet, total: Decimal) -> dict[str, str]:
        self.paper.draw(sheet)
        known = {"vendor_tax_id": self.tax_id} if self.tax_id else {}
        return known | {
            "vendor_name": self.name,
            "date": self.day.isoformat(),
            "total_amount": str(total),
        }


def till(cast: Cast, trade: str) -> Till:
    return Till(cast, roll(cast), cast.company(trade), cast.day())


def head(one: Till, *, sole: bool = False) -> None:
    """The shop's name above, then its address and tax id in the order its owner liked."""
    cast, vendor, paper = one.cast, one.vendor, one.paper
    branded = sole or cast.random.random() < 0.35
    one.name = short_name(vendor.name) if branded else vendor.name
    if cast.random.random() < 0.5:
        one.name = one.name.upper()
    paper.centre(one.name, size=cast.random.uniform(1.1, 1.6), bold=cast.random.random() < 0.7)
    lines = [vendor.address.street, vendor.address.town]
    if branded and cast.spanish:
        lines.insert(0, cast.person().name if sole else vendor.name)
    number = cast.person().tax_id if sole and cast.spanish else vendor.tax_id
    if cast.country != "US":
        one.tax_id = number
        lines.insert(
            cast.random.choice((len(lines), len(lines) - 2)), f"{tax_id_label(cast, number)}: {number}"
        )
    if cast.random.random() < 0.6:
        lines.append(f"{cast.pick(('Tel.', 'TLF:', 'Tfno.'), ('Tel', 'Ph:'))} {vendor.phone}")
    for line in lines:
        paper.centre(line.upper() if one.name.isupper() else line, size=0.95)
    paper.gap()


def kind(one: Till) -> str:
    """How it calls itself, with its number."""
    cast = one.cast
    serial = cast.random.choice(
        (
            f"{cast.digits(4)}-{cast.digits(3)}-{cast.digits(6)}",
            f"T{cast.digits(2)}/{cast.digits(5)}",
            cast.digits(6),
            f"{one.day:%Y}-{cast.digits(5)}",
        )
    )
    words = cast.pick(
        (
            "FACTURA SIMPLIFICADA:",
            "Factura simplificada nº",
            "Fra. Simplificada",
            "TICKET:",
            "Ticket nº",
            "Nº Operación:",
            "FACTURA SIMPLIFICADA",
        ),
        ("Receipt no.", "RECEIPT #", "Trans:", "Sale no."),
    )
    return f"{words} {serial}"


def items(one: Till, bought: list[Item], shape: int) -> None:
    """Lines of goods: count first, count below, or in columns with a head."""
    cast, paper = one.cast, one.paper
    if shape == 2:
        heads = cast.say("CANT|DESCRIPCION|P.U.|IMPORTE", "QTY|ITEM|PRICE|TOTAL").split("|")
        paper.columns(
            (0, "left", heads[0]), (0.14, "left", heads[1]), (0.78, "right", heads[2]), (1, "right", heads[3])
        )
        paper.line()
    for name, count, price in bought:
        if shape == 0:
            paper.pair(f"{count} {name}", one.number(count * price))
        elif shape == 1:
            paper.pair(name, one.number(count * price))
            if count > 1:
                paper.left(f"   {count} x {one.number(price)}")
        else:
            paper.columns(
                (0, "left", str(count)),
                (0.14, "left", name[:19]),
                (0.78, "right", one.number(price)),
                (1, "right", one.number(count * price)),
            )


def total_row(one: Till, total: Decimal) -> None:
    cast = one.cast
    words = cast.pick(
        (
            "TOTAL",
            "TOTAL (€)",
            "TOTAL EUR",
            "TOTAL A PAGAR",
            "TOTAL:",
            "Total",
            "IMPORTE TOTAL",
            "TOTAL COMPRA",
        ),
        ("TOTAL", "TOTAL DUE", "Total", "AMOUNT DUE", "TOTAL TO PAY", "BALANCE DUE"),
    )
    amount = cast.money(total) if cast.random.random() < 0.5 else one.number(total)
    one.paper.pair(words, amount, size=cast.random.choice((1.0, 1.25, 1.5)), bold=cast.random.random() < 0.8)


def tax_table(one: Till, total: Decimal, rate: Decimal | None = None) -> None:
    """Below the total: base and tax, sometimes with a total of its own."""
    cast, paper = one.cast, one.paper
    rate = rate if rate is not None else RATES[cast.country]
    net = cents(total / (1 + rate / 100))
    name = {"ES": cast.random.choice(("IVA", "I.V.A.")), "GB": "VAT", "US": "TAX"}[cast.country]
    if cast.random.random() < 0.5:
        heads = cast.say(f"{name}|BASE IMPONIBLE|CUOTA", f"{name}|NET|{name}").split("|")
        paper.columns((0, "left", heads[0]), (0.62, "right", heads[1]), (1, "right", heads[2]))
        paper.columns(
            (0, "left", cast.percent(rate)),
            (0.62, "right", one.number(net)),
            (1, "right", one.number(total - net)),
        )
        if cast.random.random() < 0.5:
            paper.columns(
                (0, "left", "TOTAL"), (0.62, "right", one.number(net)), (1, "right", one.number(total - net))
            )
    else:
        paper.pair(cast.pick(("Base imponible", "BASE IMP.", "Base"), ("Net", "Taxable")), one.number(net))
        paper.pair(f"{name} {cast.percent(rate)}", one.number(total - net))


def paid(one: Till, total: Decimal) -> None:
    cast, paper = one.cast, one.paper
    if cast.random.random() < 0.6:
        paper.pair(
            cast.pick(
                ("TARJETA BANCARIA", "Tarjeta", "TARJETA", "Pago tarjeta"), ("CARD", "VISA", "Card payment")
            ),
            one.number(total),
        )
        if cast.random.random() < 0.6:
            _slip(one, total)
        return
    given = (total // 10 + cast.random.choice((1, 2))) * 10
    paper.pair(
        cast.pick(("EFECTIVO", "Entregado", "Entrega", "METALICO"), ("CASH", "Tendered", "Cash")),
        one.number(given),
    )
    paper.pair(
        cast.pick(("CAMBIO", "Cambio", "A DEVOLVER", "Devolución"), ("CHANGE", "Change due")),
        one.number(given - total),
    )


def _slip(one: Till, total: Decimal) -> None:
    """What the card terminal adds."""
    cast, paper = one.cast, one.paper
    paper.gap()
    paper.left(f"{cast.say('TARJ.', 'CARD')}: **** **** **** {cast.digits(4)}")
    paper.pair(f"N.C: {cast.digits(9)}", f"AUT: {cast.digits(6)}")
    paper.left(f"AID: A000000{cast.digits(7)}")
    paper.pair(cast.pick(("IMPORTE", "Importe:"), ("AMOUNT", "SALE")), cast.money(total))
    paper.left(
        cast.pick(
            ("OPERACION CONTACTLESS", "Verificado por dispositivo", "VENTA"), ("CONTACTLESS", "APPROVED")
        )
    )


def thanks(one: Till) -> None:
    one.paper.gap()
    if one.cast.random.random() < 0.5:
        one.paper.centre(
            one.cast.pick(
                ("IVA INCLUIDO", "Precios con IVA incluido", "I.V.A. incluido"), ("Prices include tax",)
            )
        )
    one.paper.centre(one.cast.pick(*THANKS))
