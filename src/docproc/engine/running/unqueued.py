"""Unqueued messages: what a component hears from another system by itself, handled at once.

A component that `waits` takes other systems' answers in a task of its own. As a message like any other, such
an answer is written as a row, committed, published, taken from its queue, and removed by the transaction that
handles it. Handled at once it costs that last transaction only. It begins with a claim of the component's
own: a row of the application stands for the answer that is waited for, and whoever finds it still waiting may
end it. So the answer counts once, however often it comes.

As in a chain (chaining.py), nothing has to succeed here: what fails is rolled back, and the component writes
a row for it, whose handling deals with attempts, delays and dead letters.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from uuid import UUID

import structlog

from docproc.engine.component import ClaimOf
from docproc.engine.message import PipelineMessage
from docproc.engine.running.chaining import BOUNDARY, PAUSE_SECONDS
from docproc.engine.running.handler import Handler
from docproc.engine.running.work import Middleware, Work, wrap
from docproc.engine.store.messages import Claim, PartlyHandled
from docproc.engine.transport import Delivery
from docproc.engine.workflow.plan import Step
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)


class Unqueued:
    """One component's."""

    def __init__(
        self,
        handler: Handler,
        middleware: Sequence[Middleware],
        step_of: Callable[[PipelineMessage], Awaitable[Step | None]],
    ) -> None:
        self._handler = handler
        self._step_of = step_of
        self._inside = [one for one in middleware if one.place > BOUNDARY]
        # Logs, metrics and their like are told after the commit.
        self._told = wrap(_nothing, [one for one in middleware if one.place <= BOUNDARY])
        self._paused_until = 0.0

    async def __call__(self, found: Sequence[PipelineMessage], claim_of: ClaimOf) -> set[UUID]:
        """Handle these in one transaction; returns the ids of those that are handled now, by this call."""
        if not found or time.monotonic() < self._paused_until:
            return set()
        works = [await self._work(message) for message in found]
        try:
            done = await self._commit(works, claim_of)
        except Exception as error:  # noqa: BLE001 # rows are written instead, and their handling says what is wrong
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            log.warning(
                "not_handled_at_once",
                component=self._handler.component.component_name,
                messages=len(works),
                error=text_for_logs(error),
            )
            return set()
        await self._told(done)
        return {work.message.message_id for work in done}

    async def _work(self, message: PipelineMessage) -> Work:
        component = self._handler.component
        delivery = Delivery(component.input_queue, b"", message.message_id)
        return Work(message, delivery, component.component_name, step=await self._step_of(message))

    async def _commit(self, works: Sequence[Work], claim_of: ClaimOf) -> list[Work]:
        todo = list(works)
        while todo:
            claim: Claim = claim_of([work.message for work in todo])
            try:
                await wrap(partial(self._handler.commit, claim=claim), self._inside)(todo)
            except PartlyHandled as news:
                todo = [work for work in todo if work.message.message_id in news.left]
            else:
                break
        return todo


async def _nothing(works: Sequence[Work]) -> None:
    """The handling is over."""
