"""Pace: a minute's worth at once, then steadily; each name for itself."""

from __future__ import annotations

import time

import pytest

from docproc.http.access import pace
from docproc.http.access.pace import Pace


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_a_minutes_worth_at_once_then_steadily(clock: list[float]) -> None:
    found = Pace()
    assert [found.take("a", 6) for _ in range(7)] == [0] * 6 + [10]
    clock[0] += 9.5
    assert found.take("a", 6) == 1
    clock[0] += 0.5
    assert [found.take("a", 6), found.take("a", 6)] == [0, 10]
    clock[0] += 3600  # never more than a minute's worth
    assert [found.take("a", 6) for _ in range(7)] == [0] * 6 + [10]


def test_each_name_has_its_own(clock: list[float]) -> None:
    found = Pace()
    assert found.take("a", 1) == 0 and found.take("a", 1) == 60 and found.take("b", 1) == 0


def test_names_are_not_kept_for_ever(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "MOST_KEPT", 3)
    found = Pace()
    for name in "abcde":
        found.take(name, 1)
    assert len(found._left) == 3
