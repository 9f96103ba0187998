"""Invoices: what one says, before it is laid out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal

from docproc_samples.drawing import names
from docproc_samples.drawing.cast import Cast, Company
from docproc_samples.drawing.writing import cents, date_writings

RATES = {
    "ES": (Decimal(21), Decimal(10), Decimal(4)),
    "GB": (Decimal(20), Decimal(5), Decimal(0)),
    "US": (Decimal("8.25"),),
}
INCOME_TAX = Decimal(15)  # what a Spanish customer withholds from a freelancer (IRPF)


@dataclass(frozen=True)
class Line:
    description: str
    quantity: Decimal
    price: Decimal
    rate: Decimal

    @property
    def amount(self) -> Decimal:
        return cents(self.quantity * self.price)


@dataclass(frozen=True)
class Tax:
    rate: Decimal
    base: Decimal

    @property
    def amount(self) -> Decimal:
        return cents(self.base * self.rate / 100)


@dataclass(frozen=True)
class Invoice:
    number: str
    day: date
    printed_day: str
    due: date
    vendor: Company
    customer_name: str
    customer_tax_id: str
    customer_address: tuple[str, str]
    lines: list[Line]
    withheld_rate: Decimal = Decimal(0)
    tax_name: str = ""

    @property
    def net(self) -> Decimal:
        return sum((line.amount for line in self.lines), Decimal(0))

    @property
    def taxes(self) -> list[Tax]:
        """One for each rate, highest first."""
        rates = sorted({line.rate for line in self.lines}, reverse=True)
        return [
            Tax(rate, sum((line.amount for line in self.lines if line.rate == rate), Decimal(0)))
            for rate in rates
        ]

    @property
    def tax(self) -> Decimal:
        return sum((tax.amount for tax in self.taxes), Decimal(0))

    @property
    def withheld(self) -> Decimal:
        return cents(self.net * self.withheld_rate / 100)

    @property
    def total(self) -> Decimal:
        return self.net + self.tax - self.withheld

    def fields(self, currency: str) -> dict[str, str]:
        withheld = {"withheld_amount": str(self.withheld)} if self.withheld else {}
        return withheld | {
            "invoice_number": self.number,
            "total_amount": str(self.total),
            "vendor_name": self.vendor.name,
            "date": self.day.isoformat(),
            "vendor_tax_id": self.vendor.tax_id,
            "net_amount": str(self.net),
            "tax_amount": str(self.tax),
            "currency": currency,
            "customer_name": self.customer_name,
        }


def of_goods(cast: Cast, line_count: int) -> Invoice:
    return _invoice(cast, cast.company("goods"), _lines(cast, names.GOODS, line_count, most=24))


def of_services(cast: Cast) -> Invoice:
    return _invoice(
        cast, cast.company("services"), _lines(cast, names.SERVICES, cast.random.randint(2, 5), most=8)
    )


def of_freelancer(cast: Cast) -> Invoice:
    """In one's own name and at one rate; in Spain the customer withholds income tax."""
    lines = _lines(cast, names.SERVICES, cast.random.randint(1, 3), most=12, rates=1)
    withheld = INCOME_TAX if cast.spanish else Decimal(0)
    return _invoice(cast, cast.sole_trader(), lines, withheld)


def of_rent(cast: Cast) -> Invoice:
    """A month's rent of premises; in Spain 19 % is withheld."""
    month = cast.say("Alquiler local comercial, mensualidad", "Rent of office premises, one month")
    line = Line(month, Decimal(1), cast.amount(60000, 290000), RATES[cast.country][0])
    withheld = Decimal(19) if cast.spanish else Decimal(0)
    return _invoice(
        cast, cast.random.choice((cast.company("services"), cast.sole_trader())), [line], withheld
    )


