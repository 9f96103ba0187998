"""Branches: where several stages lead into one, a unit waits there until all of them have brought it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid5

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import PipelineMessage
from docproc.engine.running.sending import Sending
from docproc.engine.store import fan_in
from docproc.engine.workflow.routing import BranchArrival, JoinArrival, Route, Routed, Router


async def meet(session: AsyncSession, routes: list[tuple[Router, Route]], sending: Sending) -> None:
    """Let branches of a unit wait for each other; whoever comes last goes on with what all found."""
    while routes:
        sending.onward.extend(route for _, route in routes if isinstance(route, Routed))
        sending.arrivals.extend((router, r) for router, r in routes if isinstance(r, JoinArrival))
        waiting = [(router, r) for router, r in routes if isinstance(r, BranchArrival)]
        routes = []
        if not waiting:
            return
        for join in await fan_in.arrive(session, [_at_meeting(arrival) for _, arrival in waiting]):
            router, arrival = waiting[join.completed_by]
            merged = await _merge(session, arrival, join)
            onward = router.into(arrival.step, merged, uuid5(join.id, str(join.generation)))
            routes.extend((router, route) for route in onward)


async def _merge(session: AsyncSession, arrival: BranchArrival, join: fan_in.Join) -> PipelineMessage:
    """One message for the unit: the branches' payloads on top of each other, in the order of `after:`."""
    found = await fan_in.bodies(session, join)
    payload: dict[str, Any] = {}
    for branch in arrival.step.previous:
        if branch in found:
            payload |= found[branch].payload
    return arrival.message.model_copy(update={"payload": payload, "generation": join.generation})


def _at_meeting(arrival: BranchArrival) -> fan_in.Arrival:
    """What is counted is the branches: the unit itself is the group that is complete when all have come."""
    message, step = arrival.message, arrival.step
    like = fan_in.Arrival.of(message, step.branch_join_name, body=True)
    return replace(like, group_key=message.unit_key, unit_key=arrival.branch, expected=len(step.previous))
