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


def values(
    schema: Mapping[str, SchemaField], said: Mapping[str, Any], *, decimal_comma: bool = False
) -> dict[str, Any]:
    """Every field that was spoken of, checked: a text, None, or the rows of a table.

    Raises InvalidAnswerError with all problems at once, by field.
    """
    problems: dict[str, str] = {}
    found: dict[str, Any] = {}
    for name, value in said.items():
        try:
            found[name] = _value(_field(schema, name), value, decimal_comma)
        except ValueError as error:
            problems[name] = str(error)
    if problems:
        told = "; ".join(f"{name}: {problem}" for name, problem in problems.items())
        raise InvalidAnswerError(told, problems=problems, remedy="Correct these fields and send it again")
    return found


def _field(schema: Mapping[str, SchemaField], name: str) -> SchemaField:
    if name not in schema:
        raise ValueError(f"there is no such field; there are {', '.join(schema) or 'none'}")
    return schema[name]


def _value(field: SchemaField, value: Any, decimal_comma: bool) -> Any:
    if field.type == "table":
        return _table(value)
    if value is None or value == "":
        return None
    if field.type == "decimal":
        return _decimal(value, decimal_comma)
    if not isinstance(value, str):
        raise ValueError("it must be a text")
    text = value.strip()
    if len(text) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST} characters")
    return _date(text) if field.type == "date" else text or None


def _decimal(value: Any, decimal_comma: bool) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("it must be an amount, such as 1250.00")
    text = str(value).strip() if isinstance(value, str) else str(Decimal(str(value)))
    try:
        number = Decimal(text)
    except InvalidOperation:
        read = normalise.decimal(text, decimal_comma)
        if read is None:
            raise ValueError("it must be an amount, such as 1250.00") from None
        number = Decimal(read)
    if not number.is_finite() or abs(number) >= LARGEST:
        raise ValueError("it is too large for an amount")
    return f"{number:f}"


def _date(text: str) -> str:
    if validate.check("date", text) is None:
        return text
    found = normalise.dates(text.casefold(), day_first=True)
    if len(found) != 1:
        raise ValueError("it must be a date, such as 2026-03-12")
    return found[0][2]


def _table(value: Any) -> list[dict[str, Any]] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise ValueError("it must be a list of rows")
    return value
