"""Prometheus counters and latencies of handled messages, by component and stage."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import Counter, Histogram

from docproc.engine.work import Handle, Middleware, Outcome, Work

HANDLED = Counter(
    "docproc_messages_handled_total", "Messages handled, by outcome", ["component", "stage", "outcome"]
)
SECONDS = Histogram(
    "docproc_message_seconds",
    "Time from the start of handling to the commit",
    ["component", "stage"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)


class Metrics(Middleware):
    def __init__(self, component_name: str) -> None:
        self.component_name = component_name

    async def __call__(self, works: Sequence[Work], handle: Handle) -> None:
        await handle(works)
        for work in works:
            stage = work.message.current_stage
            HANDLED.labels(self.component_name, stage, work.outcome or "unknown").inc()
            if work.outcome is Outcome.DONE and work.finished_at is not None:
                seconds = (work.finished_at - work.started_at).total_seconds()
                SECONDS.labels(self.component_name, stage).observe(seconds)
