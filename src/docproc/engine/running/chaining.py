"""Chaining: messages for light stages of this process are handled in the transaction that emits them.

As stream processors chain their operators: such a message needs no row of its own, no claim and no commit.
Its id, its event and its status are those it would have had. What fails is undone alone and written as a row,
so that its stage deals with it as always; the stage before is not touched.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from docproc.engine.component import BaseComponent, Where
from docproc.engine.message import utc_now
from docproc.engine.running.outbox import Outbox
from docproc.engine.running.performing import is_streaming, perform
from docproc.engine.running.sending import Sending
from docproc.engine.running.work import Handle, Middleware, Work, wrap
from docproc.engine.store import events
from docproc.engine.store.session import is_passing
from docproc.engine.transport import Delivery
from docproc.engine.workflow.routing import Routed
from docproc.errors import CutOffError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

# A transaction goes on with further stages for so long; what is left then takes its place in the queues,
# where more urgent work may wait.
CHAIN_SECONDS = 0.1
# A single stage that takes longer is not light, or hangs: everything is rolled back and done unchained.
STAGE_SECONDS = 1.0
# How long a stage is not chained after it failed there: failing twice each time would be a waste.
PAUSE_SECONDS = 1.0
# The middleware further in than `retrying` belongs to the handling itself; see Middleware.place.
BOUNDARY = 400


@dataclass(slots=True)
class Link:
    """A light component of this process, as others can go on with it."""

    component: BaseComponent
    # Wraps the handling, inside the transaction of the stage before.
    inside: Sequence[Middleware]
    # Middleware that looks at what happened. It is told after the commit: before, nothing has happened.
    told: Handle
    paused_until: float = 0.0

    @property
    def is_open(self) -> bool:
        return time.monotonic() >= self.paused_until

    def pause(self) -> None:
        self.paused_until = time.monotonic() + PAUSE_SECONDS


class Chain:
    """The light components of a process, by queue."""

    def __init__(self, outbox: Outbox, *, is_on: bool = True) -> None:
        self.outbox = outbox
        self.is_on = is_on
        self._links: dict[str, Link] = {}

    def add(self, component: BaseComponent, middleware: Sequence[Middleware]) -> None:
        """A component that this process runs, if others may go on with it in their transactions."""
        if self.is_on and is_light(component):
            inside = [one for one in middleware if one.place > BOUNDARY]
            outside = [one for one in middleware if one.place <= BOUNDARY]
            self._links[component.input_queue] = Link(component, inside, wrap(_nothing, outside))

    async def follow(self, session: AsyncSession, works: Sequence[Work], sending: Sending) -> list[Work]:
        """Go on with what `works` emitted, as far as it can be done here and now; returns what was done.

        The rest stays in `sending`, to be written.
        """
        done: list[Work] = []
        if not self._links or not _have_time(works):
            return done
        until = time.monotonic() + CHAIN_SECONDS
        while time.monotonic() < until:
            if chosen := self._choose(sending):
                done += await self._go_on(session, *chosen, sending)
            elif sending.arrivals:  # counted last: others may wait for these joins
                await self.outbox.count(session, sending)
            else:
                break
        return done

    async def tell(self, works: Sequence[Work]) -> None:
        """After the commit: logs, metrics and their like, for each component in its turn."""
        by_queue: dict[str, list[Work]] = {}
        for work in works:
            by_queue.setdefault(work.delivery.queue, []).append(work)
        for queue, done in by_queue.items():
            await self._links[queue].told(done)

    def _choose(self, sending: Sending) -> tuple[Link, list[Routed]] | None:
        """The next group for one component; taken out of what is to be sent."""
        first = next((routed for routed in sending.onward if self._link(routed)), None)
        link = self._link(first) if first else None
        if first is None or link is None:
            return None
        chosen = [r for r in sending.onward if r.queue == first.queue and self._link(r)]
        chosen = chosen[: link.component.batch]
        taken = {id(routed) for routed in chosen}
        sending.onward = [routed for routed in sending.onward if id(routed) not in taken]
        return link, chosen

    def _link(self, routed: Routed) -> Link | None:
        if routed.step is None or routed.step.stage.chain is False:
            return None
        link = self._links.get(routed.queue)
        return link if link and link.is_open else None

    async def _go_on(
        self, session: AsyncSession, link: Link, chosen: Sequence[Routed], sending: Sending
    ) -> list[Work]:
        """Handle these messages behind a savepoint; what fails is undone and written as rows instead."""
        name = link.component.component_name
        works = [
            Work(r.message, Delivery(r.queue, b"", r.message.message_id), name, step=r.step) for r in chosen
        ]
        if session.new or session.dirty or session.deleted:
            await session.flush()  # what the stages before did is not undone
        connection = await session.connection()
        await connection.exec_driver_sql("SAVEPOINT chained")
        promises, told = len(session.info.get("after_commit", ())), len(events.gather(session))
        try:
            async with asyncio.timeout(STAGE_SECONDS):
                with structlog.contextvars.bound_contextvars(component=name):
                    await wrap(partial(_perform_in, session, link.component), link.inside)(works)
                onward = await self.outbox.route(session, [work.handled for work in works])
        except Exception as error:
            if is_passing(error):
                raise
            link.pause()
            log.warning("chain_broken", component=name, messages=len(works), error=text_for_logs(error))
            await _undo(session, connection, promises, told, error)
            sending.onward += chosen
            return []
        await connection.exec_driver_sql("RELEASE SAVEPOINT chained")
        for routed in chosen:
            sending.stands(routed.standing, routed.message.request_id)
        sending.add(onward)
        return works


def is_light(component: BaseComponent) -> bool:
    """Whether others may wait for it: no models, no children, nothing that has to be done alone."""
    heavy = component.exclusive or component.foreign or component.chooses or is_streaming(component)
    return component.chains and component.batch > 1 and component.runs_in is Where.LOOP and not heavy


def _have_time(works: Sequence[Work]) -> bool:
    """Whether a chained stage, however slow, cannot use up the time limit of the stage that is charged."""
    limits = [work.timeout_seconds for work in works if work.timeout_seconds is not None]
    spent = (utc_now() - works[0].started_at).total_seconds()
    return not limits or spent + CHAIN_SECONDS + STAGE_SECONDS < min(limits)


async def _undo(
    session: AsyncSession, connection: AsyncConnection, promises: int, told: int, error: Exception
) -> None:
    """Back to the savepoint, with what was promised and told since then forgotten; where the connection is of
    no use any more, everything is begun anew."""
    try:
        session.expunge_all()  # it knows nothing of savepoints
        del session.info.setdefault("after_commit", [])[promises:]
        del events.gather(session)[told:]
        await connection.exec_driver_sql("ROLLBACK TO SAVEPOINT chained")
    except Exception as trouble:
        raise CutOffError(
            f"a chained stage was cut off in the middle of a statement: {text_for_logs(error)}",
            remedy="Nothing to do: it is repeated unchained",
        ) from trouble


async def _perform_in(session: AsyncSession, component: BaseComponent, works: Sequence[Work]) -> None:
    await perform(component, works, session)


async def _nothing(works: Sequence[Work]) -> None:
    """The handling is over."""
