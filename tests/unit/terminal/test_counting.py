"""Progress in a pipe: a line now and then, and at once when something else begins."""

from __future__ import annotations

import pytest

from docproc.terminal.counting import Paced, counted


def test_lines_come_every_few_seconds_and_with_each_phase() -> None:
    said: list[str] = []
    times = iter((0.0, 1.0, 6.0, 7.0, 8.0, 9.0, 13.5))
    paced = Paced(said.append, seconds=5, clock=lambda: next(times))
    for text in ("1/9", "2/9", "3/9"):
        paced(text)
    for text in ("learning", "still", "on"):
        paced(text, "learning")
    assert said == ["2/9", "learning", "on"]


@pytest.mark.parametrize(("number", "text"), [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_counts_are_in_words(number: int, text: str) -> None:
    assert counted(number, "file") == text
