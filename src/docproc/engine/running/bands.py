"""Bands: how urgent messages are now. Escalation raises them; a deadline out of reach lowers them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from uuid import UUID

from docproc.engine.running.relay import Relay
from docproc.engine.running.sending import copy_of
from docproc.engine.store import messages

MOST_URGENT = 9
# A request that cannot be done in time must not keep others from it, but what is done still fills its answer.
OUT_OF_REACH = 1
# Its answer is out: the rest comes as an amendment, when there is room.
AFTER_DEADLINE = 0


def band_of(priority: int, *, is_late: bool, is_escalated: bool, is_out_of_reach: bool) -> int:
    """How urgent a request is; `priority` is what the client asked for."""
    if is_late:
        return AFTER_DEADLINE
    if is_out_of_reach:
        return min(OUT_OF_REACH, priority)
    return MOST_URGENT if is_escalated else priority


def when_escalated(band: int, priority: int) -> int:
    """Near its deadline a request goes first, unless it was put back because it cannot make it."""
    return band if band < priority else MOST_URGENT


async def apply(relay: Relay, bands: Mapping[UUID, int]) -> None:
    """Give the messages of these requests their band.

    A broker cannot change the copies it has: of what becomes more urgent it gets a second copy, and whichever
    comes later finds no row; what becomes less urgent is sent back by whoever receives it (runner.py).
    """
    requests: dict[int, list[UUID]] = defaultdict(list)
    for request_id, band in bands.items():
        requests[band].append(request_id)
    for band, ids in requests.items():
        async with relay.store.claiming() as connection:
            dialect = relay.store.dialect
            raised = await messages.reband(connection, dialect, ids, band, higher=True)
            await messages.reband(connection, dialect, ids, band, higher=False)
        await relay.hand_over([copy_of(row, relay.topology) for row in raised])
