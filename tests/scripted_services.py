"""Services that do what a test says: answer, fail as HTTP servers fail, or say nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid5

from docproc.apps.orchestrator.envelope import reading
from docproc.apps.orchestrator.envelope.models import Envelope, Status
from docproc.apps.orchestrator.sdk.task import answer_to
from docproc.apps.orchestrator.services.port import ServicePort, Taken
from docproc.apps.orchestrator.services.ports import port_of
from docproc.settings import Settings

# A status (200 answers), a whole `error`, or None: silence.
Said = int | dict[str, Any] | None


def well(_envelope: Envelope) -> Said:
    return 200


class Scripted:
    """One process of a service, as far as the orchestrator can tell, on some queues."""

    def __init__(self) -> None:
        self.say: Callable[[Envelope], Said] = well
        # What came, by queue and by task.
        self.received: list[tuple[str, Envelope]] = []

    def count(self, queue: str | None = None) -> int:
        return len([one for one, _ in self.received if queue in (None, one)])

    def tries(self) -> Counter[str]:
        return Counter(str(envelope.task_id) for _, envelope in self.received)

    async def run(self, port: ServicePort, queues: Sequence[str]) -> None:
        await port.open()
        try:
            while True:
                for taken in await port.take(queues, 50, 0.5):
                    await self._serve(port, taken)
        finally:
            await port.close()

    async def _serve(self, port: ServicePort, taken: Taken) -> None:
        envelope = reading.parsed(taken.body)
        self.received.append((taken.queue, envelope))
        said = self.say(envelope)
        if said is not None:
            await port.say([_answer(envelope, taken.queue, said).encode()])
        await port.settle([taken])


def _answer(envelope: Envelope, queue: str, said: int | dict[str, Any]) -> Envelope:
    own_id = uuid5(envelope.message_id, "answer")
    if said == 200:
        return answer_to(envelope, Status.COMPLETED, {"from": queue}, message_id=own_id)
    error = said if isinstance(said, dict) else {"code": f"HTTP_{said}", "status": said, "message": "no"}
    return answer_to(envelope, Status.FAILED, {}, error=error, message_id=own_id)


@asynccontextmanager
async def serving(settings: Settings, *queues: str) -> AsyncIterator[Scripted]:
    found = Scripted()
    async with port_of(settings, "scripted") as port:
        task = asyncio.create_task(found.run(port, queues))
        try:
            yield found
            assert not task.done(), task.exception()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
