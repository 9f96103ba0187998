"""What people look at: metrics by service, queue or tenant, each with its last hour."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby

from docproc.alerts.history import Point
from docproc.alerts.metric_names import name_of

# What was not measured for so long is not shown as if it were now.
FRESH = timedelta(minutes=3)


@dataclass(slots=True)
class Series:
    """A metric of one service, queue or tenant: its means by minute, and its latest value."""

    metric: str
    labels: dict[str, str]
    points: list[tuple[datetime, float]] = field(default_factory=list)
    latest: float | None = None
    latest_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One service, queue or tenant, and what is measured of it."""

    name: str
    labels: dict[str, str]
    series: dict[str, Series]


def series(points: Iterable[Point], now: datetime) -> list[Series]:
    """In the order of their names; `points` are in that order already, as `history.points` gives them."""
    found: list[Series] = []
    for (metric, _), group in groupby(points, key=lambda one: (one.metric, one.series)):
        of_one = list(group)
        is_count = name_of(metric).unit == "count"
        values = [(one.at, one.total if is_count else one.mean) for one in of_one]
        last = of_one[-1]
        is_fresh = last.latest_at > now - FRESH
        found.append(
            Series(
                metric,
                last.labels,
                values,
                last.latest if is_fresh else None,
                last.latest_at if is_fresh else None,
            )
        )
    return found


def latest(points: Iterable[Point], now: datetime) -> list[Point]:
    """The newest of each series, as far as it is fresh."""
    newest = {(one.metric, one.series): one for one in sorted(points, key=lambda one: one.at)}
    return [one for one in newest.values() if one.latest_at > now - FRESH]


def lines(found: Sequence[Series], by: str) -> list[Line]:
    """Those that have a label, one line for each of its values."""
    groups: defaultdict[str, dict[str, Series]] = defaultdict(dict)
    labels: dict[str, dict[str, str]] = {}
    for one in found:
        if by not in one.labels:
            continue
        name = one.labels[by]
        # A service's breakers: that of its first endpoint stands for it, the second has its own column.
        column = one.metric if one.labels.get("endpoint") != "secondary" else f"{one.metric}.secondary"
        groups[name][column] = one
        labels.setdefault(name, one.labels)
    return [Line(name, labels[name], groups[name]) for name in sorted(groups)]


def total(found: Sequence[Series], metric: str) -> Series | None:
    """Of the whole deployment: the series without labels."""
    return next((one for one in found if one.metric == metric and not one.labels), None)


# --- a line of an hour, as SVG draws it
WIDTH, HEIGHT = 120, 28


def drawn(one: Series, until: datetime, minutes: int = 60) -> str:
    """The points of a polyline; empty where there is nothing to draw."""
    begins = (until - timedelta(minutes=minutes)).timestamp()
    shown = [(moment - begins, value) for at, value in one.points if (moment := at.timestamp()) >= begins]
    if len(shown) < 2:
        return ""
    most = max(value for _, value in shown) or 1.0
    across, down = WIDTH / (minutes * 60), (HEIGHT - 4) / most
    return " ".join(f"{later * across:.1f},{HEIGHT - 2 - value * down:.1f}" for later, value in shown)
