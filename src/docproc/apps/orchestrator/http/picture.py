"""A trace as a picture: one bar per call on a common scale of time, coloured by how it ended."""

from __future__ import annotations

from datetime import datetime
from html import escape

from docproc.apps.orchestrator.http.models import StepInfo, Trace
from docproc.engine.message import utc_now

_LEFT, _WIDTH, _ROW, _TOP = 260, 640, 28, 60
_COLOURS = {"completed": "#2e7d32", "failed": "#c62828", "cancelled": "#757575"}
_RUNNING = "#1565c0"


def svg(trace: Trace) -> str:
    steps = [step for task in trace.tasks for step in task.steps]
    begin = min(task.created_at for task in trace.tasks)
    ends = [step.ended_at or utc_now() for step in steps]
    ends += [task.completed_at for task in trace.tasks if task.completed_at]
    end = max([begin, *ends])
    seconds = max(0.001, (end - begin).total_seconds())
    height = _TOP + _ROW * max(1, len(steps)) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 40} {height}" '
        f'font-family="sans-serif" font-size="13" role="img">',
        f"<title>{escape(str(trace.correlation_id))}</title>",
        f'<rect width="100%" height="{height}" fill="#ffffff"/>',
        f'<text x="10" y="22" font-weight="bold">{escape(str(trace.correlation_id))}</text>',
        f'<text x="10" y="42" fill="#555555">{len(steps)} calls, {seconds:.3f} s</text>',
    ]
    for number, step in enumerate(steps):
        parts.append(_bar(step, _TOP + number * _ROW, begin, seconds))
    return "\n".join([*parts, "</svg>"])


def _bar(step: StepInfo, y: int, begin: datetime, seconds: float) -> str:
    start = max(0.0, (step.started_at - begin).total_seconds()) / seconds
    stop = ((step.ended_at or utc_now()) - begin).total_seconds() / seconds
    x, width = _LEFT + start * _WIDTH, max(2.0, (stop - start) * _WIDTH)
    colour = _COLOURS.get(step.status, _RUNNING)
    name = f"{step.step} › {step.tool}" if step.tool else step.step
    again = f", attempt {step.attempt}" if step.attempt > 1 else ""
    told = f"{name}: {step.service} {step.type}, {step.status}{again}"
    return (
        f"<g><title>{escape(told)}</title>"
        f'<text x="10" y="{y + 16}">{escape(_short(name, 18))}</text>'
        f'<text x="150" y="{y + 16}" fill="#555555">{escape(_short(step.service, 15))}</text>'
        f'<rect x="{x:.1f}" y="{y + 4}" width="{width:.1f}" height="16" rx="3" fill="{colour}"/></g>'
    )


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
