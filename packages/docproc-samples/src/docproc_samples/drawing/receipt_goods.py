"""What is bought in each kind of shop, with prices in cents."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from docproc_samples.drawing import names
from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.writing import cents

MENU = {
    "es": (
        ("Menú del día", 1350),
        ("Caña", 220),
        ("Café solo", 140),
        ("Ración croquetas", 980),
        ("Agua 0,5 l", 180),
        ("Ensalada mixta", 750),
        ("Entrecot plancha", 1890),
        ("Tarta de queso", 520),
        ("Copa Rioja", 310),
        ("Pan", 120),
        ("Café con leche", 170),
        ("Bocadillo jamón", 480),
        ("Refresco", 260),
    ),
    "en": (
        ("Soup of the day", 595),
        ("Flat white", 340),
        ("House red 175ml", 620),
        ("Fish & chips", 1495),
        ("Side salad", 425),
        ("Sparkling water", 280),
        ("Cheesecake", 650),
        ("Burger", 1325),
        ("Pint lager", 560),
    ),
}
MEDICINES = {
    "es": (
        ("IBUPROFENO 600MG 40 COMP", 197),
        ("PARACETAMOL 1G 40 COMP", 250),
        ("CREMA HIDRATANTE 200", 1295),
        ("AMOXICILINA 500 24 CAPS", 317),
        ("GEL DENTAL", 545),
        ("TIRITAS SURTIDAS", 390),
        ("VITAMINA C 20", 880),
    ),
    "en": (
        ("IBUPROFEN 400MG 24", 325),
        ("PARACETAMOL 500MG", 210),
        ("COUGH SYRUP", 549),
        ("HAND CREAM", 695),
        ("PLASTERS ASSORTED", 280),
        ("VITAMIN D 90S", 899),
    ),
}
SUNDRIES = {
    "es": (
        ("Bombilla LED E27", 295),
        ("Cinta adhesiva", 120),
        ("Cargador USB-C", 690),
        ("Set 6 vasos", 450),
        ("Pilas AA pack 4", 350),
        ("Paraguas plegable", 595),
        ("Libreta A5", 180),
        ("Percha madera x3", 300),
    ),
    "en": (
        ("LED bulb E27", 299),
        ("Sticky tape", 125),
        ("USB-C charger", 799),
        ("Glasses set of 6", 650),
        ("AA batteries 4pk", 450),
        ("Umbrella", 899),
        ("Notebook A5", 220),
        ("Gift wrap", 350),
    ),
}
STOCK: dict[str, Mapping[str, tuple[tuple[str, int], ...]]] = {
    "food": names.GROCERIES,
    "menu": MENU,
    "medicine": MEDICINES,
    "sundries": SUNDRIES,
}

Item = tuple[str, int, Decimal]  # name, how many, price of one


def basket(cast: Cast, stock: str, least: int, most: int) -> list[Item]:
    wares = STOCK[stock][cast.language]
    chosen = cast.random.sample(wares, min(len(wares), cast.random.randint(least, most)))
    return [
        (
            name,
            cast.random.choices((1, 2, 3), weights=(7, 2, 1))[0],
            cents(Decimal(price) * cast.random.randint(85, 125) / 10000),
        )
        for name, price in chosen
    ]


def total(items: list[Item]) -> Decimal:
    return sum((count * price for _, count, price in items), Decimal(0))
