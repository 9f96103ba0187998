"""What handled messages send: gathered over a transaction, inserted as rows at its end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy.engine import Row

from docproc.engine.component import Emission
from docproc.engine.message import PipelineMessage
from docproc.engine.store.columns import as_uuid
from docproc.engine.store.completing import Ending
from docproc.engine.store.fan_in import Join
from docproc.engine.store.standing import Standing
from docproc.engine.transport import Copy, Topology
from docproc.engine.workflow.routing import JoinArrival, Routed, Router


@dataclass(frozen=True, slots=True)
class Handled:
    """A message that a component has handled, and what came of it."""

    message: PipelineMessage
    emissions: Sequence[Emission] = ()
    # The join that it completed, where its stage is one.
    fired: Join | None = None


@dataclass(slots=True)
class Sending:
    """What one transaction sends, gathered over all the messages it handles."""

    # To be written as rows; those in `onward` only if nobody goes on with them in this very transaction.
    routed: list[Routed] = field(default_factory=list)
    onward: list[Routed] = field(default_factory=list)
    # Units that arrived at joins that only count, not counted yet.
    arrivals: list[tuple[Router, JoinArrival]] = field(default_factory=list)
    standings: dict[Standing, set[UUID]] = field(default_factory=lambda: defaultdict(set))
    copies: list[Copy] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)

    def stands(self, standing: Standing | None, request_id: UUID) -> None:
        """By what is sent, the request has this status."""
        if standing is not None:
            self.standings[standing].add(request_id)

    def add(self, other: Sending) -> None:
        self.routed += other.routed
        self.onward += other.onward
        self.arrivals += other.arrivals
        self.copies += other.copies
        self.endings += other.endings
        for standing, request_ids in other.standings.items():
            self.standings[standing] |= request_ids


def copy_of(row: Row[Any], topology: Topology) -> Copy:
    """The copy of a row that was read back from the database."""
    # A queue this process does not know (another system's) is addressed by its name.
    exchange, routing_key = topology.bindings.get(row.queue, ("", row.queue))
    return Copy(as_uuid(row.id), exchange, routing_key, row.queue, row.band, row.body.encode())
