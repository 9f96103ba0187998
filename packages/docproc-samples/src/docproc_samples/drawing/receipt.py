"""Till receipts: narrow, monospaced, tax included."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial

from docproc_samples.drawing import names
from docproc_samples.drawing.cast import Cast, Company
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import Sheet
from docproc_samples.drawing.writing import cents, number

WIDTH = 226.0  # 80 mm of paper
COLUMNS = 34
SIZE = 9.2
STEP = 12.4
RATES = {"ES": Decimal(10), "GB": Decimal(20), "US": Decimal("8.25")}


@dataclass(frozen=True)
class Receipt:
    vendor: Company
    day: date
    items: list[tuple[str, int, Decimal]]

    @property
    def total(self) -> Decimal:
        return sum((count * price for _, count, price in self.items), Decimal(0))

    def fields(self) -> dict[str, str]:
        known = {} if self.vendor.address.country == "US" else {"vendor_tax_id": self.vendor.tax_id}
        return known | {
            "vendor_name": self.vendor.name,
            "date": self.day.isoformat(),
            "total_amount": str(self.total),
        }


def _draw(sheet: Sheet, cast: Cast, *, counts_first: bool) -> dict[str, str]:
    goods = cast.random.sample(names.GROCERIES[cast.language], cast.random.randint(2, 10))
    counts = [cast.random.choices((1, 2, 3), weights=(6, 2, 1))[0] for _ in goods]
    items = [
        (name, count, cents(Decimal(price) / 100)) for (name, price), count in zip(goods, counts, strict=True)
    ]
    receipt = Receipt(cast.company("shop"), cast.day(), items)
    head = _head(cast, receipt)
    body = _body(cast, receipt, counts_first=counts_first)
    foot = _foot(cast, receipt)
    sheet.page(WIDTH, 96 + STEP * (len(head) + len(body) + len(foot)), font="Courier")
    sheet.text(WIDTH / 2, 30, receipt.vendor.name, 11.5, bold=True, align="center")
    y = sheet.lines(WIDTH / 2, 46, head, SIZE - 0.7, align="center") + 8
    for line in body:
        important = line.startswith("TOTAL")
        sheet.text(14, y, line, SIZE + (0.35 if important else 0), bold=important)
        y += STEP
    sheet.lines(WIDTH / 2, y + 10, foot, SIZE - 0.7, align="center")
    return receipt.fields()


def _head(cast: Cast, receipt: Receipt) -> list[str]:
    vendor = receipt.vendor
    label = {"ES": cast.random.choice(("CIF", "NIF", "C.I.F.")), "GB": "VAT No", "US": "Store #"}[
        cast.country
    ]
    number_shown = cast.digits(4) if cast.country == "US" else vendor.tax_id
    kind = cast.pick(
        ("FACTURA SIMPLIFICADA", "TICKET", "Factura simplificada"), ("RECEIPT", "SALES RECEIPT", "")
    )
    lines = [
        vendor.address.street,
        vendor.address.town,
        f"{label}: {number_shown}",
        f"Tel. {vendor.phone}",
        "",
        kind,
    ]
    return [line[:40] for line in lines]


def _body(cast: Cast, receipt: Receipt, *, counts_first: bool) -> list[str]:
    clock = f"{cast.random.randint(8, 21):02d}:{cast.random.randint(0, 59):02d}"
    serial = f"{cast.random.randint(1, 9):03d}-{cast.digits(6)}"
    lines = [
        _spread(cast.short_date(receipt.day), clock),
        _spread(cast.say(f"Nº {serial}", f"No. {serial}"), _till(cast)),
        _dashes(),
    ]
    for name, count, price in receipt.items:
        amount = number(count * price, cast.language)
        if counts_first:
            lines.append(_spread(f"{count:>2} {name}", amount))
        else:
            lines.append(_spread(name, amount))
            if count > 1:
                lines.append(f"   {count} x {number(price, cast.language)}")
    rate = RATES[cast.country]
    net = cents(receipt.total / (1 + rate / 100))
    total = _spread(
        cast.pick(("TOTAL", "TOTAL A PAGAR", "TOTAL EUR"), ("TOTAL", "TOTAL DUE")), cast.money(receipt.total)
    )
    tax_name = {"ES": "IVA", "GB": "VAT", "US": "TAX"}[cast.country]
    lines += [
        _dashes(), total, "",
        _spread(cast.say("Base imponible", "Net of tax"), number(net, cast.language)),
        _spread(f"{tax_name} {cast.percent(rate)}", number(receipt.total - net, cast.language)), "",
    ]  # fmt: skip
    return lines + _paid(cast, receipt.total)


def _paid(cast: Cast, total: Decimal) -> list[str]:
    if cast.random.random() < 0.6:
        card = cast.say("Tarjeta", "Card")
        return [
            _spread(f"{card} ****{cast.digits(4)}", cast.number(total)),
            _spread(cast.say("Cambio", "Change"), cast.number(Decimal(0))),
        ]
    given = (total // 10 + 1) * 10
    return [
        _spread(cast.say("Efectivo", "Cash"), cast.number(given)),
        _spread(cast.say("Cambio", "Change"), cast.number(given - total)),
    ]


def _foot(cast: Cast, receipt: Receipt) -> list[str]:
    return [
        cast.say("IVA incluido", "Prices include tax"),
        cast.pick(
            ("GRACIAS POR SU VISITA", "Gracias por su compra"), ("THANK YOU", "Thank you, come again!")
        ),
        receipt.vendor.domain,
    ]


def _till(cast: Cast) -> str:
    return f"{cast.say('Caja', 'Till')} {cast.random.randint(1, 8)}"


def _dashes() -> str:
    return "-" * COLUMNS


def _spread(left: str, right: str) -> str:
    return f"{left:<{COLUMNS - len(right) - 1}.{COLUMNS - len(right) - 1}} {right}"


LAYOUTS = (
    Layout("till_counts_first", partial(_draw, counts_first=True)),
    Layout("till_counts_below", partial(_draw, counts_first=False)),
)
