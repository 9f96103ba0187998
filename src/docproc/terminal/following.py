"""Requests of a running DocProc, followed to their ends."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from rich.markup import escape

from docproc.engine.store.requests import TERMINAL
from docproc.errors import TransportError
from docproc.terminal.output import errors
from docproc.terminal.printer import Printer
from docproc.terminal.progress import SHOWN, LiveView, Progress
from docproc.terminal.server import Server
from docproc.terminal.view import HAS_QUESTIONS, TerminalViews, load_views, moment

LOOK_SECONDS = 0.5
# A server that restarts is waited for.
PATIENCE_SECONDS = 15.0


def follow(server: Server, ids: Sequence[UUID], names: Sequence[str], *, as_json: bool) -> int:
    """Until all are over; returns the exit code."""
    started = time.monotonic()
    views = load_views()
    printer = Printer(names, views, as_json=as_json)
    running = dict(enumerate(ids))
    # Without patience: an unknown id or no server is told at once.
    seen = {index: server.status(request_id) for index, request_id in running.items()}
    told: frozenset[str] = frozenset()
    with LiveView(len(ids)) as view:
        while True:
            for index in [index for index in running if seen[index]["status"] in TERMINAL]:
                del running[index]
                printer.add(index, seen[index], view)
            if not running:
                break
            details = {index: _patiently(server.detail, running[index]) for index in [*running][:SHOWN]}
            lines = [_progress(names[index], detail, views) for index, detail in details.items()]
            view.show(lines, len(printer.statuses), others=len(running) - len(lines))
            told = _tell_who_waits(lines, view, told)
            time.sleep(LOOK_SECONDS)
            seen = {index: _patiently(server.status, request_id) for index, request_id in running.items()}
    printer.total(time.monotonic() - started)
    return 0 if printer.all_complete else 1


def _tell_who_waits(running: Sequence[Progress], view: LiveView, told: frozenset[str]) -> frozenset[str]:
    """Once each, where no live view says so: people may take their time, and a script should know why."""
    if view.is_shown:
        return told
    waiting = {one.name for one in running if one.questions} - told
    for name in sorted(waiting):
        errors.print(f"{escape(name)} {HAS_QUESTIONS}", highlight=False, soft_wrap=True)
    return told | waiting


def _patiently(ask: Any, request_id: UUID) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            answer: dict[str, Any] = ask(request_id)
            return answer
        except TransportError:
            if time.monotonic() > deadline:
                raise
        time.sleep(LOOK_SECONDS)


def _progress(name: str, detail: Mapping[str, Any], views: TerminalViews) -> Progress:
    share, counts = views.progress(detail["progress"])
    deadline = moment(detail["deadline_utc"])
    return Progress(name, detail["status"], deadline, share, counts, detail["open_tasks"])
