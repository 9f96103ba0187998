"""`when:` expressions: what they may say, and what they mean of a message."""

from __future__ import annotations

import pytest

from docproc.engine.workflow import conditions
from docproc.errors import PermanentError
from tests.unit.engine.workflow.flows import message

MESSAGE = message(
    "ocr",
    "page:3",
    priority=7,
    tenant_id="acme",
    workflow_name="invoices",
    attempt=2,
    payload={
        "doc_type": "invoice",
        "confidence": 0.9,
        "pages": [1, 2, 3],
        "client": {"name": "ACME", "vip": True, "address": {"city": "Vigo"}},
        "amount": "12.50",
        "items": 4,
        "empty": "",
    },
)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("payload.doc_type == 'invoice'", True),
        ("payload.doc_type == 'payslip'", False),
        ('payload["doc_type"] != "payslip"', True),
        ("payload.confidence >= 0.8 and payload.client.vip", True),
        ("payload.confidence < 0.8 or not payload.client.vip", False),
        ("payload.client.address.city == 'Vigo'", True),
        ("payload['client']['address']['city'] in ['Vigo', 'Lugo']", True),
        ("payload.doc_type in ('receipt', 'payslip')", False),
        ("len(payload.pages) > 2", True),
        ("payload.pages[0] + payload.pages[2] == 4", True),
        ("float(payload.amount) > 12", True),
        ("int('3') == 3 and str(3) == '3'", True),
        ("unit_key.startswith('page:')", True),
        ("priority > 5", True),
        ("tenant_id == 'acme' and workflow_name == 'invoices'", True),
        ("attempt == 1", False),
        ("payload.items == 4", True),  # a field, not the method of a dict
        ("payload.empty", False),
        ("payload.pages", True),
        ("'small' if payload.items < 5 else ''", True),
        ("  True\n", True),
        ("0", False),
    ],
)
def test_condition_is_decided_by_the_message(expression: str, expected: bool) -> None:
    conditions.check(expression)
    assert conditions.holds(expression, MESSAGE) is expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("payload.absent == 1", False),
        ("payload.absent is None", True),
        ("payload['absent'] is None", True),
        ("payload.absent.deeper.still is None", True),
        ("payload.client.absent is None", True),
        ("not payload.absent", True),
    ],
)
def test_absent_field_reads_as_none(expression: str, expected: bool) -> None:
    conditions.check(expression)
    assert conditions.holds(expression, MESSAGE) is expected


@pytest.mark.parametrize(
    "expression",
    [
        "payload.absent > 1",
        "payload.items / 0 == 1",
        "float(payload.doc_type) > 1",
        "payload.pages[99] == 1",
        "payload.get('doc_type') == 'invoice'",
        "9 ** 9 ** 9 > 1",
        "unit_key.nonsense",
        "'a' * 1000000000 == 'b'",
    ],
)
def test_condition_that_cannot_be_decided_is_a_permanent_error_naming_it(expression: str) -> None:
    with pytest.raises(PermanentError) as caught:
        conditions.holds(expression, MESSAGE)
    assert repr(expression) in str(caught.value)
    assert "replay" in caught.value.remedy
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    "expression",
    ["payload.x ==", "", "   ", "if payload: True", "x = 1", "payload.x; payload.y", "(", "import os"],
)
def test_unreadable_expression_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="is not an expression"):
        conditions.check(expression)


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("doc_type == 'invoice'", "doc_type"),
        ("open('/etc/passwd')", "open"),
        ("__import__('os')", "__import__"),
        ("payload.x == other.y", "other"),
        ("request_id == 1", "request_id"),
        ("rand() > 0.5", "rand"),  # a condition must decide the same each time
        ("randint(2) == 1", "randint"),
        ("payload.x == len", "len"),  # a function is no value
        ("payload(1)", "payload"),  # and a value is no function
    ],
)
def test_unknown_name_is_refused_with_the_known_ones(expression: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"unknown name '{name}'.*payload, unit_key"):
        conditions.check(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "[payload for payload in payload.pages]",
        "{payload for payload in payload.pages}",
        "{payload: 1 for payload in payload.pages}",
        "len(payload for payload in payload.pages)",
        "(lambda: True)()",
        "(payload := 1)",
    ],
)
def test_programs_are_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="plain comparison"):
        conditions.check(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "unit_key.__class__",
        "unit_key.__class__.__mro__",
        "unit_key.format(payload)",
        "priority.__class__.__base__.__subclasses__()",
    ],
)
def test_inside_of_python_is_out_of_reach(expression: str) -> None:
    with pytest.raises(PermanentError):
        conditions.holds(expression, MESSAGE)


def test_deciding_changes_nothing_in_the_message() -> None:
    before = MESSAGE.encode()
    conditions.holds("payload.absent == payload.client.absent", MESSAGE)
    assert MESSAGE.encode() == before


def test_deciding_a_condition_does_not_change_what_the_next_check_accepts() -> None:
    before = dict(conditions.FUNCTIONS)
    conditions.holds("payload.n == 1", message("a", payload={"n": 1}))
    assert before == conditions.FUNCTIONS
