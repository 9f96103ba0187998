"""Comparing answers: what a case expects, what a version answered, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Difference:
    """A place in the answer, as in `documents[0].extracted_data.total_amount`; None: it is not there."""

    place: str
    expected: Any
    answered: Any

    def __str__(self) -> str:
        return f"{self.place}: expected {self.expected!r}, answered {self.answered!r}"


def differences(expected: Any, answered: Any, place: str = "") -> list[Difference]:
    """Every value that differs, in the order of what is expected."""
    if isinstance(expected, Mapping) and isinstance(answered, Mapping):
        names = [*expected, *(name for name in answered if name not in expected)]
        return [
            found
            for name in names
            for found in differences(expected.get(name), answered.get(name), f"{place}.{name}".lstrip("."))
        ]
    if _is_list(expected) and _is_list(answered):
        most = max(len(expected), len(answered))
        return [
            found
            for at in range(most)
            for found in differences(_at(expected, at), _at(answered, at), f"{place}[{at}]")
        ]
    return [] if expected == answered else [Difference(place or "answer", expected, answered)]


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _at(values: Sequence[Any], at: int) -> Any:
    return values[at] if at < len(values) else None
