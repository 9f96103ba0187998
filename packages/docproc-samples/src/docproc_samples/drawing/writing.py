"""How amounts and dates are written, by language and country."""

from __future__ import annotations

from datetime import date
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
SIGNS = {"EUR": "€", "GBP": "£", "USD": "$"}
MONTHS = {
    "es": (
        "enero", "febrero", "marzo", "abril", "mayo", "junio",
        "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
    ),
    "en": (
        "January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December",
    ),
}  # fmt: skip


def cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)


def number(amount: Decimal, language: str) -> str:
    text = f"{amount:,.2f}"
    return text.translate(str.maketrans(",.", ".,")) if language == "es" else text


def money(amount: Decimal, currency: str, language: str) -> str:
    if language == "es":
        return f"{number(amount, language)} {SIGNS[currency]}"
    return f"{'-' if amount < 0 else ''}{SIGNS[currency]}{number(abs(amount), language)}"


def percent(rate: Decimal, language: str) -> str:
    text = f"{rate.normalize():f}"
    return f"{text.replace('.', ',')} %" if language == "es" else f"{text}%"


def long_date(day: date, country: str) -> str:
    if country == "ES":
        return f"{day.day} de {MONTHS['es'][day.month - 1]} de {day.year}"
    month = MONTHS["en"][day.month - 1]
    return f"{month} {day.day}, {day.year}" if country == "US" else f"{day.day} {month} {day.year}"


def short_date(day: date, country: str) -> str:
    if country == "US":
        # 03/12/2026 means two days; a label must not depend on guessing.
        return f"{day:%m/%d/%Y}" if day.day > 12 else f"{day:%b} {day.day}, {day.year}"
    return f"{day:%d/%m/%Y}"


def date_writings(day: date, country: str) -> tuple[str, ...]:
    """All ways a document of this country may write a day."""
    usual = (short_date(day, country), long_date(day, country), day.isoformat())
    if country == "ES":
        month = MONTHS["es"][day.month - 1]
        return (
            *usual, f"{day:%d-%m-%Y}", f"{day:%d.%m.%Y}", f"{day.day}/{day.month}/{day.year}",
            f"{day:%d/%m/%y}", f"{day:%d}-{month[:3]}-{day:%Y}", f"{day:%d} {month[:3].upper()} {day:%Y}",
            f"{day.day} {month} {day.year}", f"{day:%d} de {month.capitalize()} de {day:%Y}",
        )  # fmt: skip
    short = f"{day:%d-%b-%Y}", f"{day:%d %b %Y}"
    if country == "US":
        return (*usual, *short, f"{day:%B} {day.day}, {day.year}")
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10 if day.day not in (11, 12, 13) else 0, "th")
    return (*usual, *short, f"{day.day}{ending} {day:%B} {day.year}", f"{day:%d.%m.%Y}", f"{day:%d-%m-%Y}")


def money_writings(amount: Decimal, currency: str, language: str) -> tuple[str, ...]:
    """Ways to write an amount with its currency, the most usual first."""
    plain, sign = number(amount, language), SIGNS[currency]
    if language == "es":
        return (f"{plain} {sign}", f"{plain}{sign}", f"{plain} {currency}", _ungrouped(plain) + f" {sign}")
    return (money(amount, currency, language), f"{currency} {plain}", f"{plain} {currency}")


def _ungrouped(text: str) -> str:
    return text.replace(".", "")
