"""What a process measures of its calls, for Prometheus. What all of them came to is in the statistics."""

from __future__ import annotations

import prometheus_client

CALLS = prometheus_client.Counter(
    "docproc_orchestrator_calls", "Calls of services, by what became of them", ["service", "type", "outcome"]
)
CALL_SECONDS = prometheus_client.Histogram(
    "docproc_orchestrator_call_seconds",
    "From sending an envelope to its answer or time limit",
    ["service", "type"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120),
)
RETRIES = prometheus_client.Counter(
    "docproc_orchestrator_retries", "Calls that are made again, by service", ["service"]
)
