"""Standing: a status that a request may take, and those it may come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Standing:
    """A status of a flow. The flow's order gives the ranks: a request only ever moves forward."""

    status: str
    # The statuses of the same flow that come before it.
    after: tuple[str, ...]

    @property
    def rank(self) -> int:
        return len(self.after)
