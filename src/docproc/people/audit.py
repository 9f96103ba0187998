"""What people did, as it is told later: changes of single things, and how often something was otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Change = dict[str, Any]


def change(what: str, before: Any, after: Any) -> Change:
    """Of one thing that was spoken of, before and after."""
    return {"what": what, "before": before, "after": after}


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of `number` were otherwise, of what (a type of document, say)."""

    of: str
    what: str
    number: int
    other: int

    @property
    def percent(self) -> float:
        return 100 * self.other / self.number if self.number else 0.0
