"""Notices: the back office consumes what tells it of new tasks (specification §5.2).

The tasks themselves are in the database, so a notice that is lost or late costs a second at most.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from uuid import UUID

import structlog

from docproc.app import App
from docproc.engine.message import PipelineMessage
from docproc.engine.store import messages
from docproc.engine.store.session import is_passing
from docproc.engine.transport import Delivery
from docproc.errors import MessageError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

BATCH = 100
PAUSE_SECONDS = 1.0


class Notices:
    """Takes the notices about every kind of task, and wakes whoever hands tasks out."""

    def __init__(self, application: App, wake: Callable[[], None]) -> None:
        self.application = application
        self.wake = wake

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            for queue in self.application.topology.notice_queues:
                group.create_task(self._consume(queue), name=f"notices of {queue}")

    async def _consume(self, queue: str) -> None:
        transport = self.application.transport
        async for deliveries in transport.consume(queue, batch=BATCH, slots=1):
            try:
                await self._remove([found for one in deliveries if (found := _id_of(one))])
            except Exception as error:
                if not is_passing(error):
                    raise
                log.warning("notices_wait", error=text_for_logs(error))
                await asyncio.sleep(PAUSE_SECONDS)  # the rows expire, if nothing else
            await transport.settle(deliveries)
            self.wake()

    async def _remove(self, ids: list[UUID]) -> None:
        async with self.application.store.claiming() as connection:
            await messages.remove(connection, self.application.store.dialect, ids)


def _id_of(delivery: Delivery) -> UUID | None:
    if delivery.message_id is not None:
        return delivery.message_id
    try:
        return PipelineMessage.parse(delivery.body).message_id
    except MessageError:  # nothing of ours, and nothing anybody waits for
        return None