def of_stay(cast: Cast, nights: int) -> Invoice:
    """A hotel's bill, at the lower rate."""
    rates = RATES[cast.country]
    rate, price = rates[min(1, len(rates) - 1)], cast.amount(4800, 21000)
    lines = [Line(cast.say("Alojamiento", "Accommodation"), Decimal(1), price, rate) for _ in range(nights)]
    lines.append(
        Line(cast.say("Desayuno buffet", "Breakfast"), Decimal(nights), cast.amount(700, 1900), rate)
    )
    if cast.random.random() < 0.5:
        lines.append(
            Line(cast.say("Aparcamiento", "Parking"), Decimal(nights), cast.amount(900, 2200), rates[0])
        )
    return _invoice(cast, cast.company("hotel"), lines, to_person=cast.random.random() < 0.6)


def of_workshop(cast: Cast) -> Invoice:
    """Labour in hours and parts, all at one rate."""
    rate = RATES[cast.country][0]
    labour = Decimal(cast.random.randint(2, 18)) / 2
    parts = cast.random.sample(names.PARTS[cast.language], cast.random.randint(2, 6))
    lines = [Line(cast.say("Mano de obra", "Labour"), labour, cast.amount(3200, 6500), rate)]
    lines += [
        Line(
            part,
            Decimal(cast.random.randint(1, 4)),
            cents(Decimal(price) * cast.random.randint(80, 125) / 10000),
            rate,
        )
        for part, price in parts
    ]
    return _invoice(cast, cast.company("workshop"), lines, to_person=cast.random.random() < 0.7)


def at_rate(invoice: Invoice, rate: Decimal, tax_name: str) -> Invoice:
    """The same sale under another tax, or none."""
    return replace(invoice, lines=[replace(line, rate=rate) for line in invoice.lines], tax_name=tax_name)


def of_utility(cast: Cast, lines: list[Line], trade: str = "utility") -> Invoice:
    return _invoice(cast, cast.company(trade), lines, to_person=True)


def _lines(
    cast: Cast, wares: Mapping[str, tuple[tuple[str, int], ...]], count: int, *, most: int, rates: int = 9
) -> list[Line]:
    known = RATES[cast.country][:rates]
    chosen = cast.random.sample(wares[cast.language], min(count, len(wares[cast.language])))
    chosen += cast.random.choices(wares[cast.language], k=count - len(chosen))
    return [
        Line(
            description,
            Decimal(cast.random.randint(1, most)),
            cents(Decimal(price) * cast.random.randint(80, 125) / 10000),
            cast.random.choices(known, weights=(7, 2, 1)[: len(known)])[0],
        )
        for description, price in chosen
    ]


def _invoice(
    cast: Cast, vendor: Company, lines: list[Line], withheld: Decimal = Decimal(0), *, to_person: bool = False
) -> Invoice:
    day = cast.day()
    customer = cast.person() if to_person else cast.company(cast.random.choice(("goods", "services")))
    while customer.name == vendor.name:
        customer = cast.company("services")
    return Invoice(
        number=_number(cast, day),
        day=day,
        printed_day=cast.random.choice(date_writings(day, cast.country)),
        due=day + timedelta(days=cast.random.choice((15, 30, 60))),
        vendor=vendor,
        customer_name=customer.name,
        customer_tax_id=customer.tax_id,
        customer_address=(customer.address.street, customer.address.town),
        lines=lines,
        withheld_rate=withheld,
    )


def _number(cast: Cast, day: date) -> str:
    serial = cast.random.randint(3, 4200)
    return cast.random.choice(
        (
            f"{day.year}/{serial:04d}",
            f"F-{day:%y}-{serial:05d}",
            f"{cast.say('FV', 'INV')}-{day.year}-{serial:04d}",
            f"A{day:%y}{serial:05d}",
            f"{cast.say('FAC', 'SI')}{cast.digits(7)}",
            f"{serial:06d}",
            f"{day:%Y}-{serial % 300 + 1}",
            f"{serial % 90 + 1:02d}/{day:%y}",
            f"{cast.random.choice('ABEFTV')}/{serial}",
            f"{cast.random.choice('ABEFTV')}{day:%Y}{serial:06d}",
            f"{cast.digits(3)}-{cast.digits(4)}-{serial:05d}",
            str(serial),
            f"{cast.say('FRA', 'INV')}. {serial}/{day.year}" if cast.spanish else f"INV{serial:05d}",
        )
    )
