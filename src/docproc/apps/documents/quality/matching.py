"""When a value that was found is the one that was labelled: by value, by signs, or by words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from enum import StrEnum

from rapidfuzz import fuzz

from docproc.apps.documents.understanding.extract import normalise
from docproc.apps.documents.understanding.extract.spec import FieldType
from docproc.reading.folding import fold


class Kind(StrEnum):
    """How a field's values are compared."""

    AMOUNT = "amount"  # by value
    DATE = "date"  # by value
    ID = "id"  # ignoring case, spaces and separators
    NAME = "name"  # ignoring case, accents and punctuation


_ID = re.compile(
    r"(^|_)(number|no|num|id|nif|nie|cif|dni|vat|iban|bic|swift|account|code|reference|ref|plate)($|_)"
)
_NAME = re.compile(r"_(name|holder|owner|type|country)$")  # of an account, a code
_DATE = re.compile(r"(^|_)(date|fecha|day|birth|expiry)($|_)|date$")
_AMOUNT = re.compile(r"(^|_)(amount|total|subtotal|balance|net|gross|tax|price|importe|base)($|_)")
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_INITIAL = re.compile(r"(?<![a-z0-9])([a-z])\.\s?(?=[a-z](?![a-z0-9]))")
_NO_WORD = re.compile(r"[^a-z0-9]+")
_SPAIN = re.compile(r"^es(?=[a-z0-9]\d{7}[a-z0-9]$)")  # a VAT number is the NIF with the country before it


def type_of(name: str, values: Sequence[str]) -> FieldType:
    """The type of a field that no schema names: its name says it, and the labels must not deny it."""
    if _DATE.search(name) and all(_ISO.fullmatch(value) for value in values):
        return "date"
    if _AMOUNT.search(name) and not _ID.search(name) and all(_NUMBER.fullmatch(value) for value in values):
        return "decimal"
    return "string"


def kind_of(name: str, field_type: FieldType) -> Kind:
    if field_type in ("decimal", "integer"):
        return Kind.AMOUNT
    if field_type == "date":
        return Kind.DATE
    return Kind.ID if _ID.search(name) and not _NAME.search(name) else Kind.NAME


def same(kind: Kind, truth: str, value: str) -> bool:
    return plain(kind, truth) == plain(kind, value)


def similarity(kind: Kind, truth: str, value: str | None) -> float:
    """Between 0 and 1, on what `same` compares; 0 where nothing was found."""
    if value is None:
        return 0.0
    if kind in (Kind.AMOUNT, Kind.DATE):
        return float(same(kind, truth, value))
    return fuzz.ratio(plain(kind, truth), plain(kind, value)) / 100


def plain(kind: Kind, value: str) -> str:
    """The value reduced to what counts: two values are the same when this is."""
    match kind:
        case Kind.AMOUNT:
            return _amount(value)
        case Kind.DATE:
            return _date(value)
        case Kind.ID:
            return _SPAIN.sub("", _NO_WORD.sub("", fold(value)))
    words = _INITIAL.sub(r"\1", fold(value).replace("'", ""))  # `S.L.` is `SL`
    return _NO_WORD.sub(" ", words).strip()


def _amount(value: str) -> str:
    try:
        amount = Decimal(value.strip())
    except InvalidOperation:
        amount = _written(value, decimal_comma=False)
    return f"{amount.normalize():f}" if amount.is_finite() else fold(value).strip()


def _written(text: str, *, decimal_comma: bool) -> Decimal:
    """An amount as people write it; NaN where the figures make none, such as `12.'5`."""
    try:
        return Decimal(normalise.decimal(text, decimal_comma) or "NaN")
    except InvalidOperation:
        return Decimal("NaN")


def _date(value: str) -> str:
    try:
        return date.fromisoformat(value.strip()).isoformat()
    except ValueError:
        dates = normalise.dates(fold(value), day_first=True)
        return dates[0][2] if dates else _NO_WORD.sub("", fold(value))


def stands_in(kind: Kind, truth: str, lines: Sequence[str]) -> bool:
    """Whether the value can be read in the text, in any writing, and across lines."""
    wanted = plain(kind, truth)
    folded = [fold(line) for line in lines]
    if kind is Kind.AMOUNT:
        return any(_has_amount(wanted, line) for line in folded)
    if kind is Kind.DATE:
        both = (normalise.dates(line, order) for line in folded for order in (True, False))
        return any(value == wanted for dates in both for _, _, value in dates) or _has_odd_date(
            wanted, folded
        )
    text = " ".join(folded)
    if _NO_WORD.sub("", wanted) in _NO_WORD.sub("", text):
        return True
    # Names stand in another order on cards, and in parts.
    return kind is Kind.NAME and set(wanted.split()) <= set(_NO_WORD.sub(" ", text).split())


_FIGURES = re.compile(r"\d[\d.,' ]*")


def _has_amount(wanted: str, line: str) -> bool:
    wanted = wanted.lstrip("-")
    for match in _FIGURES.finditer(line):
        for text in {match[0].strip(" .,'"), *match[0].split()}:
            for comma in (True, False):
                if _amount(str(_written(text, decimal_comma=comma))) == wanted:
                    return True
    return False


def _has_odd_date(wanted: str, lines: Sequence[str]) -> bool:
    """Day, month and year run together, as in `25122018` or `181225`."""
    try:
        day = date.fromisoformat(wanted)
    except ValueError:
        return wanted in _NO_WORD.sub("", "".join(lines))
    writings = {f"{day:{order}}" for order in ("%d%m%Y", "%Y%m%d", "%m%d%Y", "%d%m%y", "%y%m%d", "%m%d%y")}
    figures = re.compile(r"(?<!\d)(?:\d{8}|\d{6})(?!\d)")
    return any(match in writings for line in lines for match in figures.findall(line))
