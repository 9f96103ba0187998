"""What may stand in the text fields of a submission."""

from __future__ import annotations

import pytest

from docproc.http.fields import arrival, metadata
from docproc.http.problems import Problem


def test_absent_and_empty_fields_take_their_defaults() -> None:
    for fields in ({}, dict.fromkeys(("channel", "workflow", "external_id", "metadata"), "")):
        found = arrival(fields)
        assert (found.workflow, found.channel, found.external_id, found.metadata) == (None, "api", None, {})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("channel", "x" * 65),
        ("workflow", "x" * 65),
        ("external_id", "x" * 256),
        ("channel", "a\0b"),
        ("external_id", "a\nb"),
        ("workflow", "a\x85b"),
    ],
)
def test_fields_that_no_column_can_hold_are_refused(field: str, value: str) -> None:
    with pytest.raises(Problem, match=field) as caught:
        arrival({field: value})
    assert caught.value.status_code == 422


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("{", 400),
        ("nope", 400),
        ("[1]", 400),
        ('"text"', 400),
        ("null", 400),
        ('{"a": NaN}', 400),
        ('{"a": 1e999}', 400),
        ('{"a": "\\ud800"}', 400),
        ("[" * 100_000, 400),
        ('{"a": ' + "9" * 5000 + "}", 400),
        ('{"a": "\\u0000"}', 422),
        ('{"\\u0000": 1}', 422),
        ('{"a": ' + "[" * 60 + "]" * 60 + "}", 422),
    ],
)
def test_metadata_that_is_no_plain_object_is_refused(text: str, status: int) -> None:
    with pytest.raises(Problem) as caught:
        metadata(text)
    assert caught.value.status_code == status


def test_metadata_keeps_its_values_exactly() -> None:
    text = '{"big": 123456789012345678901234567890, "name": "ñandú", "deep": [{"a": null}]}'
    assert metadata(text) == {"big": 123456789012345678901234567890, "name": "ñandú", "deep": [{"a": None}]}
