"""The workload of bench/chaos.py: that of bench/faults.py, with a stage of native work in child processes."""

from __future__ import annotations

import time

from sqlalchemy.ext.asyncio import AsyncSession

from bench import faulty
from docproc.engine.component import NEXT, Emission, Where
from docproc.engine.message import PipelineMessage

PATHS = {**faulty.PATHS, "chaos_native": "bench.chaotic.Native"}
DEADLINE_SECONDS = 20

WORKFLOW = f"""\
name: chaos
sla: {{deadline_seconds: {DEADLINE_SECONDS}}}
stages:
  - {{name: split, component: fault_split, window: 40}}
  - {{name: first, component: fault_work}}
  - name: native
    component: chaos_native
    timeout_seconds: 10
  - name: flaky
    component: fault_flaky
    retry: {{attempts: 5, delay_seconds: 0.05}}
  - {{name: gather, component: fault_gather}}
"""
# Every effect of a unit, by stage.
STAGES = ("first", "native", "flaky")


class Native(faulty.Work):
    """Computes for a moment in a child that can be killed."""

    component_name = "chaos_native"
    runs_in = Where.PROCESSES
    batch = 1

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        await self.offload(time.sleep, 0.01)
        await faulty._leave_trace(session, message)
        return [(NEXT, message)]
