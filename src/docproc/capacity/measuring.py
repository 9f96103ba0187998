"""Measuring: the service times of stages, from the events that handled requests left in the database."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.capacity.calibration import RequestKind, ServiceTime, StageTimes
from docproc.engine.component_spec import REQUEST_UNIT
from docproc.engine.store.tables import Event, Request
from docproc.engine.workflow.plan import Plan
from docproc.errors import UsageError

# Databases limit how many parameters a statement has.
_MOST_REQUESTS = 500


async def measure(session: AsyncSession, plan: Plan, ids: Collection[UUID]) -> RequestKind:
    """What these requests, all of one flow and one kind, took; raises UsageError where none was completed.

    They should have been alone on the machine: a busy worker makes others' messages wait, and what a message
    waits for a processor counts as its work.
    """
    chosen = list(ids)[:_MOST_REQUESTS]
    completed = await _completed(session, chosen)
    if not completed:
        raise UsageError(
            "no request was completed, so nothing was measured",
            remedy="Try the files with `docproc run` first",
        )
    times: dict[str, list[float]] = defaultdict(list)
    busy: dict[UUID, float] = defaultdict(float)
    query = select(Event.request_id, Event.stage, Event.busy_seconds).where(
        Event.request_id.in_(chosen), Event.kind == "handled", Event.outcome == "done"
    )
    for row in await session.execute(query):
        if row.stage in plan.steps and row.busy_seconds is not None and row.request_id in completed:
            times[row.stage].append(row.busy_seconds)
            busy[row.request_id] += row.busy_seconds
    stages = tuple(
        StageTimes(
            stage=name, component=step.component.name, unit=step.unit, time=ServiceTime.of(times[name])
        )
        for name, step in plan.steps.items()
        if times.get(name)
    )
    return RequestKind(
        requests=len(completed),
        units=_units(plan, times, len(completed)),
        stages=stages,
        overhead_seconds=_overhead(completed, busy),
    )


async def _completed(session: AsyncSession, ids: list[UUID]) -> dict[UUID, float]:
    """Seconds from acceptance to the answer."""
    query = select(Request.id, Request.created_at, Request.completed_at).where(
        Request.id.in_(ids), Request.completed_at.is_not(None)
    )
    return {row.id: _seconds(row.created_at, row.completed_at) for row in await session.execute(query)}


def _seconds(began: datetime, ended: datetime) -> float:
    return (ended - began).total_seconds()


def _units(plan: Plan, times: dict[str, list[float]], requests: int) -> dict[str, float]:
    """How many units of each kind a request had: as many as the busiest stage of that unit was asked for."""
    found: dict[str, float] = {}
    for name, step in plan.steps.items():
        if step.unit != REQUEST_UNIT and times.get(name):
            found[step.unit] = max(found.get(step.unit, 0.0), len(times[name]) / requests)
    return found


def _overhead(completed: dict[UUID, float], busy: dict[UUID, float]) -> float:
    """What is left of a request's time when its work is taken off; units may have been worked on in parallel,
    and then nothing is left."""
    return max(0.0, statistics.median(seconds - busy[key] for key, seconds in completed.items()))
