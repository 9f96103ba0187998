"""What a person typed into a field, as answers are written; or what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from docproc.apps.documents.schemas import SchemaColumn, SchemaField
from docproc.apps.documents.understanding import validate
from docproc.apps.documents.understanding.extract import normalise
from docproc.errors import InvalidAnswerError

LONGEST = 2000
# Above this a number is a slip, and floating point could not hold its cents.
LARGEST = Decimal(10) ** 15
# After the decimal point, or zeros before it: more is a slip of the hand.
MOST_PLACES = 20
MOST_ROWS = 2000


class MistypedError(ValueError):
    """What is wrong in a sentence; `code` is the key of what the station tells people of it."""

    def __init__(self, code: str, problem: str) -> None:
        super().__init__(problem)
        self.code = code


class MistypedRowsError(MistypedError):
    """What is wrong in a table, by row (from 0, as it was sent) and column."""

    def __init__(self, cells: Mapping[tuple[int, str], MistypedError]) -> None:
        (row, column), first = next(iter(cells.items()))
        super().__init__(first.code, f"row {row + 1}, {column}: {first}")
        self.cells = cells


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
        except MistypedRowsError as error:
            problems |= {cell_key(name, *place): str(problem) for place, problem in error.cells.items()}
        except ValueError as error:
            problems[name] = str(error)
    if problems:
        told = "; ".join(f"{name}: {problem}" for name, problem in problems.items())
        raise InvalidAnswerError(told, problems=problems, remedy="Correct these fields and send it again")
    return typed


def cell_key(name: str, row: int, column: str) -> str:
    """As problems name a cell of a table: `line_items.2.amount`."""
    return f"{name}.{row}.{column}"


def _field(schema: Mapping[str, SchemaField], name: str) -> SchemaField:
    if name not in schema:
        raise ValueError(f"there is no such field; there are {', '.join(schema) or 'none'}")
    return schema[name]


def read(field: SchemaField, value: Any, *, decimal_comma: bool = False) -> Any:
    """One field as answers are written; raises MistypedError."""
    if field.type == "table":
        return _table(field.columns, value, decimal_comma)
    return _one(field.type, value, decimal_comma)


def _one(type_: str, value: Any, decimal_comma: bool) -> str | None:
    if value is None or value == "":
        return None
    if type_ == "decimal":
        return _decimal(value, decimal_comma)
    if type_ == "integer":
        return _integer(value, decimal_comma)
    if not isinstance(value, str):
        raise MistypedError("wrong_text", "it must be a text")
    text = value.strip()
    if len(text) > LONGEST:
        raise MistypedError("too_long", f"it is longer than {LONGEST} characters")
    return _date(text) if type_ == "date" else text or None


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


def _table(columns: Sequence[SchemaColumn], value: Any, decimal_comma: bool) -> list[dict[str, Any]] | None:
    """The rows with every column, exact; rows in which nothing stands are left out."""
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise MistypedError("wrong_text", "it must be a list of rows")
    if len(value) > MOST_ROWS:
        raise MistypedError("too_many_rows", f"it has more than {MOST_ROWS} rows")
    known = {column.name: column.type for column in columns}
    wrong: dict[tuple[int, str], MistypedError] = {}
    rows = []
    for number, row in enumerate(value):
        for name in row.keys() - known:
            wrong[number, name] = MistypedError(
                "wrong_text", f"there is no such column; there are {', '.join(known)}"
            )
        cells: dict[str, str | None] = {}
        for name, type_ in known.items():
            try:
                cells[name] = _one(type_, row.get(name), decimal_comma)
            except MistypedError as error:
                wrong[number, name] = error
        if any(cells.values()):
            rows.append(cells)
    if wrong:
        raise MistypedRowsError(wrong)
    return rows or None
