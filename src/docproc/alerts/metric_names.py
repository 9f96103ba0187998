"""The metrics that every deployment may have: how they are written for people and for Prometheus."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetricName:
    # Of what the value is: `seconds`, `share` (0 to 1), `number`, `per_second`, `per_minute`, `per_hour`,
    # `bytes`, `cores` or `state`; or `count`: what happened since the look before. Counts are added up, and
    # told to Prometheus as what they come to (axes.py).
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
    "queue.age": MetricName(
        "seconds", "docproc_queue_age_seconds", "How long the oldest message that may be taken waits"
    ),
    "requests.volume": MetricName(
        "per_hour", "docproc_requests_volume_per_hour", "Requests received, by the last ten minutes"
    ),
    "requests.open": MetricName("number", "docproc_requests_open", "Requests that are not finished"),
    "requests.at_risk": MetricName(
        "number", "docproc_requests_at_risk", "Unfinished requests with less than a fifth of their time left"
    ),
    "requests.overdue": MetricName(
        "number", "docproc_requests_overdue", "Unfinished requests whose deadline has passed"
    ),
    "tasks.open": MetricName("number", "docproc_tasks_open", "Questions that wait for a person's answer"),
    "tasks.oldest": MetricName("seconds", "docproc_tasks_oldest_seconds", "How long the oldest one waits"),
    "tasks.urgent": MetricName(
        "number", "docproc_tasks_urgent", "Questions nobody has taken whose request's time is running out"
    ),
    "operators.present": MetricName("number", "docproc_operators_present", "People who are there, on shift"),
    "operators.missing": MetricName(
        "number", "docproc_operators_missing", "Urgent questions beyond the number of people there for them"
    ),
    "workers.active": MetricName("number", "docproc_workers_active", "Worker processes that live"),
    "workers.cpu": MetricName("cores", "docproc_workers_cpu_cores", "Cores they use, children included"),
    "workers.memory": MetricName(
        "bytes", "docproc_workers_memory_bytes", "Memory they use, children included"
    ),
    "disk.free": MetricName("share", "docproc_disk_free_ratio", "Share of a disk that is free"),
    "dead_letters.open": MetricName(
        "number", "docproc_dead_letters_open", "Messages that failed for good and wait for a decision"
    ),
    # Counts.
    **{
        metric: MetricName("count", "", "")
        for metric in (
            "stage.handled", "stage.failed", "stage.asked", "stage.seconds", "stage.bucket",
            "requests.received", "requests.ended", "requests.late", "requests.failed",
            "requests.straight_through", "requests.bucket", "tasks.answered", "tasks.answer_seconds",
        )
    },
}  # fmt: skip


def name_of(metric: str) -> MetricName:
    """Of an application's own metric, too."""
    plain = "".join(one if one.isalnum() else "_" for one in metric)
    return NAMES.get(metric) or MetricName("number", f"docproc_{plain}", metric)
