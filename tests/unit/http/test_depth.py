"""Levels of JSON, counted without reading it."""

from __future__ import annotations

import time

import pytest

from docproc.http.depth import DEEPEST, is_closed, is_too_deep


def nested(levels: int, inner: str = "1") -> str:
    return '{"a":' * levels + inner + "}" * levels


@pytest.mark.parametrize(
    ("text", "is_deep"),
    [
        ("", False),
        ("{}", False),
        (nested(DEEPEST), False),
        (nested(DEEPEST + 1), True),
        (nested(DEEPEST, '"[[["'), False),
        ('{"a": "' + "[" * 100 + '"}', False),
        ('{"a": "\\"' + "[" * 100 + '"}', False),
        ('{"a": "\\\\"' + "," + nested(DEEPEST) + "}", True),
        ("[{}]" * 1000, False),
        ("[" * 100, True),
    ],
)
def test_levels_are_counted_outside_of_texts(text: str, is_deep: bool) -> None:
    assert is_too_deep(text) == is_deep
    for encoding in ("utf-8", "utf-16", "utf-16-le", "utf-32"):
        if text:
            assert is_too_deep(text.encode(encoding)) == is_deep, encoding


def test_text_that_never_ends_is_looked_at_once() -> None:
    began = time.monotonic()
    for text in (
        b'"' + b'\\"' * 500_000,
        b'"' * 1_000_001,
        b'"' + b"\\" * 1_000_000,
        b"[]" * 500_000,
        b"\xff" * 9,
    ):
        assert not is_too_deep(text)
    assert time.monotonic() - began < 5, "linear, whatever somebody wrote"


@pytest.mark.parametrize(("text", "closed"), [("", True), ("[[]]", True), ("[[]", False), ("[[", False)])
def test_what_is_not_closed_is_no_json(text: str, closed: bool) -> None:
    assert is_closed(text) == closed
