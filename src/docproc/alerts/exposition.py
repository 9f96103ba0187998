"""The deployment's metrics as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from docproc.alerts.axes import Told
from docproc.alerts.history import Point
from docproc.alerts.metric_names import name_of


def exposition(latest: Iterable[Point], axes: Iterable[Told] = ()) -> bytes:
    """Series of one metric may have different labels; one that a series does not have is empty."""
    registry = CollectorRegistry()
    registry.register(_Latest([one for one in latest if name_of(one.metric).unit != "count"]))
    registry.register(_Axes(list(axes)))
    return generate_latest(registry)


class _Axes(Collector):
    def __init__(self, axes: list[Told]) -> None:
        self.axes = axes

    def collect(self) -> Iterable[GaugeMetricFamily]:
        ordered = sorted(self.axes, key=lambda one: one.name)
        for name, group in groupby(ordered, key=lambda one: one.name):
            found = list(group)
            names = sorted({label for one in found for label in one.labels})
            family = GaugeMetricFamily(name, found[0].help, labels=names)
            for one in found:
                family.add_metric([one.labels.get(label, "") for label in names], one.value)
            yield family


class _Latest(Collector):
    def __init__(self, latest: list[Point]) -> None:
        self.latest = latest

    def collect(self) -> Iterable[GaugeMetricFamily]:
        ordered = sorted(self.latest, key=lambda one: one.metric)
        for metric, group in groupby(ordered, key=lambda one: one.metric):
            found = [(one.labels, one.latest) for one in group]
            names = sorted({name for labels, _ in found for name in labels})
            about = name_of(metric)
            family = GaugeMetricFamily(about.prometheus, about.help, labels=names)
            for labels, value in found:
                family.add_metric([labels.get(name, "") for name in names], value)
            yield family
