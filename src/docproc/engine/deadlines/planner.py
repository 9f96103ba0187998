"""Planner: keeps the order of work right, request by request, for all workers at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

import structlog
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.deadlines.forecast import Forecaster, View
from docproc.engine.deadlines.scaling import ScalingSignal
from docproc.engine.message import utc_now
from docproc.engine.running import bands
from docproc.engine.running.relay import Relay
from docproc.engine.store import duties, events
from docproc.engine.store.session import is_passing
from docproc.engine.store.tables import Request
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

DUTY = "planning"
PLAN_SECONDS = 1.0
DUTY_SECONDS = 5.0


class Planner:
    """Any number may run; one at a time plans, so that two views of the backlog do not fight."""

    def __init__(self, forecaster: Forecaster, relay: Relay, now: Callable[[], datetime] = utc_now) -> None:
        self.forecaster = forecaster
        self.relay = relay
        self.store = relay.store
        self.now = now
        self.scaling = ScalingSignal(relay.store)
        self._planned: View | None = None

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                if await self._is_mine():
                    await self.plan()
                else:
                    self.scaling.withdraw()
            except Exception as error:
                if not is_passing(error):
                    raise
                log.warning("planner_waits", error=text_for_logs(error))
            await asyncio.sleep(PLAN_SECONDS)

    async def leave(self) -> None:
        async with self.store.claiming() as connection:
            await duties.give_up(connection, DUTY, self.relay.worker_id)

    async def _is_mine(self) -> bool:
        async with self.store.claiming() as connection:
            return await duties.hold(connection, self.store, DUTY, self.relay.worker_id, DUTY_SECONDS)

    async def plan(self) -> None:
        """Put back what cannot make its deadline, bring forward what can again."""
        view = await self.forecaster.view()
        if view is self._planned:  # nothing newer is known: deciding again would only undo what others did
            return
        # In a thread: with thousands of requests it takes long enough to make answers late.
        wanted = await asyncio.to_thread(_bands, view, self.now())
        changed = {
            one.request_id: wanted[one.request_id]
            for one in view.waiting
            if wanted[one.request_id] != one.band
        }
        if changed:
            async with self.store.writing() as session:
                await _record(session, changed)
        # Messages sent while a request was being moved still have its old band.
        moved = {
            one.request_id: wanted[one.request_id]
            for one in view.waiting
            if one.priority != wanted[one.request_id]
        }
        await bands.apply(self.relay, {**moved, **changed})
        await self.scaling.publish(view)
        self._planned = view


def _bands(view: View, now: datetime) -> dict[UUID, int]:
    hopeless = view.out_of_reach(now)
    return {
        one.request_id: bands.band_of(
            one.priority,
            is_late=one.is_late,
            is_escalated=one.is_escalated,
            is_out_of_reach=one.request_id in hopeless,
        )
        for one in view.waiting
    }


async def _record(session: AsyncSession, changed: dict[UUID, int]) -> None:
    """On the requests, with an event each; those that somebody is just finishing are left alone."""
    query = select(Request.id, Request.tenant_id, Request.band).where(Request.id.in_(changed))
    locked = list(await session.execute(query.order_by(Request.id).with_for_update(skip_locked=True)))
    notes = []
    for row in locked:
        band = changed[row.id]
        if band == row.band:
            continue
        await session.execute(
            update(Request)
            .where(Request.id == row.id)
            .values(band=band)
            .execution_options(synchronize_session=False)
        )
        why = "lowered" if band < row.band else "raised"
        notes.append(events.Event(row.id, "band", tenant_id=row.tenant_id, outcome=why, data={"band": band}))
    await events.record(session, notes)
