"""Tables that people edit (line items): what columns add up to, what is left of each row's evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from difflib import SequenceMatcher
from typing import Any

from docproc.apps.documents.schemas import SchemaField

Rows = Sequence[Mapping[str, Any]]
_SURE = {"confidence": 1.0, "page": None, "box": None}


def summed(field: SchemaField, rules: Sequence[str]) -> list[str]:
    """The columns whose sum tells something: those that a rule of the type adds up, else the last amount.

    A sum of unit prices would only confuse.
    """
    pattern = re.compile(rf"\bsum\(\s*{re.escape(field.name)}\.(\w+)\s*\)")
    named = {column for rule in rules for column in pattern.findall(rule)}
    amounts = [column.name for column in field.columns if column.type == "decimal"]
    return [name for name in amounts if name in named] or amounts[-1:]


def total(rows: Rows | None, column: str) -> Decimal:
    """What a column adds up to; what cannot be read counts nothing."""
    return sum((_amount(row.get(column)) for row in rows or ()), Decimal(0))


def _amount(value: Any) -> Decimal:
    try:
        return Decimal(str(value)) if value not in (None, "") else Decimal(0)
    except InvalidOperation:
        return Decimal(0)


def plain(field: SchemaField, rows: Rows | None) -> list[dict[str, Any]] | None:
    """As `extracted_data` has them: decimals as JSON numbers."""
    if rows is None:
        return None
    return [
        {
            column.name: _number(row.get(column.name)) if column.type == "decimal" else row.get(column.name)
            for column in field.columns
        }
        for row in rows
    ]


def _number(value: Any) -> float | None:
    return None if value is None else float(Decimal(str(value)))


def is_same(one: Any, other: Any) -> bool:
    """Whether two tables say the same: amounts by value, empty cells as if they were not there."""
    return _comparable(one) == _comparable(other)


def _comparable(rows: Any) -> list[dict[str, Any]]:
    if not isinstance(rows, list):
        return []
    return [
        {name: _normal(cell) for name, cell in row.items() if cell not in (None, "")}
        for row in rows
        if isinstance(row, dict)
    ]


def _normal(cell: Any) -> Any:
    try:
        return Decimal(str(cell)).normalize()
    except InvalidOperation:
        return str(cell).strip()


def evidence(before: Mapping[str, Any], rows: Rows) -> list[dict[str, Any]]:
    """For each row where it stands on the page: rows that stayed, and rows that were changed in their place,
    keep theirs; added ones have none. A person's word is certain."""
    old_rows, places = before.get("value"), before.get("rows")
    known = [{**_SURE, **place, "confidence": 1.0} for place in places or ()]
    if not isinstance(old_rows, list) or len(old_rows) != len(known):
        return [dict(_SURE) for _ in rows]
    found = [dict(_SURE) for _ in rows]
    old, new = ([repr(row) for row in _comparable(all_)] for all_ in (old_rows, list(map(dict, rows))))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind in ("equal", "replace"):
            for before_at, now_at in zip(range(i1, i2), range(j1, j2), strict=False):
                found[now_at] = dict(known[before_at])
    return found
