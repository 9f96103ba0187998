"""Rules between fields: exact sums, two cents of tolerance, and who is blamed when one is broken."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from docproc.apps.documents.understanding.extract.field_rules import check, holds, named, weigh
from docproc.apps.documents.understanding.extract.spec import ColumnSpec, FieldSpec, FieldValue, Row
from docproc.apps.documents.understanding.reason import Code, Reason
from docproc.reading.page import Source

SUM = "net + tax - abs(withheld or 0) == total"
AMOUNTS = [FieldSpec(name, "decimal") for name in ("net", "tax", "withheld", "total")]
TYPES = {
    "net": "decimal",
    "tax": "decimal",
    "total": "decimal",
    "day": "date",
    "name": "string",
    "rows": "table",
}
COLUMNS = {"rows": {"amount": "decimal", "text": "string"}}


@pytest.mark.parametrize(
    ("rule", "values", "answer"),
    [
        (SUM, {"net": "100", "tax": "21", "total": "121"}, True),
        (SUM, {"net": "100", "tax": "21", "total": "121.02"}, True),
        (SUM, {"net": "100", "tax": "21", "total": "121.03"}, False),
        (SUM, {"net": "100", "tax": "21", "withheld": "-15", "total": "106"}, True),
        (SUM, {"net": "100", "tax": "21", "withheld": "15", "total": "106"}, True),
        (SUM, {"net": "100", "total": "121"}, None),
        ("net * 0.21 == tax", {"net": "0.1", "tax": "0.021"}, True),
        ("net / tax == 2", {"net": "1", "tax": "0"}, None),
        ("net < total", {"net": "10", "total": "10.01"}, False),
        ("net <= total", {"net": "10.01", "total": "10"}, True),
    ],
)
def test_amounts(rule: str, values: dict[str, str], answer: bool | None) -> None:
    assert holds(rule, {name: Decimal(value) for name, value in values.items()}) is answer


@pytest.mark.parametrize(
    ("rule", "values", "answer"),
    [
        ("day <= due", {"day": date(2026, 1, 31), "due": date(2026, 3, 1)}, True),
        ("day <= due", {"day": date(2026, 4, 1), "due": date(2026, 3, 1)}, False),
        ("day <= due", {"day": date(2026, 4, 1)}, None),
        ("vendor != customer", {"vendor": "B-16.596.447", "customer": "b16596447"}, False),
        ("sum(rows.amount) == 3", {"rows": {"amount": (Decimal(1), Decimal(2))}}, True),
        ("sum(rows.amount) == 3", {"rows": {}}, None),  # a column with a gap has no sum
        ("len(rows.amount) == 2", {"rows": {"amount": (Decimal(1), Decimal(2))}}, True),
    ],
)
def test_dates_texts_and_tables(rule: str, values: dict[str, Any], answer: bool | None) -> None:
    assert holds(rule, values) is answer


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("net +", "not an expression"),
        ("net == gross", "no field is called 'gross'"),
        ("net + name == total", "cannot be decided"),
        ("net == day", "a decimal is compared with a date"),
        ("net + tax", "neither true nor false"),
        ("[x for x in net]", "sums and comparisons"),
        ("name.upper() == name", "only the functions"),
        ("open(name) == name", "only the functions"),
        ("rows.price == net", "no table has a column 'price'; there are amount, text"),
        ("net.real == net", "no table has a column"),
        ("9 ** 9 ** 9 == net", "sums and comparisons"),
        ("rows.amount == net", "a column is compared"),
    ],
)
def test_rules_that_cannot_work_are_refused(rule: str, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("(", r"\(")):
        check(rule, TYPES, COLUMNS)


@pytest.mark.parametrize(
    "rule", ["net + tax == total", "sum(rows.amount) == net", "day <= day", "max(net, tax) > 0"]
)
def test_rules_that_work_are_accepted(rule: str) -> None:
    check(rule, TYPES, COLUMNS)


def test_fields_are_named_in_the_order_of_the_rule() -> None:
    assert named(SUM) == ("net", "tax", "withheld", "total")


def found(value: str, confidence: float, reason: Reason | None = None) -> FieldValue:
    return FieldValue(value, confidence, Source.OCR, 0, None, reason)


def weighed(**amounts: tuple[str, float]) -> dict[str, FieldValue]:
    after = weigh([SUM], AMOUNTS, {name: found(*given) for name, given in amounts.items()})
    return {name: value for name, value in after.items() if value is not None}


def test_broken_rule_blames_the_least_sure_and_says_why() -> None:
    after = weighed(net=("100.00", 0.97), tax=("27.00", 0.5), total=("121.00", 0.97))
    assert after["tax"].confidence < 0.1
    assert after["tax"].reason == Reason(
        Code.RULE_BROKEN, {"rule": SUM, "said": "net 100.00, tax 27.00, total 121.00"}
    )
    assert after["total"].confidence > 0.9 and after["total"].reason is None


def test_broken_rule_doubts_all_when_all_seemed_sure() -> None:
    after = weighed(net=("100.00", 0.95), tax=("27.00", 0.95), total=("121.00", 0.95))
    assert all(value.confidence < 0.75 and value.reason for value in after.values())


def test_much_stronger_source_is_not_blamed() -> None:
    after = weighed(net=("100.00", 0.9), tax=("27.00", 0.9), total=("121.00", 0.995))
    assert after["total"].reason is None and after["total"].confidence > 0.95
    assert after["net"].reason and after["net"].confidence < 0.75


def test_rule_that_holds_raises_and_never_lowers() -> None:
    after = weighed(net=("100.00", 0.7), tax=("21.00", 0.7), total=("121.00", 0.999))
    assert after["net"].confidence > 0.7 and after["total"].confidence == 0.999
    assert not any(value.reason for value in after.values())


def test_value_that_a_person_must_see_is_not_raised() -> None:
    doubted = {
        "net": found("100.00", 0.9),
        "tax": found("21.00", 0.9),
        "total": found("121.00", 0.4, Reason(Code.EMPTY)),
    }
    assert weigh([SUM], AMOUNTS, doubted)["total"] == doubted["total"]


def test_rule_with_a_missing_field_changes_nothing() -> None:
    before = {"net": found("100.00", 0.9), "tax": None, "total": found("121.00", 0.9)}
    assert weigh([SUM], AMOUNTS, before) == before


def test_sum_of_rows_speaks_for_the_table() -> None:
    table = FieldSpec("rows", "table", columns=(ColumnSpec("amount", "decimal"),))
    rows = (Row(("60.00",), 0.9, 0, (0, 0, 1, 1)), Row(("40.00",), 0.9, 0, (0, 0, 1, 1)))
    items = FieldValue('[{"amount": "60.00"}, {"amount": "40.00"}]', 0.7, Source.OCR, 0, None, rows=rows)
    fields, rule = [table, AMOUNTS[0]], ["sum(rows.amount) == net"]
    after = weigh(rule, fields, {"rows": items, "net": found("100.00", 0.9)})
    assert after["rows"] is not None and after["rows"].confidence > 0.9
    after = weigh(rule, fields, {"rows": items, "net": found("120.00", 0.9)})
    assert after["rows"] is not None and after["rows"].confidence < 0.5
    assert "(2 rows)" in str(after["rows"].reason)
    assert after["net"] == found("120.00", 0.9)  # rows are missed more often than totals
