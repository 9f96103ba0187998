"""Values as people write them: amounts, numbers, dates, times and durations by language and time zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from babel import Locale
from babel.dates import format_datetime, format_time
from babel.numbers import format_currency, format_decimal, format_percent, get_currency_precision

# English as most readers of ours write dates and amounts: 16/11/2026, €40,478.34.
LOCALES = {"es": "es_ES", "en": "en_GB"}
# The day is written out in full: two digits of a year are mistaken for a day.
DATE_SHAPE = "dd/MM/y"
NOTHING = "–"
# Between figures and what they are of; a line must not end there.
_GLUE = "\N{NO-BREAK SPACE}"


class Written:
    """How one reader writes. Made for each page; it keeps nothing."""

    def __init__(self, language: str, zone: tzinfo = UTC) -> None:
        self.language = language
        self.zone = zone
        self._locale = _locale(language)

    def number(self, value: Any, digits: int | None = None) -> str:
        """`40.478,34`; with `digits`, exactly so many behind the comma. What is no number stays as it is."""
        found = number_of(value)
        if found is None:
            return NOTHING if value is None else str(value)
        shape = "#,##0" + (f".{'0' * digits}" if digits else "") if digits is not None else "#,##0.######"
        return str(format_decimal(found, format=shape, locale=self._locale))

    def amount(self, value: Any, currency: str | None = None) -> str:
        """`40.478,34 €`; without a currency two digits behind the comma, as money has."""
        found = number_of(value)
        if found is None:
            return NOTHING if value is None else str(value)
        if not currency or not _is_currency(currency):
            return self.number(found, 2) + (f"{_GLUE}{currency}" if currency else "")
        return str(format_currency(found, currency, locale=self._locale))

    def percent(self, share: float | None) -> str:
        """`91 %`, rounded down: only what is certain is 100 %."""
        if share is None:
            return NOTHING
        return str(format_percent(int(share * 100 + 1e-9) / 100, locale=self._locale))

    def date(self, value: Any) -> str:
        """A day: of a document (ISO text or a date), or of a moment in the reader's zone."""
        found = value.astimezone(self.zone) if isinstance(value, datetime) else day_of(value)
        if found is None:
            return NOTHING if value is None else str(value)
        moment = found if isinstance(found, datetime) else datetime(found.year, found.month, found.day)
        return str(format_datetime(moment, DATE_SHAPE, locale=self._locale))

    def time(self, moment: datetime) -> str:
        return str(format_time(moment.astimezone(self.zone), "HH:mm", locale=self._locale))

    def moment(self, moment: datetime | None) -> str:
        """`16/11/2026 17:13`."""
        return NOTHING if moment is None else f"{self.date(moment)}{_GLUE}{self.time(moment)}"

    def short(self, moment: datetime, now: datetime) -> str:
        """The time of day of today's, the day of others."""
        is_today = moment.astimezone(self.zone).date() == now.astimezone(self.zone).date()
        return self.time(moment) if is_today else self.date(moment)

    def duration(self, seconds: float) -> str:
        """`22,9 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`; the two largest units are enough."""
        if seconds < 60:
            return f"{self.number(Decimal(str(round(seconds, 1))))}{_GLUE}s"
        whole = round(seconds)
        units = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
        parts: list[str] = []
        for name, size in units:
            count, whole = divmod(whole, size)
            if count or parts:
                parts.append(f"{count}{_GLUE}{name}" if count else "")
        return " ".join(filter(None, parts[:2]))


@cache
def _locale(language: str) -> Locale:
    return Locale.parse(LOCALES.get(language, LOCALES["en"]))


def _is_currency(code: str) -> bool:
    return len(code) == 3 and code.isascii() and code.isalpha() and code.isupper()


def currency_digits(currency: str | None) -> int:
    """How many digits amounts of a currency have behind the comma."""
    return int(get_currency_precision(currency)) if currency and _is_currency(currency) else 2


def number_of(value: Any) -> Decimal | None:
    """A number from what an answer says; None where it is none."""
    if value is None or isinstance(value, bool):
        return None
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def day_of(value: Any) -> date | None:
    """A day from ISO text, or a date as it is; None where it is none."""
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value) if isinstance(value, str) and len(value) == 10 else None
    except ValueError:
        return None


@cache
def zone_of(name: str) -> tzinfo | None:
    """A time zone by its name in the IANA database; None where there is none."""
    try:
        return ZoneInfo(name) if name and len(name) < 64 else None
    except (KeyError, ValueError, OSError):
        return None
