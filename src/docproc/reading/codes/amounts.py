"""Amounts and dates as machines write them, put into the one writing of fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal, InvalidOperation

_LONGEST = 300  # what is longer is no name, number or date


def amount(text: str) -> str:
    """`121.0` as `121.00`, cents at least; empty for what is no number."""
    try:
        number = Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        return ""
    if not number.is_finite():
        return ""
    cents = number.quantize(Decimal("0.01"))
    return f"{cents if cents == number else number.normalize():f}"


def day(year: str | int, month: str | int, day: str | int) -> str:
    """ISO 8601; empty for a day that never was."""
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""


def iso_day(text: str) -> str:
    """The day at the beginning of `2026-03-12T00:00:00`, or of `20260312`."""
    match = re.match(r"(\d{4})-?(\d\d)-?(\d\d)", text.strip())
    return day(*match.groups()) if match else ""


def told(fields: Mapping[str, str]) -> dict[str, str]:
    """Without what was left empty, and without signs that nobody prints."""
    clean = {name: _clean(value) for name, value in fields.items()}
    return {name: value for name, value in clean.items() if value}


def _clean(text: str) -> str:
    printed = "".join(sign if sign.isprintable() else " " for sign in text)
    return " ".join(printed.split()) if len(printed) <= _LONGEST else ""
