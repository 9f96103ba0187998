"""The dispatcher: publishes envelopes, takes answers in, and ends what is late, beside the component.

All of it can be repeated, in any number of processes at once: rows decide.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import structlog

from docproc.apps.orchestrator.calls import adopting, rows
from docproc.apps.orchestrator.calls.envelopes import outgoing as outgoing_of
from docproc.apps.orchestrator.services.wire import Outgoing, ServiceWire, WireError
from docproc.apps.orchestrator.tables import Call
from docproc.engine.ending import end
from docproc.engine.message import utc_now
from docproc.engine.store.messages import Outgoing as Row
from docproc.engine.store.session import Store, is_passing
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

# How late a timeout may be seen that another process's call set, and how many are dealt with at once.
LOOK_SECONDS = 1.0
BATCH = 500
_PAUSE_SECONDS = 0.5
# When an envelope is out, its row says so this much later: most calls are over by then, and nothing is
# written. Others take a call for one that was never sent when its row says nothing after so long; what a
# process was killed with goes out in time all the same (takeover within five seconds).
MARK_SECONDS = 0.25
_YOUNG_SECONDS = 2.5


class Dispatcher:
    """One per process: `start` it before the first call and `stop` it after the last."""

    def __init__(
        self,
        store: Store,
        wire: ServiceWire,
        wake: Callable[[Iterable[str]], None],
        post: adopting.Post,
        resend_seconds: float,
    ) -> None:
        self._store = store
        self._wire = wire
        self._wake = wake
        self._post = post
        self._resend_seconds = resend_seconds
        self._to_publish: list[Outgoing] = []
        self._news = asyncio.Event()
        self._timers = asyncio.Event()
        self._told_late: set[tuple[UUID, int]] = set()
        # Calls whose envelopes are out, and whose rows do not say so yet.
        self._unmarked: dict[UUID, None] = {}
        self._has_unmarked = asyncio.Event()
        # Given answers, ends the calls it can end at once and returns the rest (hearing.py).
        self.hear: Callable[[Sequence[bytes]], Awaitable[Sequence[bytes]]] = _leave_all
        self._jobs: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        with suppress(WireError):  # it is tried again; calls wait in their rows meanwhile
            await self._wire.open()
        for job in (self._publish, self._mark, self._take_answers, self._watch_time, self._send_again):
            self._jobs.append(asyncio.create_task(_kept_going(job), name=job.__name__.strip("_")))

    async def stop(self) -> None:
        await end(self._jobs)
        await self._wire.close()

    def opened(self, outgoing: Sequence[Outgoing]) -> None:
        """These calls were committed: their envelopes may go out. Called after the commit, never waits."""
        self._to_publish += outgoing
        for one in outgoing:  # of another attempt, whose envelope is not out yet
            self._unmarked.pop(one.call_id, None)
        self._news.set()
        self._timers.set()

    async def _publish(self) -> None:
        """Whatever was opened while the last group was on its way goes together."""
        while True:
            await self._news.wait()
            self._news.clear()
            group, self._to_publish = self._to_publish, []
            if group:
                await self._publish_group(group)

    async def _publish_group(self, group: Sequence[Outgoing]) -> None:
        try:
            await self._wire.publish(group)
        except WireError as error:
            # Their rows stay unsent, and are found by whoever looks for those.
            log.warning("services_out_of_reach", envelopes=len(group), problem=text_for_logs(error))
            return
        if not self._wire.is_table:
            self._unmarked |= dict.fromkeys(one.call_id for one in group)
            self._has_unmarked.set()

    def ended(self, call_id: UUID) -> None:
        """The call is over: nothing has to be known of its envelope any more."""
        self._unmarked.pop(call_id, None)

    async def _mark(self) -> None:
        """Beside publishing, which goes on whatever the database does."""
        while True:
            if not self._unmarked:
                self._has_unmarked.clear()
                await self._has_unmarked.wait()
            await asyncio.sleep(MARK_SECONDS)
            await self._mark_now()

    async def _mark_now(self) -> None:
        marked = list(self._unmarked)
        if marked:
            async with self._store.claiming_once() as connection:
                await rows.mark_sent(connection, marked)
        for call_id in marked:
            self._unmarked.pop(call_id, None)

    async def _take_answers(self) -> None:
        async for incoming in self._wire.answers():
            left = await self.hear([one.body for one in incoming])
            if left:
                async with self._store.writing() as session:
                    await adopting.adopt(session, left, post=self._post)
            await self._wire.settle(incoming)

    async def _watch_time(self) -> None:
        while True:
            self._timers.clear()
            async with self._store.reading() as session:
                late = await rows.overdue(session, utc_now(), BATCH)
                nearest = None if late else await rows.next_timeout(session)
            # Until they are handled they stay overdue; those of a task that failed, until it is resumed.
            told = {(call.id, call.fencing) for call in late}
            fresh = [call for call in late if (call.id, call.fencing) not in self._told_late]
            self._told_late = told
            if fresh:
                await self._end_late(fresh)
                continue
            wait = LOOK_SECONDS
            if nearest is not None:
                wait = min(wait, max(0.005, (nearest - utc_now()).total_seconds()))
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._timers.wait()

    async def _end_late(self, late: Sequence[Call]) -> None:
        """Handled like an answer, by whichever process comes first."""
        timeouts = [
            adopting.answer_message(call, f"timeout:{call.fencing}", {adopting.TIMED_OUT: True})
            for call in late
        ]
        async with self._store.writing() as session:
            await adopting.send(session, [Row.of(message, adopting.QUEUE) for message in timeouts])
            # Whatever is decided, the next attempt has an envelope of its own.
            await self._wire.withdraw(session, [outgoing_of(call) for call in late])
        self._wake([adopting.QUEUE])

    async def _send_again(self) -> None:
        """What a crash left unsent, and what may be lost: published again, under the same number."""
        while not self._wire.is_table:
            lost_at = self._wire.take_loss()
            age = self._resend_seconds if lost_at is None else max(0.0, time.monotonic() - lost_at)
            while True:
                before = utc_now() - timedelta(seconds=age)
                async with self._store.reading() as session:
                    found = await rows.unsent(session, before, BATCH)
                # What was opened this very moment is on its way already, and what went out from here is out.
                young = utc_now() - timedelta(seconds=_YOUNG_SECONDS)
                found = [call for call in found if call.sent_at is not None or call.opened_at < young]
                if lost_at is None:
                    found = [call for call in found if call.id not in self._unmarked]
                if not found:
                    break
                await self._publish_group([outgoing_of(call) for call in found])
                await self._mark_now()  # else the same ones would be found again
                if len(found) < BATCH:
                    break
            await asyncio.sleep(LOOK_SECONDS)


async def _leave_all(bodies: Sequence[bytes]) -> Sequence[bytes]:
    return bodies


async def _kept_going(job: Callable[[], Awaitable[None]]) -> None:
    """A lost database or wire ends no job: it begins again."""
    while True:
        try:
            await job()
            return
        except WireError as error:
            log.warning("wire_lost", problem=text_for_logs(error))
        except Exception as error:
            if not is_passing(error):
                log.exception("dispatcher_failed")
            else:
                log.warning("dispatcher_waits", problem=text_for_logs(error))
        await asyncio.sleep(_PAUSE_SECONDS)
