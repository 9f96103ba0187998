"""The monitor's first numbers: each with its line over the time shown, and the same of a week before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from docproc.alerts import axes, machine_metrics, people_metrics, request_metrics
from docproc.alerts.alert_set import Figure
from docproc.alerts.history import Point
from docproc.alerts.latency import percentile
from docproc.alerts.samples import labels_of
from docproc.alerts.situation import Range, Situation
from docproc.alerts.spoken import Spoken

WIDTH, HEIGHT = 100.0, 28.0
_WEEK = timedelta(days=7)
# Below such a share a number is marked: most requests should need nobody, and all be in time.
_IN_TIME, _LATE_IS_BAD = 0.999, 0.95

Value = Callable[[Sequence[Point]], float | None]


@dataclass(frozen=True, slots=True)
class Card:
    """`line` and `before` are points of polylines, empty where there is too little to draw; `tone` is `good`,
    `doubt`, `bad` or empty; `change` compares with a week ago, in percent, where that says something."""

    text: str
    value: str
    line: str
    before: str
    tone: str = ""
    change: str = ""
    href: str = ""


def cards(
    found: Situation, within: Range, figures: Sequence[Figure], spoken: Spoken, now: datetime
) -> list[Card]:
    drawing = _Drawing(found, within, now)
    requests = axes.all_requests(found.sums)
    tasks = sum(found.latest(people_metrics.OPEN).values())
    letters = sum(found.latest(machine_metrics.DEAD_LETTERS).values())
    made = [_counted(one.text, one.metric, one.label, found, drawing, spoken) for one in figures]
    made.append(_counted("monitor_requests_per_hour", request_metrics.RECEIVED, "", found, drawing, spoken))
    made += [
        Card(
            "monitor_straight_through",
            spoken.share(requests.straight_share, 0),
            *drawing.lines(_share(request_metrics.STRAIGHT)),
            "good" if requests.straight_share is not None else "",
        ),
        Card(
            "monitor_in_time",
            spoken.share(requests.in_time_share),
            *drawing.lines(_share(request_metrics.LATE, inverted=True)),
            _tone_of_time(requests.in_time_share),
        ),
        Card("monitor_p95_request", spoken.seconds(requests.p95), *drawing.lines(_p95)),
        Card(
            "monitor_open_tasks",
            spoken.number(tasks),
            *drawing.lines(_level(people_metrics.OPEN)),
            "doubt" if tasks else "",
        ),
        Card(
            "monitor_open_letters",
            spoken.number(letters),
            *drawing.lines(_level(machine_metrics.DEAD_LETTERS)),
            "bad" if letters else "",
            href="/monitor/dead-letters",
        ),
    ]
    return made


def _counted(
    text: str,
    metric: str,
    label: str,
    found: Situation,
    drawing: _Drawing,
    spoken: Spoken,
) -> Card:
    """What was counted, an hour."""
    mine = _sum(metric, label)
    total = mine(found.points) or 0.0
    before = mine(found.before)
    change = ""
    if before and before >= 10 and drawing.is_comparable:
        percent = 100 * (total - before) / before
        change = f"{'+' if percent >= 0 else '−'}{spoken.number(abs(percent))}\u00a0%"
    return Card(
        text, spoken.number(total / found.minutes * 60), *drawing.lines(mine), "good" if total else "", change
    )


def _tone_of_time(share: float | None) -> str:
    if share is None:
        return ""
    return "good" if share >= _IN_TIME else "doubt" if share >= _LATE_IS_BAD else "bad"


# --- what is read from the points of one minute or hour


def _sum(metric: str, label: str = "") -> Value:
    def value(points: Sequence[Point]) -> float | None:
        mine = [one.total for one in points if one.metric == metric and label in one.series]
        return sum(mine) if mine else None

    return value


def _share(metric: str, *, inverted: bool = False) -> Value:
    part, whole = _sum(metric), _sum(request_metrics.ENDED)

    def value(points: Sequence[Point]) -> float | None:
        ended = whole(points)
        if not ended:
            return None
        share = (part(points) or 0.0) / ended
        return 1 - share if inverted else share

    return value


def _p95(points: Sequence[Point]) -> float | None:
    counts: Counter[int] = Counter()
    for one in points:
        if one.metric == request_metrics.BUCKET:
            counts[int(labels_of(one.series)["bucket"])] += int(one.total)
    return percentile(counts, 0.95)


def _level(metric: str) -> Value:
    def value(points: Sequence[Point]) -> float | None:
        mine = [one for one in points if one.metric == metric]
        return sum(one.mean for one in mine) if mine else None

    return value


# --- lines


class _Drawing:
    """Points of polylines: the time shown, and a week before on the same scale."""

    def __init__(self, found: Situation, within: Range, now: datetime) -> None:
        self.within = within
        self.begin = now - within.length
        self.span = within.length.total_seconds()
        self.points = _by_moment(found.points)
        # A week ago is known by hour: of an hour alone there is no line.
        self.is_comparable = within.name == "day"
        self.before = _by_moment(found.before) if self.is_comparable else {}

    def lines(self, value: Value) -> tuple[str, str]:
        mine = [(at, one) for at, points in self.points.items() if (one := value(points)) is not None]
        past = [(at + _WEEK, one) for at, points in self.before.items() if (one := value(points)) is not None]
        most = max((one for _, one in [*mine, *past]), default=0.0) or 1.0
        return self._line(mine, most), self._line(past, most)

    def _line(self, values: list[tuple[datetime, float]], most: float) -> str:
        if len(values) < 2:
            return ""
        return " ".join(
            f"{self._x(at):.1f},{HEIGHT - 2 - one / most * (HEIGHT - 4):.1f}" for at, one in values
        )

    def _x(self, at: datetime) -> float:
        # A minute or hour is drawn at its middle; the first may have begun before the time shown.
        seconds = (at + self.within.step / 2 - self.begin).total_seconds()
        return min(WIDTH, max(0.0, seconds / self.span * WIDTH))


def _by_moment(points: Sequence[Point]) -> dict[datetime, list[Point]]:
    found: defaultdict[datetime, list[Point]] = defaultdict(list)
    for point in sorted(points, key=lambda one: one.at):
        found[point.at].append(point)
    return dict(found)
