"""A picture of a capacity plan: the 95th percentile of response times over the load, as SVG."""

from __future__ import annotations

from docproc.capacity.planning import CapacityPlan
from docproc.capacity.queueing import response

_WIDTH, _HEIGHT, _MARGIN = 640, 320, 48
_RIGHT, _BOTTOM = _WIDTH - _MARGIN, _HEIGHT - _MARGIN
_STEPS = 40
_INK, _BLUE, _RED = "#445566", "#1a5fb4", "#b3261e"


def picture(plan: CapacityPlan) -> str:
    """To twice the planned load, and twice the deadline; the curve ends where the workers cannot keep up."""
    load, deadline = plan.load.per_second, plan.load.deadline_seconds
    points = []
    for step in range(1, _STEPS + 1):
        tried = 2 * load * step / _STEPS
        p95 = response(plan.load.at(tried), plan.workers).p95
        if p95 <= 2 * deadline:
            points.append(f"{_x(tried / load):.1f},{_y(p95 / deadline):.1f}")
    marks = [
        f'<path d="M{_MARGIN},{_MARGIN} V{_BOTTOM} H{_RIGHT}" fill="none" stroke="{_INK}"/>',
        _line(_MARGIN, _y(1), _RIGHT, _y(1), _RED),
        _text(_RIGHT, _y(1) - 6, f"deadline {deadline:g} s", _RED, "end"),
        _line(_x(1), _MARGIN, _x(1), _BOTTOM, _INK),
        _text(_x(1) + 6, _MARGIN + 12, f"planned: {load * 3600:.0f}/h", _INK),
        f'<polyline points="{" ".join(points)}" fill="none" stroke="{_BLUE}" stroke-width="2"/>',
        _text(_MARGIN, _MARGIN - 10, "95th percentile, seconds", _INK),
        _text(_RIGHT, _BOTTOM + 20, f"requests an hour (to {load * 7200:.0f})", _INK, "end"),
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-size="12"'
    title = "<title>Response times over the load</title>"
    return "\n".join([f'{head} font-family="sans-serif">', title, *marks, "</svg>", ""])


def _x(share: float) -> float:
    """Of the planned load."""
    return _MARGIN + (_RIGHT - _MARGIN) * share / 2


def _y(share: float) -> float:
    """Of the deadline."""
    return _BOTTOM - (_BOTTOM - _MARGIN) * share / 2


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-dasharray="4 3"/>'


def _text(x: float, y: float, said: str, colour: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{said}</text>'
