"""Runner: takes deliveries for one component and has them handled."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from uuid import UUID

import structlog

from docproc.engine.component import BaseComponent, JoinComponent, Where
from docproc.engine.message import PipelineMessage
from docproc.engine.running import dead_letters, foreign
from docproc.engine.running.chaining import Chain
from docproc.engine.running.handler import Handler
from docproc.engine.running.outbox import Outbox
from docproc.engine.running.relay import Relay
from docproc.engine.running.unqueued import Unqueued
from docproc.engine.running.work import MiddlewareContext, Policies, Work, wrap
from docproc.engine.store import messages
from docproc.engine.store.session import until_passed
from docproc.engine.transport import Copy, Delivery, Transport
from docproc.engine.workflow.plan import Step
from docproc.errors import MessageError, PermanentError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)


# Choosing must be quick; where it is not, something hangs that the stage's own time limit will end.
CHOOSE_SECONDS = 10.0


class Runner:
    """One component in one process."""

    def __init__(
        self,
        component: BaseComponent,
        transport: Transport,
        outbox: Outbox,
        relay: Relay,
        policies: Policies,
        chain: Chain,
        *,
        prefetch: int,
    ) -> None:
        self.component = component
        self.transport = transport
        self.outbox = outbox
        self.relay = relay
        self.store = outbox.store
        # Light work goes faster in few large groups than in many small ones; heavy work fills all children.
        is_light = component.batch > 1 and component.runs_in is not Where.PROCESSES
        self.slots = 1 if is_light and not transport.has_broker else prefetch
        self.chooses = component.chooses and not transport.has_broker
        self.batch = 1 if component.chooses and transport.has_broker else component.batch
        leases = component.exclusive or not transport.has_broker
        handler = Handler(component, self.store, outbox, relay, chain, policies.log_fields, leases=leases)
        self.may_group = self.batch > 1 and not handler.streams
        # Exclusive work that is under way; a message may be in it twice for a moment: its retry has come.
        self._at_work: list[UUID] = []
        context = MiddlewareContext(component, transport, outbox, relay, handler, policies.log_fields)
        middleware = [one.create(context) for one in policies.middleware]
        self.handle = wrap(handler, middleware)
        chain.add(component, middleware)
        if chain.is_on and component.waits:
            component.handle_at_once = Unqueued(handler, middleware, self._step)

    async def run(self) -> None:
        """Until the transport is told to stop; then what is in flight finishes."""
        groups = self.transport.consume(self.component.input_queue, batch=self.batch, slots=self.slots)
        free = asyncio.Semaphore(self.slots)
        async with asyncio.TaskGroup() as tasks:
            while True:
                # A slot first, then a group: what arrives while all slots are busy makes the next one larger.
                await free.acquire()
                deliveries = await anext(groups, None)
                if deliveries is None:
                    return
                task = tasks.create_task(self._work_off(deliveries))
                task.add_done_callback(lambda _: free.release())

    async def _work_off(self, deliveries: Sequence[Delivery]) -> None:
        works = await self._prepare(deliveries)
        try:
            await self._handle(works)
        finally:
            for work in works:
                self._done(work)
        await self.transport.settle(deliveries)

    async def _handle(self, works: list[Work]) -> None:
        if self.chooses and len(works) > 1:
            works = await self._chosen(works)
        # A message that failed before runs alone: it must not take a group down with it again.
        group = [w for w in works if w.message.attempt == 1 and not w.is_foreign] if self.may_group else []
        if len(group) > 1:
            await self.handle(group)
        for work in works:
            if work.outcome is None:
                await self.handle([work])

    async def _chosen(self, works: Sequence[Work]) -> list[Work]:
        """What the component wants to do together, as far as it is first in line; the rest goes back."""
        fresh = [work.message for work in works if work.message.attempt == 1]
        ids = set()
        if works[0].message.attempt == 1:
            try:
                async with asyncio.timeout(CHOOSE_SECONDS):
                    ids = {message.message_id for message in await self.component.choose(fresh)}
            except Exception as error:  # noqa: BLE001 # one is poison: alone, its failure is dealt with
                log.warning(
                    "choice_failed", component=self.component.component_name, error=text_for_logs(error)
                )
        chosen = [work for work in works if work.message.message_id in ids] or [works[0]]
        left = [work.delivery for work in works if work not in chosen]
        if left:
            await until_passed(lambda: self.transport.give_back(left))
        return chosen

    async def _prepare(self, deliveries: Sequence[Delivery]) -> list[Work]:
        """Decode, and leave out what was handled before."""
        works: list[Work] = []
        for delivery in deliveries:
            try:
                message = (
                    PipelineMessage.parse(delivery.body)
                    if delivery.is_own
                    else self.component.decode(delivery)
                )
                works.append(Work(message, delivery, self.component.component_name))
            except MessageError as error:
                log.error("message_unreadable", queue=delivery.queue, error=text_for_logs(error))
                await self._bury_raw(delivery, error)
        # Two copies of one message in one group would be handled twice under one claim.
        works = list({work.message.message_id: work for work in works}.values())
        if self.transport.has_broker:
            works = await self._still_pending(works)
        for work in works:
            await until_passed(partial(self._complete, work))
        return works

    async def _bury_raw(self, delivery: Delivery, error: MessageError) -> None:
        await until_passed(lambda: dead_letters.bury_raw(self.outbox, delivery, error))

    async def _still_pending(self, works: Sequence[Work]) -> list[Work]:
        # What another system writes is taken in where a component is made for it; elsewhere only rows count.
        own = [work for work in works if work.delivery.is_own or not self.component.foreign]
        rows = await self._read_pending([work.message.message_id for work in own]) if own else {}
        found = [work for work in works if work not in own]
        for work in found:
            work.is_foreign = True
        put_back = []
        for work in own:
            row = rows.get(work.message.message_id)
            if row is None:
                if await self._is_foreign_unit(work):
                    found.append(work)
                continue
            delivery = work.delivery
            if delivery.band is not None and row.band < delivery.band:
                put_back.append(self._copy(delivery, row))
                continue
            delivery.attempt, delivery.cursor, delivery.band = row.attempt, row.cursor, row.band
            if self.component.exclusive and not await self._lease(work.message.message_id):
                continue  # another worker is at it; if it dies, the row is published again
            found.append(work)
        await self.relay.publish(put_back)
        return found

    async def _is_foreign_unit(self, work: Work) -> bool:
        """Without a row, a copy of ours was handled before. What others wrote may be new: a unit for a join
        is taken in, anything else is not dropped unseen."""
        delivery, message = work.delivery, work.message
        if delivery.is_own:
            return False
        if isinstance(self.component, JoinComponent):
            unit = await until_passed(lambda: foreign.unit_for_join(self.outbox, delivery, message))
            if unit is not None:
                work.message, work.is_foreign = unit, True
                return True
        if await until_passed(lambda: dead_letters.bury_unknown(self.outbox, delivery, message)):
            log.error("message_unknown", queue=delivery.queue, message_id=str(message.message_id))
        return False

    def _copy(self, delivery: Delivery, row: messages.Pending) -> Copy:
        """The request became less urgent after this copy was sent: a new one waits at its proper place."""
        exchange, key = self.outbox.topology.bindings.get(delivery.queue, ("", delivery.queue))
        return Copy(row.id, exchange, key, delivery.queue, row.band, delivery.body)

    async def _read_pending(self, ids: Sequence[UUID]) -> dict[UUID, messages.Pending]:
        async def read() -> dict[UUID, messages.Pending]:
            async with self.store.reading() as session:
                return await messages.pending(session, self.store.dialect, ids)

        return await until_passed(read)

    async def _lease(self, message_id: UUID) -> bool:
        """False while somebody works on it: here, too. A broker whose connection was lost, or who waited too
        long for an acknowledgement, delivers again what this very process has not finished."""
        anew = message_id not in self._at_work

        async def lease() -> bool:
            async with self.store.claiming_once() as connection:
                return await messages.lease_one(connection, message_id, self.outbox.worker_id, anew=anew)

        self._at_work.append(message_id)  # before anything is awaited: two copies may come at the same time
        try:
            taken = await until_passed(lease)
        except BaseException:
            self._at_work.remove(message_id)
            raise
        if not taken:
            self._at_work.remove(message_id)
        return taken

    def _done(self, work: Work) -> None:
        if work.message.message_id in self._at_work:
            self._at_work.remove(work.message.message_id)

    async def _complete(self, work: Work) -> None:
        """The row's attempt, cursor and band, and the stage's settings."""
        delivery, message = work.delivery, work.message
        work.cursor = delivery.cursor or 0
        known = {"attempt": delivery.attempt, "priority": delivery.band}  # what it emits is as urgent
        changed = {k: v for k, v in known.items() if v is not None and v != getattr(message, k)}
        if changed:
            work.message = message.model_copy(update=changed)
        work.step = await self._step(work.message)

    async def _step(self, message: PipelineMessage) -> Step | None:
        """None for a message outside any flow, or of a flow that is unknown here: handling says so."""
        if not message.current_stage:
            return None
        try:
            router = await self.outbox.versions.router(message)
        except PermanentError:
            return None
        return router.plan.steps.get(message.current_stage)
