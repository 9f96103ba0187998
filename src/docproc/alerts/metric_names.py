"""The metrics that every deployment may have: how they are written for people and for Prometheus."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetricName:
    # Of what the value is: `seconds`, `share` (0 to 1), `number`, `per_second`, `per_minute` or `state`.
    unit: str
    # Its name for Prometheus; its labels stay as they are.
    prometheus: str
    help: str


# The eight of the specification of the orchestrator (§8.1) come first.
NAMES = {
    "queue.depth": MetricName("number", "docproc_queue_depth", "Messages that wait in a queue"),
    "message.processing_time": MetricName(
        "seconds", "docproc_message_processing_time_seconds", "Mean time of handling in the last minute"
    ),
    "service.availability": MetricName(
        "share", "docproc_service_availability_ratio", "Share of calls that did not fail in the last minute"
    ),
    "message.error_rate": MetricName(
        "share", "docproc_message_error_ratio", "Share of messages that failed in the last minute"
    ),
    "service.latency": MetricName(
        "seconds", "docproc_service_latency_seconds", "Mean time of calls in the last minute"
    ),
    "circuit_breaker.state": MetricName(
        "state", "docproc_circuit_breaker_state", "0 closed, 0.5 half open, 1 open"
    ),
    "system.throughput": MetricName(
        "per_second", "docproc_system_throughput_per_second", "Messages handled a second in the last minute"
    ),
    "retry.count": MetricName("per_minute", "docproc_retry_count_per_minute", "Calls made again in a minute"),
}


def name_of(metric: str) -> MetricName:
    """Of an application's own metric, too."""
    plain = "".join(one if one.isalnum() else "_" for one in metric)
    return NAMES.get(metric) or MetricName("number", f"docproc_{plain}", metric)
