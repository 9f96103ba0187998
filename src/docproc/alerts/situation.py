"""How the deployment does: what the monitor's first page shows, from the history and a few small tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.alerts import axes, history, machine_metrics, people_metrics, request_metrics, store
from docproc.alerts.alert_set import Figure
from docproc.alerts.axes import Sums
from docproc.alerts.engine_metrics import QUEUE_AGE, QUEUE_DEPTH
from docproc.alerts.flow_picture import Waiting
from docproc.alerts.history import HOUR, MINUTE, Point
from docproc.alerts.samples import labels_of
from docproc.alerts.store import Alert
from docproc.app import App

_WEEK = timedelta(days=7)
# What is shown as it stands now.
NOW = (
    QUEUE_DEPTH,
    QUEUE_AGE,
    request_metrics.OPEN,
    request_metrics.AT_RISK,
    request_metrics.OVERDUE,
    people_metrics.OPEN,
    people_metrics.OLDEST,
    people_metrics.URGENT,
    people_metrics.PRESENT,
    people_metrics.MISSING,
    machine_metrics.DEAD_LETTERS,
    machine_metrics.DISK_FREE,
)
# What is drawn as a line.
_DRAWN = (
    request_metrics.RECEIVED,
    request_metrics.ENDED,
    request_metrics.LATE,
    request_metrics.STRAIGHT,
    request_metrics.BUCKET,
    people_metrics.OPEN,
    machine_metrics.DEAD_LETTERS,
)


@dataclass(frozen=True, slots=True)
class Range:
    """A length of time that the page can be asked for."""

    name: str
    length: timedelta
    resolution: str

    @property
    def minutes(self) -> float:
        return self.length / timedelta(minutes=1)

    @property
    def step(self) -> timedelta:
        return timedelta(minutes=1) if self.resolution == MINUTE else timedelta(hours=1)


RANGES = {
    one.name: one
    for one in (
        Range("hour", timedelta(hours=1), MINUTE),
        Range("day", timedelta(hours=24), HOUR),
        Range("week", _WEEK, HOUR),
    )
}


@dataclass(frozen=True, slots=True)
class Situation:
    """`points` and `before` (a week ago) are of what is drawn; `now` are the freshest values of the rest."""

    sums: Sums
    # How long was really watched, of the length that was asked for.
    minutes: float
    points: Sequence[Point]
    before: Sequence[Point]
    now: Sequence[Point]
    alerts: Sequence[Alert]
    workers: Sequence[Any]

    def latest(self, metric: str) -> dict[str, float]:
        """Series -> the newest value."""
        newest: dict[str, Point] = {}
        for point in self.now:
            known = newest.get(point.series)
            if point.metric == metric and (known is None or point.at >= known.at):
                newest[point.series] = point
        return {series: point.latest for series, point in newest.items()}

    @property
    def queues(self) -> dict[str, Waiting]:
        """Queue -> what lies in it."""
        ages = {labels_of(one).get("queue"): age for one, age in self.latest(QUEUE_AGE).items()}
        found = {}
        for series, depth in self.latest(QUEUE_DEPTH).items():
            queue = labels_of(series).get("queue")
            if queue:
                found[queue] = Waiting(int(depth), ages.get(queue, 0.0))
        return found


async def read(
    app: App,
    session: AsyncSession,
    within: Range,
    figures: Sequence[Figure],
    now: datetime,
    tenant_id: str | None,
) -> Situation:
    since = _begin(now, within)
    sums = await history.totals(
        session, since, axes.METRICS, resolution=within.resolution, tenant_id=tenant_id
    )
    drawing = _Drawing(session, figures, tenant_id)
    points = await drawing.points(since, now, within.resolution)
    # By minute only the last day is kept, and a week is compared with none.
    before = await drawing.points(since - _WEEK, now - _WEEK, HOUR) if within.name == "day" else []
    current = await history.points(session, now - timedelta(minutes=3), metrics=NOW, tenant_id=tenant_id)
    recent = await store.listed(session, since=now - timedelta(hours=24), tenant_id=tenant_id, limit=20)
    opened = await store.listed(session, tenant_id=tenant_id, is_open=True)
    return Situation(
        sums=sums,
        minutes=_watched(points, since, now, within),
        points=points,
        before=before,
        now=current,
        alerts=_together(opened, recent),
        workers=await machine_metrics.living(app, session) if tenant_id is None else [],
    )


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Reads what is drawn as a line: some metrics whole, of the figures their own series only."""

    session: AsyncSession
    figures: Sequence[Figure]
    tenant_id: str | None

    async def points(self, since: datetime, until: datetime, resolution: str) -> list[Point]:
        found = await history.points(
            self.session, since, until=until, metrics=_DRAWN, resolution=resolution, tenant_id=self.tenant_id
        )
        for one in self.figures:
            found += await history.points(
                self.session,
                since,
                until=until,
                metric=one.metric,
                label=one.label,
                resolution=resolution,
                tenant_id=self.tenant_id,
            )
        return found


def _begin(now: datetime, within: Range) -> datetime:
    """Whole minutes or hours, as they are kept."""
    begin = now - within.length
    begin = begin.replace(second=0, microsecond=0)
    return begin if within.resolution == MINUTE else begin.replace(minute=0)


def _watched(points: Sequence[Point], since: datetime, now: datetime, within: Range) -> float:
    """In minutes: a deployment that began an hour ago is not slower for the hours before."""
    first = min((point.at for point in points), default=since)
    return max(1.0, (now - max(first, since)) / timedelta(minutes=1))


def _together(opened: Sequence[Alert], recent: Sequence[Alert]) -> list[Alert]:
    """Those that are open, the gravest first, then what is over, the latest first."""
    first = sorted(opened, key=lambda one: (one.level.rank, one.fired_at))
    over = [one for one in recent if not one.is_open]
    return [*first, *over[:8]]
