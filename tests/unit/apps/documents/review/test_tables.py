"""Tables that people edit: sums, comparison, and what is left of the evidence of rows."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from docproc.apps.documents.review import tables, typed
from docproc.apps.documents.schemas import SchemaField

ITEMS = SchemaField.model_validate(
    {
        "name": "line_items",
        "type": "table",
        "columns": [
            {"name": "description"},
            {"name": "unit_price", "type": "decimal"},
            {"name": "amount", "type": "decimal"},
        ],
    }
)
PAPER = {"description": "Papel", "unit_price": "5.00", "amount": "50.00"}
TONER = {"description": "Tóner", "unit_price": "25.00", "amount": "50.00"}
BEFORE: dict[str, Any] = {
    "value": [PAPER, TONER],
    "rows": [
        {"confidence": 0.6, "page": 3, "box": [0.1, 0.1, 0.9, 0.2]},
        {"confidence": 0.7, "page": 3, "box": [0.1, 0.3, 0.9, 0.4]},
    ],
}


@pytest.mark.parametrize(
    ("rules", "columns"),
    [
        ([], ["amount"]),
        (["sum(line_items.amount) == net_amount"], ["amount"]),
        (["sum( line_items.unit_price ) > 0", "sum(line_items.amount) > 0"], ["unit_price", "amount"]),
        (["sum(other.unit_price) > 0"], ["amount"]),
    ],
)
def test_columns_that_a_rule_adds_up_are_summed(rules: list[str], columns: list[str]) -> None:
    assert tables.summed(ITEMS, rules) == columns


def test_sum_is_exact_and_leaves_out_what_is_no_amount() -> None:
    rows: list[dict[str, Any]] = [{"amount": "0.10"}, {"amount": 0.2}, {"amount": None}, {"amount": "?"}, {}]
    assert tables.total(rows, "amount") == Decimal("0.30")


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        ([{**PAPER, "amount": "50.0"}, TONER], True),
        ([{**PAPER, "amount": 50}, {**TONER, "note": None}], True),
        ([TONER, PAPER], False),
        ([PAPER], False),
        (None, False),
    ],
)
def test_tables_are_the_same_by_what_they_say(other: Any, is_same: bool) -> None:
    assert tables.is_same([PAPER, TONER], other) is is_same


NEW = {"description": "Nuevo", "unit_price": None, "amount": "1"}
UP, DOWN = BEFORE["rows"][0]["box"], BEFORE["rows"][1]["box"]


@pytest.mark.parametrize(
    ("what", "rows", "boxes"),
    [
        ("as it was", [PAPER, TONER], [UP, DOWN]),
        ("changed in its place", [PAPER, {**TONER, "amount": "51.00"}], [UP, DOWN]),
        ("first removed", [TONER], [DOWN]),
        ("one added between", [PAPER, NEW, TONER], [UP, None, DOWN]),
        ("all gone but a new one at the end", [PAPER, TONER, NEW], [UP, DOWN, None]),
    ],
)
def test_rows_that_stay_keep_their_places(what: str, rows: list[Any], boxes: list[Any]) -> None:
    found = tables.evidence(BEFORE, rows)
    assert [one["box"] for one in found] == boxes, what
    assert all(one["confidence"] == 1.0 for one in found)


def test_rows_without_known_places_have_none() -> None:
    assert tables.evidence({"value": [PAPER]}, [PAPER]) == [{"confidence": 1.0, "page": None, "box": None}]


def test_cells_are_read_as_their_columns_say_and_empty_rows_left_out() -> None:
    rows = [{"description": " Papel ", "amount": "1.250,5"}, {"description": "", "amount": None}]
    read = typed.read(ITEMS, rows, decimal_comma=True)
    assert read == [{"description": "Papel", "unit_price": None, "amount": "1250.50"}]
    assert typed.read(ITEMS, [{}]) is None


@pytest.mark.parametrize(
    ("rows", "cells"),
    [
        ([PAPER, {"amount": "x"}], [(1, "amount")]),
        ([{"colour": "red"}], [(0, "colour")]),
        ([{"amount": "x", "unit_price": True}], [(0, "amount"), (0, "unit_price")]),
    ],
)
def test_what_is_wrong_is_named_by_cell(rows: list[Any], cells: list[tuple[int, str]]) -> None:
    with pytest.raises(typed.MistypedRowsError) as caught:
        typed.read(ITEMS, rows)
    assert sorted(caught.value.cells) == cells


@pytest.mark.parametrize("rows", ["text", [1], {"amount": "1"}])
def test_what_is_no_table_is_refused(rows: Any) -> None:
    with pytest.raises(typed.MistypedError):
        typed.read(ITEMS, rows)
