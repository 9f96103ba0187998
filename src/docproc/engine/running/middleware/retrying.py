"""Failures: a group is redone one by one; a message is delayed, or buried when its retries are exhausted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from docproc.engine.component import BaseComponent
from docproc.engine.running import dead_letters, retry
from docproc.engine.running.handler import Handler
from docproc.engine.running.outbox import Outbox
from docproc.engine.running.relay import Relay
from docproc.engine.running.work import Handle, Middleware, MiddlewareContext, Outcome, Work
from docproc.engine.store import events, messages
from docproc.engine.store.messages import AlreadyHandled, Outgoing
from docproc.engine.store.session import is_passing
from docproc.engine.store.tables import MessageState
from docproc.engine.workflow.definition import Retry
from docproc.harmless import text_for_events

DEFAULT_RETRY = Retry()


class Retrying(Middleware):
    """The runner's boundary: here, and only here, any exception of a component is caught."""

    place = 400

    def __init__(
        self,
        component: BaseComponent,
        outbox: Outbox,
        relay: Relay,
        handler: Handler,
        wake_delayed: Callable[[str], None],
    ) -> None:
        self.component = component
        self.outbox = outbox
        self.relay = relay
        self.handler = handler
        self.wake_delayed = wake_delayed

    @classmethod
    def create(cls, context: MiddlewareContext) -> Self:
        return cls(
            context.component,
            context.outbox,
            context.relay,
            context.handler,
            context.transport.wake_delayed,
        )

    async def __call__(self, works: Sequence[Work], handle: Handle) -> None:
        try:
            return await handle(works)
        except AlreadyHandled:
            return works[0].ended(Outcome.REPEATED)
        except Exception as error:
            if is_passing(error):
                raise
            if len(works) == 1:
                return await self._failed(works[0], error)
        for work in works:  # the group was rolled back: find the one that failed
            await self([work], handle)

    async def _failed(self, work: Work, error: Exception) -> None:
        work.error = error
        policy = work.step.stage.retry if work.step else DEFAULT_RETRY
        decision = retry.decide(error, work.message.attempt, policy)
        try:
            if decision.delay is None:
                await self._bury(work, error)
            else:
                await self._delay(work, error, decision.delay, counts=decision.counts_attempt)
        except AlreadyHandled:
            work.ended(Outcome.REPEATED)

    async def _bury(self, work: Work, error: Exception) -> None:
        claim = self.handler.claim(work)
        copies = await dead_letters.bury(work, error, self.component, self.outbox, claim)
        await self.relay.publish(copies)

    async def _delay(self, work: Work, error: Exception, seconds: float, *, counts: bool) -> None:
        """Set the row aside until it is due; nothing is held, nobody sleeps."""
        message = work.message
        store = self.outbox.store
        if work.is_foreign:
            await self._adopt(work)
        async with store.writing() as session:
            found = await messages.delay(
                session,
                store,
                message.message_id,
                seconds=seconds,
                attempt=message.attempt + (1 if counts else 0),
                error=dead_letters.attempt_note(work, error),
                worker_id=None if work.is_foreign else self.handler.lease,
            )
            if not found:
                raise AlreadyHandled(message.message_id)
            work.ended(Outcome.RETRY)
            note = work.event(
                self.outbox.worker_id, {"error": text_for_events(error), "delay_s": round(seconds, 3)}
            )
            await events.record(session, [note])
        self.wake_delayed(work.delivery.queue)
        self.relay.nudge()

    async def _adopt(self, work: Work) -> None:
        """Another system's message that has to wait becomes one of ours, so that its queue can go on."""
        async with self.outbox.store.handling(self.handler.claim(work)) as session:
            outgoing = [Outgoing.of(work.message, work.delivery.queue)]
            await messages.send(session, outgoing, state=MessageState.DELAYED, worker_id=None)
