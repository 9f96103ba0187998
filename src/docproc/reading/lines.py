"""Puts the pieces of text found on a page into printed lines, top to bottom and left to right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from docproc.reading.page import Box, Word

# A word before its line is known: text, box, confidence.
Fragment = tuple[str, Box, float]

_SHARED_WITH_SMALLER = 0.5  # words of a line overlap by half the height of the smaller one …
_SHARED_WITH_LARGER = 0.3  # … and a letterhead does not swallow the three small lines beside it


@dataclass(slots=True)
class _Line:
    fragments: list[Fragment]
    last: Box

    @property
    def middle(self) -> float:
        return sum(box[1] + box[3] for _, box, _ in self.fragments) / len(self.fragments)


def in_lines(runs: Iterable[Sequence[Fragment]]) -> tuple[Word, ...]:
    """Number the lines. Each run holds neighbouring words known to stand on one line.

    Runs are chained from left to right, each to the line whose last word it overlaps most: a line that drifts
    up or down across the page stays one line, and a gap between columns is only a wide space.
    """
    lines: list[_Line] = []
    pieces = [piece for run in runs for piece in _unbroken(run)]
    for run in sorted(pieces, key=lambda run: run[0][1][0]):
        line = _line_before(run[0][1], lines)
        if line is None:
            lines.append(_Line(list(run), run[-1][1]))
        else:
            line.fragments.extend(run)
            line.last = run[-1][1]
    lines.sort(key=lambda line: line.middle)
    return tuple(
        Word(text, box, confidence, number)
        for number, line in enumerate(lines)
        for text, box, confidence in line.fragments
    )


def _unbroken(run: Sequence[Fragment]) -> Iterator[Sequence[Fragment]]:
    """The run, broken where a word is not beside the one before: slanted stamps, text up the margin."""
    start = 0
    for number in range(1, len(run)):
        before, box = run[number - 1][1], run[number][1]
        if not _is_beside(box, before):
            yield run[start:number]
            start = number
    yield run[start:]


def _is_beside(box: Box, before: Box) -> bool:
    height, other = box[3] - box[1], before[3] - before[1]
    shared = min(box[3], before[3]) - max(box[1], before[1])
    return shared >= _SHARED_WITH_SMALLER * min(height, other) and shared >= _SHARED_WITH_LARGER * max(
        height, other
    )


def _line_before(first: Box, lines: list[_Line]) -> _Line | None:
    """The line that `first` goes on with, None when it starts one."""
    best, best_shared = None, 0.0
    for line in lines:
        shared = min(first[3], line.last[3]) - max(first[1], line.last[1])
        # Printed over each other is not one line.
        if shared > best_shared and first[0] >= line.last[2] - shared / 2 and _is_beside(first, line.last):
            best, best_shared = line, shared
    return best
