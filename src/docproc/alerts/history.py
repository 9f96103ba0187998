"""The history of metrics: written with every look, kept by minute for a day and by hour for five weeks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import sqrt

from sqlalchemy import Table, and_, delete, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.alerts.past import Past, Usual
from docproc.alerts.samples import Sample, labels_of
from docproc.alerts.tables import MetricRow
from docproc.engine.store import rows

MINUTE, HOUR = "minute", "hour"
KEPT = {MINUTE: timedelta(hours=26), HOUR: timedelta(days=36)}
# What goes on now must not count as usual.
_NOW = timedelta(minutes=10)
_DAY = timedelta(hours=24)
_WEEK = timedelta(days=7)
# From so many minutes on the past says something, and from so many hours.
ENOUGH_MINUTES = 60
_WEEKS = 4

_TABLE: Table = MetricRow.__table__  # type: ignore[assignment] # is a Table

# Another sample of a minute or hour that has a row is added to it.
ADD = """
INSERT INTO metric_history (
    metric, series, resolution, at, samples, counted, total, least, most, latest, latest_at, tenant_id
) VALUES (
    :metric, :series, :resolution, :at, 1, :counted, :value, :value, :value, :value, :now, :tenant_id
)
ON CONFLICT (metric, series, resolution, at) DO UPDATE SET
    samples = metric_history.samples + 1,
    counted = metric_history.counted + excluded.counted,
    total = metric_history.total + excluded.total,
    least = CASE WHEN excluded.least < metric_history.least THEN excluded.least ELSE metric_history.least END,
    most = CASE WHEN excluded.most > metric_history.most THEN excluded.most ELSE metric_history.most END,
    latest = excluded.latest,
    latest_at = excluded.latest_at
"""


@dataclass(frozen=True, slots=True)
class Point:
    """A series in one minute or hour."""

    metric: str
    series: str
    at: datetime
    samples: int
    counted: int
    mean: float
    most: float
    latest: float
    latest_at: datetime
    tenant_id: str
    # Of a metric that counts: how many in that minute or hour.
    total: float

    @property
    def labels(self) -> dict[str, str]:
        return labels_of(self.series)


# As a Point is made: pages read thousands of them.
_POINT = (
    _TABLE.c.metric,
    _TABLE.c.series,
    _TABLE.c.at,
    _TABLE.c.samples,
    _TABLE.c.counted,
    _TABLE.c.total / _TABLE.c.samples,
    _TABLE.c.most,
    _TABLE.c.latest,
    _TABLE.c.latest_at,
    _TABLE.c.tenant_id,
    _TABLE.c.total,
)


async def record(session: AsyncSession, samples: Sequence[Sample], now: datetime) -> None:
    starts = {
        MINUTE: now.replace(second=0, microsecond=0),
        HOUR: now.replace(minute=0, second=0, microsecond=0),
    }
    # In one order, so that a late writer and its successor never wait for each other in a circle.
    values = [
        {
            "metric": sample.metric,
            "series": sample.series,
            "resolution": resolution,
            "at": at,
            "counted": sample.count,
            "value": float(sample.value),
            "now": now,
            "tenant_id": sample.tenant_id,
        }
        for sample in sorted(samples, key=lambda one: (one.metric, one.series))
        for resolution, at in starts.items()
    ]
    if values:
        connection = await session.connection()
        dialect = connection.dialect.name
        await connection.execute(text(ADD), [rows.values_for(dialect, one) for one in values])


async def past(session: AsyncSession, sample: Sample, now: datetime) -> Past:
    """What was usual for a series."""
    series = and_(_TABLE.c.metric == sample.metric, _TABLE.c.series == sample.series)
    day = and_(_TABLE.c.resolution == MINUTE, _TABLE.c.at >= now - _DAY, _TABLE.c.at < now - _NOW)
    hour = now.replace(minute=0, second=0, microsecond=0)
    same = and_(
        _TABLE.c.resolution == HOUR,
        _TABLE.c.at.in_([hour - weeks * _WEEK for weeks in range(1, _WEEKS + 1)]),
    )
    query = select(_TABLE.c.resolution, _TABLE.c.total, _TABLE.c.samples).where(series, or_(day, same))
    found = list(await session.execute(query))
    return Past(
        _usual([row.total / row.samples for row in found if row.resolution == MINUTE], ENOUGH_MINUTES),
        _usual([row.total / row.samples for row in found if row.resolution == HOUR], 1),
    )


def _usual(values: list[float], enough: int) -> Usual | None:
    if len(values) < enough:
        return None
    mean = sum(values) / len(values)
    return Usual(mean, sqrt(sum((one - mean) ** 2 for one in values) / len(values)), len(values))


async def points(
    session: AsyncSession,
    since: datetime,
    *,
    metric: str | None = None,
    metrics: Collection[str] = (),
    label: str = "",
    until: datetime | None = None,
    tenant_id: str | None = None,
    resolution: str = MINUTE,
) -> list[Point]:
    """Oldest first. Only those of `metric` or `metrics`, of series that have a `label` (`queue=`, or with its
    value `component=ocr`), of one tenant."""
    query = select(*_POINT).where(_TABLE.c.resolution == resolution, _TABLE.c.at >= since)
    if wanted := [*metrics, *([metric] if metric is not None else [])]:
        query = query.where(_TABLE.c.metric.in_(wanted))
    if label:
        query = query.where(or_(_TABLE.c.series.like(f"{label}%"), _TABLE.c.series.like(f"%,{label}%")))
    if until is not None:
        query = query.where(_TABLE.c.at < until)
    if tenant_id is not None:
        query = query.where(_TABLE.c.tenant_id == tenant_id)
    found = await session.execute(query.order_by(_TABLE.c.metric, _TABLE.c.series, _TABLE.c.at))
    return [Point(*row) for row in found]


async def totals(
    session: AsyncSession,
    since: datetime,
    metrics: Collection[str],
    *,
    resolution: str = MINUTE,
    tenant_id: str | None = None,
) -> dict[str, dict[str, float]]:
    """Of metrics that count: metric -> series -> how many since then. Added up by the database."""
    query = (
        select(_TABLE.c.metric, _TABLE.c.series, func.sum(_TABLE.c.total).label("total"))
        .where(_TABLE.c.metric.in_(metrics), _TABLE.c.resolution == resolution, _TABLE.c.at >= since)
        .group_by(_TABLE.c.metric, _TABLE.c.series)
    )
    if tenant_id is not None:
        query = query.where(_TABLE.c.tenant_id == tenant_id)
    found: dict[str, dict[str, float]] = {metric: {} for metric in metrics}
    for row in await session.execute(query):
        found[row.metric][row.series] = float(row.total)
    return found


async def forget(session: AsyncSession, now: datetime) -> None:
    """What nobody looks at any more."""
    for resolution, kept in KEPT.items():
        await session.execute(
            delete(MetricRow)
            .where(MetricRow.resolution == resolution, MetricRow.at < now - kept)
            .execution_options(synchronize_session=False)
        )
