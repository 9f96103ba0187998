"""The workload of bench/chaos.py: that of bench/faults.py, with native work in children, and waits."""

from __future__ import annotations

import time

from sqlalchemy.ext.asyncio import AsyncSession

from bench import faulty
from docproc.engine.component import NEXT, Emission, Where
from docproc.engine.message import PipelineMessage
from docproc.errors import TransientError

PATHS = {
    **faulty.PATHS,
    "chaos_native": "bench.chaotic.Native",
    "chaos_waiting": "bench.chaotic.Waiting",
}
DEADLINE_SECONDS = 20
# A waiting request is answered in part at its deadline, by the monitor, and whole when its wait is over.
WAITING_DEADLINE_SECONDS, WAIT_SECONDS = 10, 14
NATIVE_SECONDS = 0.05

_STAGES = """\
stages:
  - {name: split, component: fault_split, window: 40}
  - {name: first, component: fault_work}
  - name: native
    component: chaos_native
    timeout_seconds: 10
  - name: flaky
    component: fault_flaky
    retry: {attempts: 5, delay_seconds: 0.05}
"""
WORKFLOWS = {
    "chaos": f"""\
name: chaos
sla: {{deadline_seconds: {DEADLINE_SECONDS}}}
{_STAGES}  - {{name: gather, component: fault_gather}}
""",
    "waiting": f"""\
name: waiting
sla: {{deadline_seconds: {WAITING_DEADLINE_SECONDS}}}
{_STAGES}  - name: wait
    component: chaos_waiting
    retry: {{attempts: 5, delay_seconds: {WAIT_SECONDS}}}
  - {{name: gather, component: fault_gather}}
""",
}
# Every effect of a unit, by stage.
STAGES = {"chaos": ("first", "native", "flaky"), "waiting": ("first", "native", "flaky", "wait")}


class Native(faulty.Work):
    """Computes for a moment in a child that can be killed."""

    component_name = "chaos_native"
    runs_in = Where.PROCESSES
    batch = 1

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        await self.offload(time.sleep, NATIVE_SECONDS)
        await faulty._leave_trace(session, message)
        return [(NEXT, message)]


class Waiting(faulty.Work):
    """Its first unit is put off once, beyond the request's deadline."""

    component_name = "chaos_waiting"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        if message.payload["index"] == 0 and message.attempt == 1:
            raise TransientError("not before the deadline")
        return await super().process_message(message, session)
