"""The components of the benchmarks: the smallest ones that still go through the whole engine."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import NEXT, BaseComponent, Emission, JoinComponent
from docproc.engine.message import PipelineMessage
from docproc.engine.store.fan_in import Join
from docproc.errors import TransientError

PATHS = {
    name: f"bench.graph.{kind}"
    for name, kind in {
        "bench_split": "Split",
        "bench_work": "Work",
        "bench_poison": "Poison",
        "bench_join": "Count",
    }.items()
}

FANOUT = """\
name: fanout
sla: {deadline_seconds: 600}
stages:
  - {name: split, component: bench_split}
  - {name: first, component: bench_work}
  - {name: second, component: bench_work}
  - {name: join, component: bench_join}
"""

# The same through queues alone: every hop is a row, found and removed by whoever is free.
UNCHAINED = FANOUT.replace("name: fanout", "name: unchained").replace("{name:", "{chain: off, name:")

POISON = """\
name: poison
sla: {deadline_seconds: 600}
stages:
  - {name: split, component: bench_split}
  - name: work
    component: bench_poison
    retry: {attempts: 3, delay_seconds: 0.2}
  - {name: join, component: bench_join}
"""


class Split(BaseComponent):
    """Streams `payload.pages` units."""

    component_name = "bench_split"
    takes = "request"
    gives = "unit"

    async def process_message(
        self, message: PipelineMessage, session: AsyncSession
    ) -> AsyncIterator[Emission]:
        for index in range(message.payload["pages"]):
            yield NEXT, message.model_copy(update={"unit_key": f"unit:{index}", "page_index": index})


class Work(BaseComponent):
    component_name = "bench_work"
    batch = 200

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        return [(NEXT, message)]


class Poison(Work):
    """Fails always for poisoned requests."""

    component_name = "bench_poison"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        if message.payload.get("poison"):
            await asyncio.sleep(0)
            raise TransientError(f"poison {random.random()}")
        return [(NEXT, message)]


class Count(JoinComponent):
    component_name = "bench_join"
    batch = 200
    only_counts = True

    async def after_join(self, join: Join, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        return [(NEXT, message.model_copy(update={"payload": {"units": join.expected_count}}))]
