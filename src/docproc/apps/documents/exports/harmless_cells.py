"""Texts of documents in spreadsheets: what begins like a formula must stay text."""

from __future__ import annotations

import re

# A spreadsheet runs cells that begin like this.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)*")


def is_like_formula(text: str) -> bool:
    return text.startswith(FORMULA_STARTS)


def as_text(value: str) -> str:
    """For CSV, where nothing but an apostrophe keeps a cell from being run; numbers stay numbers."""
    return f"'{value}" if is_like_formula(value) and not _NUMBER.fullmatch(value) else value
