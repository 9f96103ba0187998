"""Puts a page that is set in columns into reading order: `pdftotext -layout` writes them side by side.

A gutter is a stretch of blanks at one place in nearly all lines, with prose on both sides of it. What
crosses it (a title over both columns) parts the page into blocks; of each block the left column comes
first. Tables have gutters, too, but no prose beside them, and stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

_GUTTER = "  "
# Of a page's lines, how many must have text on both sides, and how many of those may cross the gutter.
_LEAST_LINES = 6
_MOST_CROSSING = 0.15
# Prose fills its column: a table's cells and a contents' page numbers do not.
_LEAST_LEFT = 22
_LEAST_RIGHT = 18


def in_reading_order(page: str) -> str:
    lines = page.split("\n")
    return "\n".join(_ordered(lines))


def _ordered(lines: Sequence[str]) -> list[str]:
    gutter = _gutter(lines)
    if gutter is None:
        return list(lines)
    ordered: list[str] = []
    for crosses, block in groupby(lines, key=lambda line: _crosses(line, gutter)):
        found = list(block)
        if crosses:
            ordered += found
            continue
        left = [line[:gutter].rstrip() for line in found]
        right = [line[gutter:].strip() for line in found]
        # Three columns are two, of which one is two again.
        ordered += [*_ordered(left), "", *_ordered(right), ""]
    return ordered


def _gutter(lines: Sequence[str]) -> int | None:
    """Where the right column may begin; None where there are no two columns of prose."""
    filled = [line for line in lines if line.strip()]
    width = max(map(len, filled), default=0)
    best: tuple[int, int] | None = None
    for at in range(_LEAST_LEFT + 2, width - _LEAST_RIGHT + 1):
        both = [line for line in filled if line[:at].strip() and line[at:].strip()]
        clear = [line for line in both if not _crosses(line, at)]
        if len(clear) >= _LEAST_LINES and len(both) - len(clear) <= _MOST_CROSSING * len(both):
            score = (len(clear), at)
            if _are_prose(clear, at) and (best is None or score > best):
                best = score
    return best[1] if best else None


def _crosses(line: str, at: int) -> bool:
    """Whether text runs over the gutter: it is no gutter of this line."""
    return len(line) > at and line[at - len(_GUTTER) : at].strip() != ""


def _are_prose(lines: Sequence[str], at: int) -> bool:
    left = sum(len(line[:at].strip()) for line in lines) / len(lines)
    right = sum(len(line[at:].strip()) for line in lines) / len(lines)
    spaced = sum(_GUTTER in line[:at].strip() for line in lines)
    return left >= _LEAST_LEFT and right >= _LEAST_RIGHT and spaced <= 0.5 * len(lines)
