"""A worker that dies at the worst moments: the other half of bench/faults.py.

`python -m bench.faulty` runs the workload's components with a transport that delivers everything twice, and
kills its own process with SIGKILL, by chance, at the three points where effects could be lost or doubled.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Self
from uuid import uuid4

from sqlalchemy.ext.asyncio import AsyncSession

from docproc import logs
from docproc.app import App
from docproc.apps.documents.tables import Document
from docproc.engine.component import NEXT, BaseComponent, Emission, JoinComponent
from docproc.engine.message import PipelineMessage
from docproc.engine.store import fan_in
from docproc.engine.store.fan_in import Join
from docproc.engine.transport import Copy, Delivery, Transport, TransportContext
from docproc.errors import TransientError
from docproc.settings import Settings
from docproc.terminal.output import run_async

PATHS = {
    name: f"bench.faulty.{kind}"
    for name, kind in {
        "fault_split": "Split",
        "fault_work": "Work",
        "fault_flaky": "Flaky",
        "fault_gather": "Gather",
    }.items()
}

WORKFLOW = """\
name: faults
sla: {deadline_seconds: 600}
stages:
  - {name: split, component: fault_split, window: 40}
  - {name: first, component: fault_work}
  - {name: side, component: fault_work, after: first, when: "payload.index % 3 == 0"}
  - name: flaky
    component: fault_flaky
    after: first
    retry: {attempts: 5, delay_seconds: 0.05}
  - {name: second, component: fault_work, after: [side, flaky]}
  - {name: gather, component: fault_gather}
  - {name: last, component: fault_work}
"""


class Chance:
    """Decides when to die; the points are those of the acceptance list (A11)."""

    probability = float(os.environ.get("FAULT_PROBABILITY", "0"))

    @classmethod
    def die(cls, point: str) -> None:
        if cls.probability and random.random() < cls.probability:
            print(f"killed {point}", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)


async def _leave_trace(session: AsyncSession, message: PipelineMessage) -> None:
    """The effect that must happen once: a row without any uniqueness to hide behind."""
    trace = {
        "id": uuid4(),
        "tenant_id": message.tenant_id,
        "request_id": message.request_id,
        "doc_type": message.current_stage,
        "page_indices": [message.payload.get("index", -1)],
        "status": "trace",
    }
    session.add(Document(**trace))
    await session.flush()
    Chance.die("before commit")


class Split(BaseComponent):
    component_name = "fault_split"
    takes = "request"
    gives = "unit"

    async def process_message(
        self, message: PipelineMessage, session: AsyncSession
    ) -> AsyncIterator[Emission]:
        for index in range(message.payload["units"]):
            payload = {**message.payload, "index": index}
            yield NEXT, message.model_copy(update={"unit_key": f"unit:{index}", "payload": payload})
        await _leave_trace(session, message)


class Work(BaseComponent):
    component_name = "fault_work"
    batch = 20

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        await _leave_trace(session, message)
        return [(NEXT, message)]


class Flaky(Work):
    """Fails at first for every fifth unit."""

    component_name = "fault_flaky"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        if message.payload["index"] % 5 == 0 and message.attempt < 3:
            raise TransientError("not yet")
        return await super().process_message(message, session)


class Gather(JoinComponent):
    component_name = "fault_gather"
    takes = "unit"
    gives = "request"
    keeps_bodies = True
    # Counted by whoever sends a unit, or by messages, as in releases before 0.2.
    only_counts = os.environ.get("FAULT_COUNTED_BY") != "messages"

    async def after_join(self, join: Join, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        found = await fan_in.bodies(session, join)
        corrected = sorted(unit for unit, body in found.items() if body.payload.get("corrected"))
        trace = {"index": -join.generation}
        await _leave_trace(session, message.model_copy(update={"payload": trace}))
        result = {"units": len(found), "corrected": corrected, "generation": join.generation}
        return [(NEXT, message.model_copy(update={"payload": result}))]


class Twice(Transport):
    """Delivers everything twice, and dies between the steps of a delivery."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner
        self.has_broker = inner.has_broker

    @classmethod
    def create(cls, context: TransportContext) -> Self:
        raise NotImplementedError("it wraps a transport that is there already")

    async def open(self) -> None:
        await self.inner.open()

    async def close(self) -> None:
        await self.inner.close()

    async def consume(self, queue: str, *, batch: int, slots: int) -> AsyncIterator[list[Delivery]]:
        async for group in self.inner.consume(queue, batch=batch, slots=slots):
            yield group
            if not self.has_broker:  # the same leases once more, as after a lost acknowledgement
                yield group

    async def publish(self, copies: Sequence[Copy]) -> None:
        Chance.die("after commit, before publish")
        await self.inner.publish([*copies, *copies] if self.has_broker else copies)

    async def settle(self, deliveries: Sequence[Delivery]) -> None:
        Chance.die("after publish, before acknowledgement")
        await self.inner.settle(deliveries)

    def wake(self, queues: Sequence[str]) -> None:  # type: ignore[override] # always called with a list
        self.inner.wake(queues)

    def wake_delayed(self, queue: str) -> None:
        self.inner.wake_delayed(queue)

    def take_lost_queues(self) -> dict[str, float]:
        return self.inner.take_lost_queues()

    def stop(self) -> None:
        self.inner.stop()

    @property
    def is_connected(self) -> bool:
        return self.inner.is_connected

    @property
    def can_publish(self) -> bool:
        return self.inner.can_publish


async def main() -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    settings = Settings.load()
    logs.configure(settings)
    app = App(settings)
    app.transport = Twice(app.transport)
    try:
        await app.prepare_database(wait=True)
        await app.worker(sorted(PATHS)).run(stopping)
    finally:
        await app.close()


if __name__ == "__main__":
    run_async(main())
