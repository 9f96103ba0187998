"""Quantities as people type them: `2000/h`, `60%`, and what is wrong with those that cannot be."""

from __future__ import annotations

import re

from docproc.errors import UsageError

_SECONDS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_RATE = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*/\s*(s|m|min|h|d)\s*$")
_SHARE = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*(%?)\s*$")


def per_second(text: str) -> float:
    """A rate such as `2000/h` in requests per second; raises UsageError."""
    found = _RATE.match(text)
    if found is None or float(found[1]) == 0:
        raise UsageError(
            f"{text!r} is no volume", remedy="Say how many in which time: 2000/h, 3/s or 50000/d"
        )
    return float(found[1]) / _SECONDS[found[2]]


def share(text: str) -> float:
    """`60%` or `0.6`, between 0 and 1; raises UsageError."""
    found = _SHARE.match(text)
    value = float(found[1]) / (100 if found[2] else 1) if found else -1.0
    if not 0 <= value <= 1:
        raise UsageError(
            f"{text!r} is no share", remedy="Say a percentage such as 60%, or a number from 0 to 1"
        )
    return value
