"""Assignment: silent holders lose their tasks, and, where it is switched on, tasks are offered to people."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import App
from docproc.engine.message import utc_now
from docproc.engine.store import duties
from docproc.engine.store.session import is_passing
from docproc.harmless import text_for_logs
from docproc.people import matching
from docproc.people.kinds import TaskKinds
from docproc.people.store import assigning
from docproc.people.store.assigning import Candidate, Lost

log = structlog.get_logger(__name__)

DUTY = "assigning"
DUTY_SECONDS = 5.0
ROUND_SECONDS = 1.0
# Between two rounds, however much happens.
SHORTEST_SECONDS = 0.2


class Assignment:
    """Any number may run; one at a time assigns. Two at once would do no harm: the database decides."""

    def __init__(self, application: App, now: Callable[[], datetime] = utc_now) -> None:
        self.settings = application.settings
        self.store = application.store
        self.kinds = TaskKinds.of(application)
        self.worker_id = application.worker_id
        self.now = now
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Somebody is free, or something has come back."""
        self._woken.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                if await self._is_mine():
                    await self.round()
            except Exception as error:  # the boundary: the next round begins anew
                if is_passing(error):
                    log.warning("assignment_waits", error=text_for_logs(error))
                else:
                    log.exception("assignment_failed")
            await self._pause()

    async def leave(self) -> None:
        async with self.store.claiming() as connection:
            await duties.give_up(connection, DUTY, self.worker_id)

    async def _is_mine(self) -> bool:
        async with self.store.claiming() as connection:
            return await duties.hold(connection, self.store, DUTY, self.worker_id, DUTY_SECONDS)

    async def _pause(self) -> None:
        self._woken.clear()
        await asyncio.sleep(SHORTEST_SECONDS)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), ROUND_SECONDS - SHORTEST_SECONDS)

    async def round(self) -> int:
        """Take back what is silent, then offer what waits; returns how many tasks were offered."""
        for lost in await self.take_back():
            log.info("task_lost", task_id=str(lost.task_id), operator=lost.operator, reason=lost.reason)
        return await self.offer() if self.settings.backoffice_push else 0  # `auto` is true, too

    async def take_back(self) -> list[Lost]:
        now = self.now()
        async with self.store.writing() as session:
            await assigning.recall(session)
            silent = await assigning.free_silent(session, now, self.settings.backoffice_task_timeout_seconds)
            unaccepted = await assigning.free_unaccepted(
                session, now, self.settings.backoffice_accept_seconds
            )
            inactive = await assigning.free_inactive(session, now)
            await assigning.mend_current(session)
        return silent + unaccepted + inactive

    async def _candidates(self, session: AsyncSession, now: datetime) -> list[Candidate]:
        """`auto`: of tenants with several people present. One alone takes the next task anyway."""
        if self.settings.backoffice_push is True:
            return await assigning.candidates(session, now)
        tenants = await assigning.busy_tenants(session, now)
        if not tenants:
            return []
        return [one for one in await assigning.candidates(session, now) if one.tenant_id in tenants]

    async def offer(self) -> int:
        now = self.now()
        async with self.store.reading() as session:
            people = await self._candidates(session, now)
            ready = [one for one in people if matching.is_ready(one, now)]
            found = await assigning.waiting_for(session, ready)
        # Of an application that this process does not load, nobody could answer them here.
        waiting = [one for one in found if one.task_type in self.kinds]
        if not waiting:
            return 0
        # In a thread: with hundreds of people it takes long enough to make others wait.
        pairs = await asyncio.to_thread(matching.match, waiting, people, now, self.kinds.usual_seconds)
        async with self.store.writing() as session:
            return await assigning.offer(session, pairs, now)
