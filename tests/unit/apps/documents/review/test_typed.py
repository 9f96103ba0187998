"""What people type into an amount: taken as they write it, or refused with a reason; never a crash."""

from __future__ import annotations

import pytest

from docproc.apps.documents.review.typed import MistypedError, read
from docproc.apps.documents.schemas import SchemaField

AMOUNT = SchemaField(name="total", type="decimal")


@pytest.mark.parametrize(("typed", "kept"), [("1.250,50", "1250.50"), ("1250.5", "1250.5"), (3, "3")])
def test_amounts_as_people_write_them(typed: object, kept: str) -> None:
    assert read(AMOUNT, typed, decimal_comma=True) == kept


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("12.'5", "wrong_amount"),
        ("a lot", "wrong_amount"),
        ("1e9999999", "too_large"),
        ("1e-999999", "too_large"),
        ("0e-999999", "too_large"),
        ("NaN", "too_large"),
        ("1" * 40, "too_large"),
    ],
)
def test_odd_amounts_are_refused_with_a_reason(typed: str, code: str) -> None:
    with pytest.raises(MistypedError) as refused:
        read(AMOUNT, typed, decimal_comma=False)
    assert refused.value.code == code
