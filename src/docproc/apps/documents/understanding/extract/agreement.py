"""Whether two sources say the same of a field, and whether a value stands somewhere on the pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import cached_property

from rapidfuzz import fuzz

from docproc.apps.documents.understanding.extract import candidates, normalise
from docproc.apps.documents.understanding.extract.layout import Document, Line
from docproc.apps.documents.understanding.extract.months import MONTHS
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.reading.folding import fold
from docproc.reading.page import Box

_SAME_NAME = 84.0  # of 100: legal forms, second surnames and misread letters differ
_FEWEST_SIGNS = 4  # of an identifier, to be looked for all over a page
_HELD_BACK = re.compile(r"i\W?r\W?p\W?f|retenci|suplido|withh|anticipo|provision de fondos|fianza|garantia")


def is_name(field: FieldSpec) -> bool:
    return field.type == "string" and field.name.endswith(("name", "holder", "party_a", "party_b"))


def same(field: FieldSpec, one: str, other: str, *, short_years: bool = False) -> bool:
    """Whether both mean the same value, however they are written."""
    if field.type in ("decimal", "integer"):
        return _amount(one) is not None and _amount(one) == _amount(other)
    if field.type == "date":
        return one == other or (short_years and one[2:] == other[2:])
    if is_name(field):
        return same_name(one, other)
    return _own_signs(one) == _own_signs(other)


def same_name(one: str, other: str) -> bool:
    first, second = _words(one), _words(other)
    return bool(first and second) and fuzz.token_sort_ratio(first, second) >= _SAME_NAME


def is_part(one: str, other: str) -> bool:
    """Whether one identifier is the other without its series or prefix."""
    first, second = sorted((_own_signs(one), _own_signs(other)), key=len)
    return len(first) >= 2 and (second.endswith(first) or second.startswith(first))


def _amount(text: str) -> Decimal | None:
    """Without its sign: a credit note is written with and without one."""
    try:
        return abs(Decimal(text))
    except InvalidOperation:
        return None


def _own_signs(text: str) -> str:
    """Letters and digits, without the country before a Spanish tax id."""
    signs = re.sub(r"[\W_]+", "", fold(text)).upper()
    return signs[2:] if re.fullmatch(r"ES[A-Z0-9]\d{7}[A-Z0-9]", signs) else signs


def _words(name: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", "", fold(name)).split())


class Print:
    """The pages of a document, to look for a value on."""

    def __init__(self, document: Document) -> None:
        self.document = document

    def place(self, field: FieldSpec, value: str) -> tuple[int, Box] | None:
        """Where the value stands, however it is labelled."""
        if field.type in ("decimal", "date"):
            printed = self._amounts if field.type == "decimal" else self._dates
            place = next((at for text, at in printed if same(field, text, value)), None)
            return place or (self._scattered(value) if field.type == "date" else None)
        if is_name(field):
            return self._line(_words(value), _words)
        signs = _own_signs(value)
        return self._line(signs, _own_signs) if len(signs) >= _FEWEST_SIGNS else None

    def explains(self, claimed: str, printed: str) -> bool:
        """Whether the amounts differ by what is held back or paid for others, as the page says itself.

        The tax agency is told the total before income tax is withheld; the page may ask for what is left.
        """
        first, second = _amount(claimed), _amount(printed)
        if first is None or second is None or not _HELD_BACK.search(fold(self.document.text)):
            return False
        return any(_amount(text) == abs(first - second) for text, _ in self._amounts)

    def _scattered(self, day: str) -> tuple[int, Box] | None:
        """The line with the day, the month by name and the year of a date, whatever stands between."""
        year, month, of_month = (int(part) for part in day.split("-"))
        for line in self.document.lines:
            words = re.findall(r"[a-z]+|\d+", line.folded)
            numbers = {int(word) for word in words if word.isdigit() and len(word) <= 4}
            if {year, of_month} <= numbers and any(MONTHS.get(word) == month for word in words):
                return _at(line)
        return None

    def _line(self, wanted: str, reduced: Callable[[str], str]) -> tuple[int, Box] | None:
        if not wanted:
            return None
        return next((_at(line) for line in self.document.lines if wanted in reduced(line.text)), None)

    @cached_property
    def _how(self) -> normalise.Conventions:
        return normalise.conventions(self.document.text)

    @cached_property
    def _amounts(self) -> list[tuple[str, tuple[int, Box]]]:
        return self._found("amount")

    @cached_property
    def _dates(self) -> list[tuple[str, tuple[int, Box]]]:
        return self._found("date")

    def _found(self, kind: str) -> list[tuple[str, tuple[int, Box]]]:
        printed = candidates.find(kind, self.document, self._how)
        return [(each.value, (each.at.page, each.at.box)) for each in printed]


def _at(line: Line) -> tuple[int, Box]:
    return line.page, line.box
