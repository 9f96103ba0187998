"""Says what is wrong with a value: check digits, dates, amounts; for extraction and the review station."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation

from stdnum import bic as bic_numbers
from stdnum import iban as iban_numbers
from stdnum import luhn
from stdnum.es import ccc as ccc_numbers
from stdnum.es import cif as cif_numbers
from stdnum.es import cups as cups_numbers
from stdnum.es import dni as dni_numbers
from stdnum.es import nie as nie_numbers
from stdnum.es import nif as nif_numbers
from stdnum.es import postal_code as postal_codes
from stdnum.es import referenciacatastral as cadastral_numbers
from stdnum.eu import vat as vat_numbers
from stdnum.gb import vat as british_vat_numbers
from stdnum.mx import rfc as mexican_numbers
from stdnum.us import ein as employer_numbers
from stdnum.us import ssn as american_social_numbers

from docproc.apps.documents.understanding.reason import Code, Reason
from docproc.reading import mrz

_Rule = Callable[[str], Reason | None]


def check(kind: str, value: str) -> Reason | None:
    """What is wrong with `value`, or None when it stands; `kind` is one of `KINDS`."""
    try:
        rule = _RULES[kind]
    except KeyError:
        raise ValueError(f"no validator is called {kind!r}; there are {', '.join(sorted(_RULES))}") from None
    return rule(value.strip()) if value.strip() else Reason(Code.EMPTY)


def holds(kind: str, value: str) -> bool:
    return check(kind, value) is None


def compact(value: str) -> str:
    """An identifier without the signs people put between its parts."""
    return re.sub(r"[\s.\-/]", "", value).upper()


def _wrong(code: Code, value: str, **facts: str) -> Reason:
    return Reason(code, {"value": value, **facts})


def _valid(is_valid: Callable[[str], bool], code: Code, **facts: str) -> _Rule:
    """One that stands where the number without its separators is valid."""

    def problem(value: str) -> Reason | None:
        return None if is_valid(compact(value)) else _wrong(code, value, **facts)

    return problem


def _by_check_digits(**kinds: Callable[[str], bool]) -> dict[str, _Rule]:
    return {kind: _valid(is_valid, Code.CHECK_DIGITS, kind=kind) for kind, is_valid in kinds.items()}


# Whose number it is shows in the number: of these, one that fits nobody was misread or made up.
_TAX_NUMBERS: tuple[Callable[[str], bool], ...] = (
    nif_numbers.is_valid,
    vat_numbers.is_valid,
    british_vat_numbers.is_valid,
    employer_numbers.is_valid,
    american_social_numbers.is_valid,
    mexican_numbers.is_valid,
    lambda number: bool(re.fullmatch(r"[A-Z]{2}\d{6}[A-D]", number)),  # British national insurance
)


def _tax_id(value: str) -> Reason | None:
    number = compact(value)
    if any(is_valid(number) for is_valid in _TAX_NUMBERS):
        return None
    return _wrong(Code.NOBODYS_TAX_ID, value)


def _is_social_security_number(number: str) -> bool:
    """Of Spain (NAF): province, eight digits, and what remains of them by 97."""
    if not re.fullmatch(r"\d{12}", number):
        return False
    province, person, check = number[:2], number[2:10].lstrip("0") or "0", int(number[10:])
    whole = province + (number[2:10] if len(person) == 8 else number[3:10])
    return int(whole) % 97 == check


def _is_card_number(number: str) -> bool:
    return bool(re.fullmatch(r"\d{13,19}", number)) and luhn.is_valid(number)


def _date(value: str) -> Reason | None:
    try:
        parsed = date.fromisoformat(value)
    except ValueError:
        return _wrong(Code.NOT_A_DATE, value)
    is_likely = 1900 <= parsed.year <= 2100
    return None if is_likely else _wrong(Code.UNLIKELY_DATE, value, year=str(parsed.year))


def _amount(value: str) -> Reason | None:
    try:
        amount = Decimal(value)
    except InvalidOperation:
        return _wrong(Code.NOT_AN_AMOUNT, value)
    return None if amount.is_finite() else _wrong(Code.NOT_FINITE, value)


def _date_not_future(value: str) -> Reason | None:
    if problem := _date(value):
        return problem
    # A day of grace: documents come from other time zones.
    is_future = date.fromisoformat(value) > _today() + timedelta(days=1)
    return _wrong(Code.IN_THE_FUTURE, value) if is_future else None


def _today() -> date:
    return datetime.now(UTC).date()


def _positive(value: str) -> Reason | None:
    return _amount(value) or (None if Decimal(value) > 0 else _wrong(Code.NOT_POSITIVE, value))


def _currency(value: str) -> Reason | None:
    return None if re.fullmatch(r"[A-Z]{3}", value) else _wrong(Code.NOT_A_CURRENCY, value)


def _mrz(value: str) -> Reason | None:
    holder = mrz.parse(value.splitlines())
    if holder is None:
        return Reason(Code.NO_ZONE)
    return None if holder.valid else Reason(Code.ZONE_CHECK_DIGITS)


_RULES: dict[str, _Rule] = {
    **_by_check_digits(
        nif=nif_numbers.is_valid,
        cif=cif_numbers.is_valid,
        dni=dni_numbers.is_valid,
        nie=nie_numbers.is_valid,
        vat=vat_numbers.is_valid,
        iban=iban_numbers.is_valid,
        ccc=ccc_numbers.is_valid,
        naf=_is_social_security_number,
        cups=cups_numbers.is_valid,
        cadastral_reference=cadastral_numbers.is_valid,
        credit_card=_is_card_number,
    ),
    "tax_id": _tax_id,
    "bic": _valid(bic_numbers.is_valid, Code.MALFORMED, kind="bic"),
    "postal_code": _valid(postal_codes.is_valid, Code.NO_SUCH_PROVINCE),
    "date": _date,
    "date_not_future": _date_not_future,
    "amount": _amount,
    "positive": _positive,
    "currency": _currency,
    "mrz": _mrz,
}
KINDS = frozenset(_RULES)
# What passes one of these was hardly misread.
CHECK_DIGITS = KINDS - {
    "bic", "postal_code", "date", "date_not_future", "amount", "positive", "currency",
}  # fmt: skip
# Those that make sense for one type only; the others take text.
TYPES = {"date": "date", "date_not_future": "date", "amount": "decimal", "positive": "decimal"}
