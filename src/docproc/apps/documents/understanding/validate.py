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

from docproc.reading import mrz


def check(kind: str, value: str) -> str | None:
    """The problem with `value` in a sentence, or None when it stands; `kind` is one of `KINDS`."""
    try:
        rule = _RULES[kind]
    except KeyError:
        raise ValueError(f"no validator is called {kind!r}; there are {', '.join(sorted(_RULES))}") from None
    return rule(value.strip()) if value.strip() else "The value is empty."


def holds(kind: str, value: str) -> bool:
    return check(kind, value) is None


def compact(value: str) -> str:
    """An identifier without the signs people put between its parts."""
    return re.sub(r"[\s.\-/]", "", value).upper()


def _by_check_digit(
    name: str, is_valid: Callable[[str], bool], why: str = "its check digits do not match"
) -> Callable[[str], str | None]:
    def problem(value: str) -> str | None:
        return None if is_valid(compact(value)) else f"{value} is not a valid {name}: {why}."

    return problem


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


def _tax_id(value: str) -> str | None:
    number = compact(value)
    if any(is_valid(number) for is_valid in _TAX_NUMBERS):
        return None
    return f"{value} is neither a valid Spanish NIF nor a European VAT number."


def _is_social_security_number(number: str) -> bool:
    """Of Spain (NAF): province, eight digits, and what remains of them by 97."""
    if not re.fullmatch(r"\d{12}", number):
        return False
    province, person, check = number[:2], number[2:10].lstrip("0") or "0", int(number[10:])
    whole = province + (number[2:10] if len(person) == 8 else number[3:10])
    return int(whole) % 97 == check


def _is_card_number(number: str) -> bool:
    return bool(re.fullmatch(r"\d{13,19}", number)) and luhn.is_valid(number)


def _date(value: str) -> str | None:
    try:
        parsed = date.fromisoformat(value)
    except ValueError:
        return f"{value} is not a date: write it as year-month-day, such as 2026-03-12."
    return (
        None if 1900 <= parsed.year <= 2100 else f"{value} is not a likely date: the year is {parsed.year}."
    )


def _amount(value: str) -> str | None:
    try:
        amount = Decimal(value)
    except InvalidOperation:
        return f"{value} is not an amount: write it with a point and no thousands, such as 1250.00."
    return None if amount.is_finite() else f"{value} is not an amount."


def _date_not_future(value: str) -> str | None:
    if problem := _date(value):
        return problem
    # A day of grace: documents come from other time zones.
    return f"{value} is in the future." if date.fromisoformat(value) > _today() + timedelta(days=1) else None


def _today() -> date:
    return datetime.now(UTC).date()


def _positive(value: str) -> str | None:
    return _amount(value) or (None if Decimal(value) > 0 else f"{value} is not above zero.")


def _currency(value: str) -> str | None:
    return None if re.fullmatch(r"[A-Z]{3}", value) else f"{value} is not a currency code such as EUR."


def _mrz(value: str) -> str | None:
    holder = mrz.parse(value.splitlines())
    if holder is None:
        return "The text holds no machine-readable zone."
    return None if holder.valid else "The check digits of the machine-readable zone do not match."


_RULES: dict[str, Callable[[str], str | None]] = {
    "nif": _by_check_digit("NIF", nif_numbers.is_valid),
    "cif": _by_check_digit("CIF", cif_numbers.is_valid),
    "dni": _by_check_digit("DNI", dni_numbers.is_valid),
    "nie": _by_check_digit("NIE", nie_numbers.is_valid),
    "vat": _by_check_digit("VAT number", vat_numbers.is_valid),
    "iban": _by_check_digit("IBAN", iban_numbers.is_valid),
    "tax_id": _tax_id,
    "bic": _by_check_digit("BIC", bic_numbers.is_valid, "it does not look like one"),
    "ccc": _by_check_digit("account number (CCC)", ccc_numbers.is_valid),
    "naf": _by_check_digit("Spanish social security number (NAF)", _is_social_security_number),
    "cups": _by_check_digit("supply point number (CUPS)", cups_numbers.is_valid),
    "cadastral_reference": _by_check_digit("cadastral reference", cadastral_numbers.is_valid),
    "credit_card": _by_check_digit("card number", _is_card_number),
    "postal_code": _by_check_digit("Spanish postal code", postal_codes.is_valid, "there is no such province"),
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
