"""The history of a request as a picture: where its bars, marks and labels stand. A template draws it (SVG).

One row a stage, with its units side by side in thin lanes where they ran in parallel; a row for people, with
the wait until somebody took a task and the work on it; marks for answers, a line for the deadline. A pause
that is much longer than the work is squeezed, and says how long it was: three seconds of work must stay
visible beside an hour of waiting.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

WIDTH = 1000
LABELS = 150  # what stands left of the bars
LANE = 4
MOST_LANES = 6
ROW_GAP = 5
# A stage with more units than this is drawn as one bar for all of them.
MOST_BARS = 200
# A pause is squeezed when it is so much longer than all work, to this share of the picture.
SQUEEZE_FROM = 1.5
SQUEEZED = 0.16
LEAST_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took time: a unit in a stage, or somebody's task. Kinds: work, failed, wait, person."""

    row: str
    began: datetime
    ended: datetime
    kind: str = "work"
    label: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """Something at one time: an answer, the deadline."""

    at: datetime
    kind: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    y: float
    height: float
    units: int


@dataclass(frozen=True, slots=True)
class Mark:
    x: float
    kind: str
    label: str
    # Whether the label stands left of it, because there is no room on the right.
    is_left: bool


@dataclass(frozen=True, slots=True)
class Pause:
    """A squeezed stretch of time."""

    x: float
    width: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Picture:
    width: int
    height: float
    rows: Sequence[Row]
    bars: Sequence[Bar]
    marks: Sequence[Mark]
    pauses: Sequence[Pause]
    # From the first to the last thing in it.
    seconds: float


class Scale:
    """Time to pixels, with long pauses squeezed."""

    def __init__(self, begin: float, end: float, busy: Sequence[tuple[float, float]]) -> None:
        self.begin, self.end = begin, max(end, begin + LEAST_SECONDS)
        stretches = _stretches(self.begin, self.end, busy)
        work = sum(to - since for since, to, is_busy in stretches if is_busy) or LEAST_SECONDS
        long = [s for s in stretches if not s[2] and s[1] - s[0] > SQUEEZE_FROM * work]
        room = WIDTH - LABELS - 10
        squeezed = min(SQUEEZED, 0.5 / len(long)) * room if long else 0.0
        rest = sum(to - since for since, to, _ in stretches) - sum(to - since for since, to, _ in long)
        per_second = (room - squeezed * len(long)) / max(rest, LEAST_SECONDS)
        self.pauses: list[Pause] = []
        self._pieces: list[tuple[float, float, float, float]] = []
        x = float(LABELS)
        for piece in stretches:
            since, to, _ = piece
            width = squeezed if piece in long else (to - since) * per_second
            if piece in long:
                self.pauses.append(Pause(x, width, to - since))
            self._pieces.append((since, to, x, width))
            x += width

    def x(self, moment: float) -> float:
        for since, to, x, width in self._pieces:
            if moment <= to:
                share = (moment - since) / (to - since) if to > since else 0.0
                return round(x + width * min(max(share, 0.0), 1.0), 1)
        _, _, x, width = self._pieces[-1]
        return round(x + width, 1)


def _stretches(
    begin: float, end: float, busy: Sequence[tuple[float, float]]
) -> list[tuple[float, float, bool]]:
    """The whole time, cut into what is busy and the pauses between."""
    found: list[tuple[float, float, bool]] = []
    at = begin
    for since, to in _merged(busy):
        since, to = max(since, at), min(to, end)
        if since > at:
            found.append((at, since, False))
        if to > since:
            found.append((since, to, True))
            at = to
    if at < end or not found:
        found.append((at, end, False))
    return found


def _merged(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for since, to in sorted(spans):
        if found and since <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], to))
        else:
            found.append((since, to))
    return found


def lanes(spans: Sequence[Span]) -> list[int]:
    """For each span, by its beginning, a lane where nothing else is at that time; the last one is shared."""
    free: list[datetime] = []
    chosen = []
    for span in spans:
        lane = next((number for number, until in enumerate(free) if until <= span.began), len(free))
        if lane == len(free) and len(free) < MOST_LANES:
            free.append(span.ended)
        else:
            lane = min(lane, MOST_LANES - 1)
            free[lane] = max(free[lane], span.ended)
        chosen.append(lane)
    return chosen


def draw(
    began: datetime, spans: Sequence[Span], moments: Sequence[Moment], now: datetime | None = None
) -> Picture:
    """`now` where it still goes on: the picture ends there."""
    ends = [*(span.ended for span in spans), *(one.at for one in moments if one.kind != "deadline")]
    last = max([began, *ends, *([now] if now else [])])
    # A deadline far ahead is said in words elsewhere; one that is near, or was passed, is a line.
    near = last + (last - began) * 0.5
    shown = [one for one in moments if began <= one.at <= near]
    end = max([last, *(one.at for one in shown)])
    busy = [(s.began.timestamp(), s.ended.timestamp()) for s in spans if s.kind in ("work", "failed")]
    scale = Scale(began.timestamp(), end.timestamp(), busy)
    rows, bars, y = [], [], 14.0
    for name in dict.fromkeys(span.row for span in spans):
        mine = sorted((span for span in spans if span.row == name), key=lambda span: span.began)
        made, height = _row(mine, scale, y)
        rows.append(Row(name, y, height, len(mine)))
        bars += made
        y += height + ROW_GAP
    marks = [_mark(one, scale) for one in shown]
    seconds = (end - began).total_seconds()
    return Picture(WIDTH, y + 14, rows, bars, marks, scale.pauses, seconds)


def _row(spans: Sequence[Span], scale: Scale, y: float) -> tuple[list[Bar], float]:
    if len(spans) > MOST_BARS:
        merged = _merged((span.began.timestamp(), span.ended.timestamp()) for span in spans)
        return [_bar(scale, since, to, y, 2 * LANE, "work", "") for since, to in merged], 2 * LANE
    chosen = lanes(spans)
    count = max(chosen, default=0) + 1
    height = LANE if count > 2 else 2 * LANE if count == 1 else LANE + 1
    bars = [
        _bar(
            scale, span.began.timestamp(), span.ended.timestamp(), y + lane * (height + 1), height, span.kind,
            span.label,
        )
        for span, lane in zip(spans, chosen, strict=True)
    ]  # fmt: skip
    return bars, max(count * (height + 1) - 1, 2 * LANE)


def _bar(scale: Scale, since: float, to: float, y: float, height: float, kind: str, label: str) -> Bar:
    x = scale.x(since)
    return Bar(x, y, max(round(scale.x(to) - x, 1), 2.0), height, kind, label)


def _mark(one: Moment, scale: Scale) -> Mark:
    x = scale.x(one.at.timestamp())
    return Mark(x, one.kind, one.label, is_left=x > WIDTH - 130)
