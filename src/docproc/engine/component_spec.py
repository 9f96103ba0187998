"""What routing must know of a component without importing it. Every process reads it: it imports nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# The unit of work that every flow begins and ends with.
REQUEST_UNIT: Final = "request"


@dataclass(frozen=True, slots=True)
class ComponentSpec:
    """What routing must know of a component without importing it; an application's manifest declares it.

    The class says the same in its attributes, which are checked against this when it is loaded.
    """

    name: str
    # "package.module:Class"
    path: str = ""
    # The queue it consumes (`q.<name>` when empty) and the key that leads there (its name when empty).
    queue: str = ""
    routing_key: str | None = None
    takes: str | tuple[str, ...] | None = None
    gives: str | None = None
    status: str | None = None
    # True: a JoinComponent, and the name under which it counts.
    joins: bool = False
    collects: str | None = None
    # For a join: whether all it does with a unit is count it, so that whoever sends the unit there counts it
    # in its own transaction. The path of a function (workflow, stage, message) -> bool where it depends.
    only_counts: bool | str = False
    # For a join: arriving messages are kept in `fan_in_arrivals.body`.
    keeps_bodies: bool = False
    asks_people: bool = False
    # How a transport that keeps streams names those of its queue, with the places {tenant} and {priority}
    # (0 is the most urgent); None: as the transport likes.
    streams: str | None = None

    @property
    def input_queue(self) -> str:
        return self.queue or f"q.{self.name}"
