"""Amounts and dates as people write them, turned into one canonical writing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from docproc.apps.documents.understanding.extract.months import MONTHS
from docproc.reading.folding import fold


@dataclass(frozen=True, slots=True)
class Conventions:
    """How this document writes: decided once, from the whole of it."""

    decimal_comma: bool = True
    day_first: bool = True


CENTURY_TURN = 69  # as in POSIX: 69–99 are 19xx

_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + ")"

NUMERIC_DATE = re.compile(
    r"(?<![\d./,-])(\d{1,2})\s?([./-])\s?(\d{1,2})\s?\2\s?"
    r"((?:19|20)\d\d(?=\d{1,2}:\d\d)|(?:\d{4}|\d{2})(?!\d|[./-]\d))"  # the clock may have lost its space
    r"|(?<![\d./,-])(\d{1,2}) (\d{1,2}) ((?:19|20)\d\d)(?!\d|[.,/-]\d)"
)
ISO_DATE = re.compile(r"(?<![\d./,-])((?:19|20)\d\d)([-/.])(\d{1,2})\2(\d{1,2})(?!\d|[./-]\d)")
DAY_MONTH_DATE = re.compile(
    rf"(?<![\d./,])(\d{{1,2}})(?:st|nd|rd|th|er|o|\.)?[\s./,-]{{0,3}}(?:de |of |del |d')?\s?"
    rf"({_MONTH})(?![a-z])"
    rf"[\s.,/'-]{{0,3}}(?:de |del |of )?\s?(\d{{4}}|\d{{2}})(?![\d])"
)
MONTH_DAY_DATE = re.compile(
    rf"(?<![a-z])({_MONTH})(?![a-z])[\s.-]{{0,2}}(\d{{1,2}})(?:st|nd|rd|th)?[\s,.-]{{1,3}}(\d{{4}})(?!\d)"
)

# Basque: `2025eko otsailaren 12a`.
YEAR_MONTH_DATE = re.compile(
    rf"(?<!\d)((?:19|20)\d\d)(?:e?ko)?\.? ({_MONTH})(?![a-z])[\s.]{{1,2}}(\d{{1,2}})(?:an?|ean)?(?![\d.,/])"
)

_UNITS = ("uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve")
_TEENS = ("diez", "once", "doce", "trece", "catorce", "quince", "dieciseis", "diecisiete", "dieciocho")
_TENS = ("veinte", "treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa")
_WORDS = {
    **{word: number for number, word in enumerate((*_UNITS, *_TEENS, "diecinueve"), start=1)},
    **{f"veinti{word}": number for number, word in enumerate(_UNITS, start=21)},
    **{word: number for number, word in zip(range(20, 100, 10), _TENS, strict=True)},
    **{"primero": 1, "un": 1, "veintiun": 21},
}
_WORD = "(?:" + "|".join(sorted(_WORDS, key=len, reverse=True)) + ")"
_IN_WORDS = rf"{_WORD}(?: y (?:{'|'.join(_UNITS)}|un))?"
# As deeds write it: `veintiocho de octubre de dos mil veinticuatro`.
WORDS_DATE = re.compile(
    rf"(?<![a-z])({_IN_WORDS}|(?<!\d)\d{{1,2}}) (?:dias? )?(?:del? )?(?:mes de )?({_MONTH}) del? (?:ano )?"
    rf"dos mil(?: ({_IN_WORDS}))?(?![a-z])"
)

_CURRENCY = r"(?:€|\$|£|eur(?:os?)?|usd|gbp|rm|myr|us\$)"
AMOUNT = re.compile(
    rf"(?:(?<![\w.,/#-])|(?<=\bs/))(?P<before>{_CURRENCY}\s?)?(?P<sign>[-(]\s?)?(?P<before2>{_CURRENCY}\s?)?"
    r"(?P<number>\d{1,3}(?:[.,]\d{3})+ \d{2}(?=\s{3}|$)"
    r"|\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d{1,2})?|\d+[.,]\s?\d{2}|\d+[.,]\d"
    r"|\d{1,3}(?: \d{3})*,\d{2}|\d{1,7})"
    rf"(?P<after>\s?{_CURRENCY})?(?P<close>\)|-)?(?![\w%]|[.,/:-]\d|\s?%)"
)
_POINT_CENTS = re.compile(r"\d\.\d{2}(?![\d.,])")
_COMMA_CENTS = re.compile(r"\d,\d{2}(?![\d.,])")
_US_PLACE = re.compile(r"\b[A-Z]{2},?\s?\d{5}(?:-\d{4})?\b")
_EUROPEAN = re.compile(
    r"€|£|(?<![a-z])(?:iva|nif|cif|rm|gst|vat|tva|fecha|sdn|mwst|ust|btw|bez|ive)(?![a-z])"
)
_US_WORDS = ("sales tax", "zip code", "united states", "u.s.a", "driver license", "ssn", "federal")


def conventions(text: str) -> Conventions:
    """How the document writes numbers and dates, by what is unambiguous in it."""
    folded = fold(text)
    points, commas = len(_POINT_CENTS.findall(folded)), len(_COMMA_CENTS.findall(folded))
    return Conventions(decimal_comma=commas >= points, day_first=_day_first(text, folded))


def _day_first(text: str, folded: str) -> bool:
    day_first = month_first = 0
    for match in NUMERIC_DATE.finditer(folded):
        first, second = int(match[1] or match[5]), int(match[3] or match[6])
        day_first += first > 12 >= second
        month_first += second > 12 >= first
    if day_first != month_first:
        return day_first > month_first
    american = bool(_US_PLACE.search(text)) + sum(word in folded for word in _US_WORDS)
    european = len(set(_EUROPEAN.findall(folded)))
    return american <= european


def decimal(number: str, decimal_comma: bool) -> str | None:
    """`1.234,56`, `1,234.56`, `1 234,56`, `1'234.56` → `1234.56`; None when it is no amount."""
    if lost := re.search(r"([.,])\d{3} (?=\d{2}$)", number):  # "1,963 76" has lost a mark
        number = number[: lost.end() - 1] + ("." if lost[1] == "," else ",") + number[lost.end() :]
    text = re.sub(r"[^\d.,']", "", number)
    if not any(char.isdigit() for char in text):
        return None
    mark = _decimal_mark(text, decimal_comma)
    whole, _, cents = text.rpartition(mark) if mark else (text, "", "")
    whole = re.sub(r"\D", "", whole)
    amount = Decimal(f"{whole or 0}.{cents or 0}")
    sign = "-" if re.match(r"\W*[-(]", number) or number.rstrip().endswith("-") else ""
    return f"{sign}{amount:.2f}" if len(cents) <= 2 else f"{sign}{amount}"


def _decimal_mark(text: str, decimal_comma: bool) -> str:
    last = max(text.rfind("."), text.rfind(","))
    if last < 0:
        return ""
    mark, tail = text[last], text[last + 1 :]
    if text.count(mark) > 1:
        return ""
    if len(tail) == 3 and not text.startswith("0"):
        # One mark and three digits: thousands, unless the document writes decimals so.
        other = "." if mark == "," else ","
        return mark if other in text and (mark == ",") == decimal_comma else ""
    return mark


def year_of(written: str) -> int:
    year = int(written)
    if len(written) > 2:
        return year
    return year + (1900 if year >= CENTURY_TURN else 2000)


def iso(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat() if 1900 <= year <= 2100 else None
    except ValueError:
        return None


def dates(folded: str, day_first: bool) -> list[tuple[int, int, str]]:
    """Every date in a folded line: (start, end, ISO date), not overlapping."""
    spans: list[tuple[int, int, str]] = []

    def add(match: re.Match[str], value: str | None) -> None:
        if value and all(match.end() <= start or match.start() >= end for start, end, _ in spans):
            spans.append((match.start(), match.end(), value))

    for match in ISO_DATE.finditer(folded):
        add(match, iso(int(match[1]), int(match[3]), int(match[4])))
    for match in NUMERIC_DATE.finditer(folded):
        add(match, _numeric(match, day_first))
    if any(char.isalpha() for char in folded):
        for match in DAY_MONTH_DATE.finditer(folded):
            add(match, iso(year_of(match[3]), MONTHS[match[2]], int(match[1])))
        for match in MONTH_DAY_DATE.finditer(folded):
            add(match, iso(year_of(match[3]), MONTHS[match[1]], int(match[2])))
        for match in YEAR_MONTH_DATE.finditer(folded):
            add(match, iso(int(match[1]), MONTHS[match[2]], int(match[3])))
        for match in WORDS_DATE.finditer(folded) if " mil" in folded else ():
            add(match, iso(2000 + in_words(match[3] or ""), MONTHS[match[2]], in_words(match[1])))
    return sorted(spans)


def in_words(written: str) -> int:
    """`treinta y uno` → 31; digits are taken as they are, nothing is 0."""
    return sum(int(word) if word.isdigit() else _WORDS.get(word, 0) for word in written.split())


def _numeric(match: re.Match[str], day_first: bool) -> str | None:
    first, second, year = (match[1], match[3], match[4]) if match[1] else (match[5], match[6], match[7])
    orders = [(int(second), int(first)), (int(first), int(second))]
    for month, day in orders if day_first else orders[::-1]:
        if value := iso(year_of(year), month, day):
            return value
    return None


def odd_date(text: str, day_first: bool) -> str | None:
    """A date in a writing the patterns do not know; slow, so only for what a label already points at."""
    import dateparser  # half a second to import: only documents with such a date pay it

    parsed = dateparser.parse(
        text,
        languages=["es", "en", "fr", "pt", "de", "it", "ca", "nl", "gl", "eu"],
        settings={"DATE_ORDER": "DMY" if day_first else "MDY", "REQUIRE_PARTS": ["day", "month", "year"]},
    )
    return parsed.date().isoformat() if parsed else None


_CURRENCIES = {
    "EUR": ("€", "eur", "euros"),
    "GBP": ("£", "gbp"),
    "MYR": ("rm", "myr"),
    "USD": ("$", "usd", "us$"),
}


def currency(sign: str) -> str | None:
    """The ISO code of a sign: `€` → `EUR`."""
    wanted = fold(sign).strip()
    return next((code for code, signs in _CURRENCIES.items() if wanted in (*signs, code.lower())), None)
