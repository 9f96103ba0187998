"""What a person typed into a field, as answers are written; or what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from docproc.apps.documents.schemas import SchemaField
from docproc.apps.documents.understanding import validate
from docproc.apps.documents.understanding.extract import normalise
from docproc.errors import InvalidAnswerError

LONGEST = 2000
# Above this a number is a slip, and floating point could not hold its cents.
LARGEST = Decimal(10) ** 15
# After the decimal point, or zeros before it: more is a slip of the hand.
MOST_PLACES = 20


class MistypedError(ValueError):
    """What is wrong in a sentence; `code` is the key of what the station tells people of it."""

    def __init__(self, code: str, problem: str) -> None:
        super().__init__(problem)
        self.code = code


def values(
    schema: Mapping[str, SchemaField], said: Mapping[str, Any], *, decimal_comma: bool = False
) -> dict[str, Any]:
    """Every field that was spoken of, checked: a text, None, or the rows of a table.

    Raises InvalidAnswerError with all problems at once, by field.
    """
    problems: dict[str, str] = {}
    typed: dict[str, Any] = {}
    for name, value in said.items():
        try:
            typed[name] = read(_field(schema, name), value, decimal_comma=decimal_comma)
        except ValueError as error:
            problems[name] = str(error)
    if problems:
        told = "; ".join(f"{name}: {problem}" for name, problem in problems.items())
        raise InvalidAnswerError(told, problems=problems, remedy="Correct these fields and send it again")
    return typed


def _field(schema: Mapping[str, SchemaField], name: str) -> SchemaField:
    if name not in schema:
        raise ValueError(f"there is no such field; there are {', '.join(schema) or 'none'}")
    return schema[name]


def read(field: SchemaField, value: Any, *, decimal_comma: bool = False) -> Any:
    """One field as answers are written; raises MistypedError."""
    if field.type == "table":
        return _table(value)
    if value is None or value == "":
        return None
    if field.type == "decimal":
        return _decimal(value, decimal_comma)
    if field.type == "integer":
        return _integer(value, decimal_comma)
    if not isinstance(value, str):
        raise MistypedError("wrong_text", "it must be a text")
    text = value.strip()
    if len(text) > LONGEST:
        raise MistypedError("too_long", f"it is longer than {LONGEST} characters")
    return _date(text) if field.type == "date" else text or None


def _decimal(value: Any, decimal_comma: bool) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise MistypedError("wrong_amount", "it must be an amount, such as 1250.00")
    text = str(value).strip() if isinstance(value, str) else str(Decimal(str(value)))
    try:
        number = _number(text, decimal_comma)
    except InvalidOperation:
        raise MistypedError("wrong_amount", "it must be an amount, such as 1250.00") from None
    exponent = number.as_tuple().exponent
    # 1e9999999 cannot even be compared, and 1e-999999 written out has a million digits.
    if not isinstance(exponent, int) or abs(exponent) > MOST_PLACES or abs(number) >= LARGEST:
        raise MistypedError("too_large", "it is too large for an amount")
    return f"{number:f}"


def _integer(value: Any, decimal_comma: bool) -> str:
    number = Decimal(_decimal(value, decimal_comma))
    if number != number.to_integral_value():
        raise MistypedError("wrong_integer", "it must be a whole number, such as 1250")
    return f"{number:.0f}"


def _number(text: str, decimal_comma: bool) -> Decimal:
    """Raises InvalidOperation for what is no number, however people write one."""
    try:
        return Decimal(text)
    except InvalidOperation:
        written = normalise.decimal(text, decimal_comma)
        if written is None:
            raise
        return Decimal(written)


def _date(text: str) -> str:
    if validate.check("date", text) is None:
        return text
    dates = normalise.dates(text.casefold(), day_first=True)
    if len(dates) != 1:
        raise MistypedError("wrong_date", "it must be a date, such as 2026-03-12")
    return dates[0][2]


def _table(value: Any) -> list[dict[str, Any]] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise MistypedError("wrong_text", "it must be a list of rows")
    return value
