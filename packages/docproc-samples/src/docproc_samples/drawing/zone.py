"""Machine-readable zones of cards (TD1) and passports (TD3), as ICAO 9303 lays them out."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import date

_WEIGHTS = (7, 3, 1)


@dataclass(frozen=True, slots=True)
class Bearer:
    """What a zone says of its bearer."""

    country: str
    number: str
    surnames: str
    given: str
    birth: date
    sex: str
    expiry: date


def card(bearer: Bearer, kind: str = "ID", optional: str = "") -> list[str]:
    """Three lines of thirty."""
    number = _checked(_filled(bearer.number, 9))
    first = f"{kind}{bearer.country}{number}{_filled(optional, 15)}"
    birth, expiry = _checked(f"{bearer.birth:%y%m%d}"), _checked(f"{bearer.expiry:%y%m%d}")
    second = f"{birth}{bearer.sex}{expiry}{bearer.country}{_filled('', 11)}"
    # The last digit covers the upper lines without the words between the numbers.
    composite = _digit(first[5:] + birth + expiry + second[18:29])
    return [first, second + composite, _names(bearer, 30)]


def passport(bearer: Bearer) -> list[str]:
    """Two lines of forty-four."""
    first = f"P<{bearer.country}{_names(bearer, 39)}"
    number = _checked(_filled(bearer.number, 9))
    birth, expiry = _checked(f"{bearer.birth:%y%m%d}"), _checked(f"{bearer.expiry:%y%m%d}")
    personal = _checked(_filled("", 14))
    composite = _digit(number + birth + expiry + personal)
    return [first, f"{number}{bearer.country}{birth}{bearer.sex}{expiry}{personal}{composite}"]


def _names(bearer: Bearer, width: int) -> str:
    return _filled(f"{_letters(bearer.surnames)}<<{_letters(bearer.given)}", width)


def _letters(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.upper()).encode("ascii", "ignore").decode()
    return "".join(letter if letter.isalpha() else "<" for letter in plain)


def _filled(text: str, width: int) -> str:
    return text[:width].ljust(width, "<")


def _checked(text: str) -> str:
    return text + _digit(text)


def _digit(text: str) -> str:
    total = sum(_value(sign) * _WEIGHTS[place % 3] for place, sign in enumerate(text))
    return str(total % 10)


def _value(sign: str) -> int:
    if sign == "<":
        return 0
    return int(sign) if sign.isdigit() else ord(sign) - ord("A") + 10
