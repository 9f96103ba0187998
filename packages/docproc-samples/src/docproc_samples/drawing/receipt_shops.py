"""Till receipts by shop: supermarket, bar, filling station, chemist, car park, taxi and others."""

from __future__ import annotations

from decimal import Decimal

from docproc_samples.drawing import receipt_goods as goods
from docproc_samples.drawing import receipt_parts as parts
from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import Sheet
from docproc_samples.drawing.writing import cents


def supermarket(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Day and operation in one line, goods, total, card, then taxes with a total of their own."""
    one = parts.till(cast, "supermarket")
    bought = goods.basket(cast, "food", 3, 12)
    total = goods.total(bought)
    parts.head(one)
    one.paper.pair(f"{one.when()} {one.clock()}", f"OP: {cast.digits(6)}")
    one.paper.left(parts.kind(one))
    one.paper.gap()
    parts.items(one, bought, cast.random.choice((0, 2)))
    one.paper.gap()
    parts.total_row(one, total)
    parts.paid(one, total)
    one.paper.gap()
    parts.tax_table(one, total, Decimal(10) if cast.spanish else None)
    parts.thanks(one)
    return one.finish(sheet, total)


def restaurant(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Table and waiter, dishes in columns, tax above the total."""
    one = parts.till(cast, "bar")
    bought = goods.basket(cast, "menu", 2, 8)
    total = goods.total(bought)
    parts.head(one, sole=cast.random.random() < 0.4)
    one.paper.centre(parts.kind(one))
    table, waiter = cast.random.randint(1, 40), cast.random.choice(("ANA", "LUIS", "MARTA", "JON"))
    one.paper.pair(f"{cast.pick(('MESA', 'Mesa:'), ('TABLE', 'Table'))} {table}",
                   f"{cast.pick(('CAMARERO', 'Le atendió:'), ('SERVER', 'Served by'))} {waiter}")  # fmt: skip
    one.paper.pair(
        f"{cast.say('Fecha:', 'Date:')} {one.when()}", f"{cast.say('Hora:', 'Time:')} {one.clock()}"
    )
    one.paper.line()
    parts.items(one, bought, 2)
    one.paper.line()
    if cast.random.random() < 0.6:
        parts.tax_table(one, total, Decimal(10) if cast.spanish else None)
    parts.total_row(one, total)
    if cast.random.random() < 0.5:
        parts.paid(one, total)
    parts.thanks(one)
    return one.finish(sheet, total)


def filling_station(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Litres at a price, pump and plate."""
    one = parts.till(cast, "fuel")
    litres = Decimal(cast.random.randint(800, 6200)) / 100
    price = Decimal(cast.random.randint(1290, 1890)) / 1000
    total = cents(litres * price)
    parts.head(one)
    one.paper.left(parts.kind(one))
    one.paper.pair(one.when(), one.clock())
    pump = cast.random.randint(1, 12)
    one.paper.pair(
        f"{cast.say('SURTIDOR', 'PUMP')} {pump}", f"{cast.say('Matrícula', 'Reg')}: {cast.digits(4)} KLM"
    )
    one.paper.line()
    fuel = cast.pick(("GASOLEO A", "SIN PLOMO 95", "Diesel e+"), ("UNLEADED 95", "DIESEL"))
    per = cast.say("€/l", "/L")
    one.paper.left(fuel)
    one.paper.pair(f"{_comma(cast, litres)} L x {_comma(cast, price)} {per}", one.number(total))
    one.paper.line()
    parts.total_row(one, total)
    parts.tax_table(one, total)
    parts.paid(one, total)
    one.paper.left(f"{cast.say('PUNTOS ACUMULADOS', 'POINTS')}: {int(total)}")
    parts.thanks(one)
    return one.finish(sheet, total)


def chemist(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A pharmacist in their own name; what the insurance pays is taken off."""
    one = parts.till(cast, "chemist")
    bought = goods.basket(cast, "medicine", 1, 4)
    total = goods.total(bought)
    parts.head(one, sole=cast.random.random() < 0.6)
    one.paper.pair(one.when(), one.clock())
    one.paper.left(parts.kind(one))
    one.paper.line()
    parts.items(one, bought, 1)
    one.paper.line()
    if cast.spanish and cast.random.random() < 0.5:
        covered = cast.amount(100, 900)
        one.paper.pair("Subtotal", one.number(total + covered))
        one.paper.pair("Aportación SNS", f"-{one.number(covered)}")
    parts.total_row(one, total)
    parts.paid(one, total)
    parts.thanks(one)
    return one.finish(sheet, total)


def car_park(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """In, out, how long, how much; hardly a word more."""
    one = parts.till(cast, "parking")
    total = cast.amount(120, 3200)
    parts.head(one)
    one.paper.centre(
        cast.pick(("RECIBO APARCAMIENTO", "TICKET DE PAGO", "Factura simplificada"), ("PARKING RECEIPT",))
    )
    start = f"{cast.random.randint(6, 11):02d}:{cast.random.randint(0, 59):02d}"
    end = f"{cast.random.randint(12, 22):02d}:{cast.random.randint(0, 59):02d}"
    day = one.when()
    one.paper.pair(cast.say("Entrada", "Entry"), f"{day} {start}")
    one.paper.pair(cast.say("Salida", "Exit"), f"{day} {end}")
    one.paper.pair(cast.say("Tarifa", "Tariff"), cast.random.choice("ABC"))
    parts.total_row(one, total)
    parts.tax_table(one, total)
    parts.thanks(one)
    return one.finish(sheet, total)


def taxi(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A driver's receipt: licence, distance, fare and extras."""
    one = parts.till(cast, "taxi")
    fare, extra = (
        cast.amount(450, 4200),
        cast.random.choice((Decimal("0.00"), Decimal("5.50"), Decimal("3.00"))),
    )
    parts.head(one, sole=True)
    one.paper.centre(cast.say("RECIBO DE TAXI", "TAXI RECEIPT"), bold=True)
    one.paper.pair(cast.say("LICENCIA", "LICENCE"), cast.digits(5))
    one.paper.pair(cast.say("Fecha", "Date"), one.when())
    one.paper.pair(cast.say("Distancia", "Distance"), f"{_comma(cast, cast.amount(200, 2600))} km")
    one.paper.pair(cast.say("Carrera", "Fare"), one.number(fare))
    one.paper.pair(cast.say("Suplementos", "Extras"), one.number(extra))
    parts.total_row(one, fare + extra)
    parts.thanks(one)
    return one.finish(sheet, fare + extra)


def bazaar(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A shop for everything: a plain list and few words."""
    one = parts.till(cast, "sundries")
    bought = goods.basket(cast, "sundries", 1, 6)
    total = goods.total(bought)
    parts.head(one, sole=cast.random.random() < 0.3)
    one.paper.left(parts.kind(one))
    one.paper.left(f"{cast.say('Fecha', 'Date')}: {one.when()}   {one.clock()}")
    one.paper.line()
    parts.items(one, bought, cast.random.choice((0, 1, 2)))
    one.paper.line()
    pieces = sum(count for _, count, _ in bought)
    one.paper.left(f"{cast.say('Artículos', 'Items')}: {pieces}")
    if not cast.spanish:
        one.paper.pair("SUBTOTAL", one.number(total))
    parts.total_row(one, total)
    parts.paid(one, total)
    parts.thanks(one)
    return one.finish(sheet, total)


def catalan(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A shop that prints in Catalan."""
    one = parts.till(cast, "shop")
    bought = goods.basket(cast, "food", 1, 7)
    total = goods.total(bought)
    parts.head(one)
    one.paper.left(f"{cast.random.choice(('TIQUET', 'Factura simplificada núm.'))} {cast.digits(6)}")
    one.paper.pair(f"Data: {one.when()}", f"Hora: {one.clock()}")
    one.paper.line()
    parts.items(one, bought, 0)
    one.paper.line()
    one.paper.pair(
        cast.random.choice(("TOTAL", "Total a pagar", "TOTAL €")), one.number(total), size=1.3, bold=True
    )
    one.paper.pair(cast.random.choice(("Efectiu", "Targeta")), one.number(total))
    one.paper.centre("IVA INCLÒS")
    one.paper.centre(cast.random.choice(("Gràcies per la seva visita", "MOLTES GRÀCIES")))
    return one.finish(sheet, total)


def card_slip(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """Only the card terminal's paper."""
    one = parts.till(cast, "shop")
    total = cast.amount(300, 18000)
    one.paper.centre(
        cast.pick(("COPIA PARA EL CLIENTE", "RESGUARDO CLIENTE"), ("CUSTOMER COPY", "CARDHOLDER COPY"))
    )
    one.paper.gap()
    parts.head(one)
    one.paper.pair(f"{cast.say('COMERCIO', 'MERCHANT')}: {cast.digits(9)}", f"TPV: {cast.digits(5)}")
    one.paper.left(f"**** **** **** {cast.digits(4)}   VISA")
    one.paper.pair(cast.say("FECHA", "DATE"), f"{one.when()} {one.clock()}")
    one.paper.pair(cast.say("OPERACION", "REF"), cast.digits(6))
    one.paper.pair(
        cast.pick(("IMPORTE", "TOTAL", "VENTA"), ("AMOUNT", "TOTAL", "SALE")),
        cast.money(total),
        size=1.3,
        bold=True,
    )
    one.paper.centre(
        cast.pick(("OPERACION AUTORIZADA", "FIRMA NO NECESARIA"), ("APPROVED", "NO SIGNATURE REQUIRED"))
    )
    return one.finish(sheet, total)


def _comma(cast: Cast, amount: Decimal) -> str:
    return str(amount).replace(".", ",") if cast.spanish else str(amount)


LAYOUTS = (
    Layout("supermarket", supermarket),
    Layout("restaurant", restaurant),
    Layout("chemist", chemist),
    Layout("bazaar", bazaar, held_out=True),
    Layout("catalan", catalan, ("es",)),
    Layout("taxi", taxi),
    Layout("filling_station", filling_station, held_out=True),
    Layout("car_park", car_park, held_out=True),
    Layout("card_slip", card_slip, held_out=True),
)
