"""The work of bench/sla.py: pages that burn CPU, questions nobody answers, and a partial answer with content.

With `BENCH_ORDER=age` in its environment a worker takes messages in order of age: the baseline.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from docproc.engine.component import BACKOFFICE, NEXT, BaseComponent, Emission, JoinComponent, Where
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import messages, missing, tasks
from docproc.engine.store.fan_in import Join
from docproc.engine.store.tables import FanInArrival

ORDER_VARIABLE = "BENCH_ORDER"
BY_AGE = "age"

PATHS = {
    name: f"bench.sla_flow.{kind}"
    for name, kind in {
        "sla_split": "Split",
        "sla_read": "Read",
        "sla_join": "Gather",
        "sla_answer": "Answer",
    }.items()
}

WORKFLOW = """\
name: {name}
sla: {{deadline_seconds: {seconds}}}
stages:
  - {{name: split, component: sla_split}}
  - {{name: read, component: sla_read, backoffice_queue: task.classification, when_no_time: wait}}
  - {{name: gather, component: sla_join}}
  - {{name: answer, component: sla_answer}}
"""


def workflows(deadlines: Mapping[str, float]) -> dict[str, str]:
    """One workflow file a deadline."""
    return {name: WORKFLOW.format(name=name, seconds=seconds) for name, seconds in deadlines.items()}


class Split(BaseComponent):
    """`payload.pages` pages; the last one needs a person when `payload.asks` says so."""

    component_name = "sla_split"
    takes = "request"
    gives = "page"
    batch = 50

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        pages = message.payload["pages"]
        return [(NEXT, _page(message, index, index == pages - 1)) for index in range(pages)]


def _page(message: PipelineMessage, index: int, is_last: bool) -> PipelineMessage:
    payload = {**message.payload, "asks": is_last and message.payload["asks"]}
    update = {"unit_key": f"page:{index}", "page_index": index, "payload": payload}
    return message.model_copy(update=update)


class Read(BaseComponent):
    """Stands in for OCR: `payload.seconds` of CPU in a killable child, then perhaps a question."""

    component_name = "sla_read"
    takes = "page"
    runs_in = Where.PROCESSES
    asks_people = True

    async def setup(self) -> None:
        """A worker is ready when its child is: starting one takes as long as many pages."""
        await self.offload(burn, 0.0)

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        await self.offload(burn, message.payload["seconds"])
        if not message.payload["asks"]:
            return [(NEXT, message)]
        await tasks.create(
            session,
            message,
            task_type="classification",
            reference_id=message.message_id,
            input_data={"page_index": message.page_index},
        )
        return [(BACKOFFICE, message)]


def burn(seconds: float) -> None:
    """That much CPU, however long it takes on a busy machine."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        sum(range(10_000))  # asking for the time costs more than computing


class Gather(JoinComponent):
    component_name = "sla_join"
    takes = "page"
    gives = "request"

    async def after_join(self, join: Join, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        return [(NEXT, message.model_copy(update={"payload": {"pages": join.expected_count}}))]


class Answer(BaseComponent):
    """The end of the flow; before it, what was read so far."""

    component_name = "sla_answer"
    takes = "request"
    batch = 50

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        return [(NEXT, message.model_copy(update={"payload": {**message.payload, "partial": False}}))]

    async def partial_result(self, message: PipelineMessage, session: AsyncSession) -> dict[str, Any]:
        left = await missing.missing(session, message.request_id, utc_now())
        query = select(FanInArrival.unit_key).where(FanInArrival.request_id == message.request_id)
        return {"partial": True, "read": sorted(await session.scalars(query)), "missing": left}


# --- the baseline -----------------------------------------------------------------------------------

_claim_ready = messages.claim_ready


async def _claim_oldest(
    connection: AsyncConnection, dialect: str, queue: str, limit: int, worker_id: str
) -> list[Row[Any]]:
    leased = await _claim_ready(connection, dialect, queue, limit, worker_id)
    return sorted(leased, key=lambda row: row.created_at)


def take_by_age() -> None:
    """What most queues do. Only here: DocProc itself has one order."""
    messages.ORDER = "created_at"
    messages.claim_ready = _claim_oldest


if os.environ.get(ORDER_VARIABLE) == BY_AGE:
    take_by_age()
