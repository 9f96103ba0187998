"""The monitor's axes (specification §9.2), from what was counted: throughput, latency and doubts by stage and
type, what became of requests, and the back office. Pure: sums in, figures out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from docproc.alerts import people_metrics, request_metrics, stage_metrics
from docproc.alerts.latency import percentile
from docproc.alerts.samples import labels_of

# What is added up for them.
METRICS = (
    stage_metrics.HANDLED,
    stage_metrics.FAILED,
    stage_metrics.ASKED,
    stage_metrics.SECONDS,
    stage_metrics.BUCKET,
    request_metrics.RECEIVED,
    request_metrics.ENDED,
    request_metrics.LATE,
    request_metrics.FAILED,
    request_metrics.STRAIGHT,
    request_metrics.BUCKET,
    people_metrics.ANSWERED,
    people_metrics.ANSWER_SECONDS,
)
# metric -> series -> how many
Sums = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class StageAxis:
    """A stage over some time. Shares and times are None where nothing was handled."""

    stage: str
    component: str
    handled: float
    failed: float
    asked: float
    per_minute: float
    mean: float | None
    p95: float | None
    p99: float | None

    @property
    def asked_share(self) -> float | None:
        return self.asked / self.handled if self.handled else None

    @property
    def failed_share(self) -> float | None:
        tried = self.handled + self.failed
        return self.failed / tried if tried else None


@dataclass(frozen=True, slots=True)
class TypeAxis:
    """What a stage found, and how often a person was asked about it."""

    stage: str
    type: str
    handled: float
    asked: float

    @property
    def asked_share(self) -> float:
        return self.asked / self.handled


@dataclass(frozen=True, slots=True)
class RequestAxis:
    """The requests of an application over some time; "" is those of no application that is installed."""

    application: str
    received: float
    ended: float
    late: float
    failed: float
    straight: float
    p95: float | None

    @property
    def in_time_share(self) -> float | None:
        return 1 - self.late / self.ended if self.ended else None

    @property
    def straight_share(self) -> float | None:
        return self.straight / self.ended if self.ended else None


@dataclass(frozen=True, slots=True)
class PeopleAxis:
    """The answers of people to one type of task."""

    type: str
    answered: float
    mean: float | None


def stages(sums: Sums, minutes: float) -> list[StageAxis]:
    """In the order of their names; `minutes` is the time that the sums are of."""
    buckets = _buckets(sums[stage_metrics.BUCKET], "stage")
    found = []
    for series in sorted({*sums[stage_metrics.HANDLED], *sums[stage_metrics.FAILED]}):
        labels = labels_of(series)
        if "component" not in labels:
            continue
        handled = sums[stage_metrics.HANDLED].get(series, 0.0)
        counts = buckets.get(labels["stage"], {})
        found.append(
            StageAxis(
                stage=labels["stage"],
                component=labels["component"],
                handled=handled,
                failed=sums[stage_metrics.FAILED].get(series, 0.0),
                asked=sums[stage_metrics.ASKED].get(series, 0.0),
                per_minute=handled / minutes,
                mean=sums[stage_metrics.SECONDS].get(series, 0.0) / handled if handled else None,
                p95=percentile(counts, 0.95),
                p99=percentile(counts, 0.99),
            )
        )
    return found


def types(sums: Sums) -> list[TypeAxis]:
    """The most doubtful first."""
    found = []
    for series, handled in sums[stage_metrics.HANDLED].items():
        labels = labels_of(series)
        if "type" in labels:
            asked = sums[stage_metrics.ASKED].get(series, 0.0)
            found.append(TypeAxis(labels["stage"], labels["type"], handled, asked))
    return sorted(found, key=lambda one: (-one.asked_share, -one.handled, one.stage, one.type))


def requests(sums: Sums) -> list[RequestAxis]:
    buckets = _buckets(sums[request_metrics.BUCKET], "application")
    names = {
        labels_of(series)["application"]
        for metric in (request_metrics.RECEIVED, request_metrics.ENDED)
        for series in sums[metric]
    }
    return [_requests_of(name, sums, buckets.get(name, {})) for name in sorted(names)]


def all_requests(sums: Sums) -> RequestAxis:
    """Of all applications together."""
    counts: defaultdict[int, float] = defaultdict(float)
    for of_one in _buckets(sums[request_metrics.BUCKET], "application").values():
        for bucket, number in of_one.items():
            counts[bucket] += number
    values = {name: sum(sums[metric].values()) for name, metric in _REQUESTS.items()}
    return RequestAxis(application="", **values, p95=percentile(counts, 0.95))


_REQUESTS = {
    "received": request_metrics.RECEIVED,
    "ended": request_metrics.ENDED,
    "late": request_metrics.LATE,
    "failed": request_metrics.FAILED,
    "straight": request_metrics.STRAIGHT,
}


def _requests_of(name: str, sums: Sums, counts: Mapping[int, float]) -> RequestAxis:
    series = f"application={name}"
    values = {key: sums[metric].get(series, 0.0) for key, metric in _REQUESTS.items()}
    return RequestAxis(application=name, **values, p95=percentile(counts, 0.95))


def people(sums: Sums) -> dict[str, PeopleAxis]:
    """By type of task."""
    found = {}
    for series, answered in sums[people_metrics.ANSWERED].items():
        kind = labels_of(series)["type"]
        seconds = sums[people_metrics.ANSWER_SECONDS].get(series, 0.0)
        found[kind] = PeopleAxis(kind, answered, seconds / answered if answered else None)
    return found


def _buckets(series: Mapping[str, float], label: str) -> dict[str, dict[int, float]]:
    """By a label's values: class of duration -> how many."""
    found: defaultdict[str, dict[int, float]] = defaultdict(dict)
    for one, number in series.items():
        labels = labels_of(one)
        found[labels[label]][int(labels["bucket"])] = number
    return found


# --- for Prometheus


@dataclass(frozen=True, slots=True)
class Told:
    """A gauge."""

    name: str
    help: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


def told(sums: Sums, minutes: float) -> Iterable[Told]:
    """The same as gauges."""
    for one in stages(sums, minutes):
        labels = {"stage": one.stage, "component": one.component}
        yield Told("docproc_stage_units_per_minute", "Units a stage handled", one.per_minute, labels)
        for value, which in ((one.mean, "mean"), (one.p95, "p95"), (one.p99, "p99")):
            if value is not None:
                at = {**labels, "statistic": which}
                yield Told("docproc_stage_latency_seconds", "From the start to the commit", value, at)
        if one.asked_share is not None:
            yield Told("docproc_stage_asked_ratio", "Share a person was asked about", one.asked_share, labels)
    for kind in types(sums):
        labels = {"stage": kind.stage, "type": kind.type}
        yield Told("docproc_stage_asked_ratio", "Share a person was asked about", kind.asked_share, labels)
    for request in requests(sums):
        labels = {"application": request.application}
        for name, text, share in (
            (
                "docproc_requests_in_time_ratio",
                "Requests that ended before their deadline",
                request.in_time_share,
            ),
            (
                "docproc_straight_through_ratio",
                "Requests that ended without a person",
                request.straight_share,
            ),
            ("docproc_request_seconds_p95", "From reception to the end, 95th percentile", request.p95),
        ):
            if share is not None:
                yield Told(name, text, share, labels)
    for answers in people(sums).values():
        if answers.mean is not None:
            text = "From the question to its answer, mean"
            yield Told("docproc_task_answer_seconds", text, answers.mean, {"type": answers.type})
