"""Prometheus counters and latencies of handled messages, by component and stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Self

import prometheus_client
from prometheus_client import Histogram

from docproc.engine.running.work import Handle, Middleware, MiddlewareContext, Outcome, Work

HANDLED = prometheus_client.Counter(
    "docproc_messages_handled_total", "Messages handled, by outcome", ["component", "stage", "outcome"]
)
SECONDS = Histogram(
    "docproc_message_seconds",
    "Time from the start of handling to the commit",
    ["component", "stage"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)


class Metrics(Middleware):
    place = 200

    def __init__(self, component_name: str) -> None:
        self.component_name = component_name
        self._by_stage: dict[str, Histogram] = {}

    @classmethod
    def create(cls, context: MiddlewareContext) -> Self:
        return cls(context.component.component_name)

    async def __call__(self, works: Sequence[Work], handle: Handle) -> None:
        await handle(works)
        for (stage, outcome), number in Counter((w.message.current_stage, w.outcome) for w in works).items():
            HANDLED.labels(self.component_name, stage, outcome or "unknown").inc(number)
        for work in works:
            if work.outcome is Outcome.DONE and work.finished_at is not None:
                seconds = (work.finished_at - work.started_at).total_seconds()
                self._seconds(work.message.current_stage).observe(seconds)

    def _seconds(self, stage: str) -> Histogram:
        if stage not in self._by_stage:
            self._by_stage[stage] = SECONDS.labels(self.component_name, stage)
        return self._by_stage[stage]
