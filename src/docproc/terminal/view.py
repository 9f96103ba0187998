"""How requests look in a terminal: what all have in common, and how applications show theirs.

Works on the status object (`GET /status/{id}`), wherever it came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.json import JSON
from rich.padding import Padding
from rich.text import Text

from docproc.application import load
from docproc.engine.store.requests import readable_error
from docproc.installed import find_applications
from docproc.settings import Settings

Status = Mapping[str, Any]
# The share of the work that is done, between 0 and 1 (None: it cannot be measured yet), and counts in words.
Counted = tuple[float | None, str]

COLOURS = {"completed": "green", "failed": "red", "sla_breached": "red"}
# Of a request, whether it waits for the answers or they will amend it.
HAS_QUESTIONS = "has questions for people, at the review station; docproc up --review flag asks none"


class TerminalView:
    """How requests of an application look in a terminal; its manifest names one (`views.terminal`).

    Requests of other applications are asked about, too: say None there.
    """

    def answer(self, name: str, status: Status) -> RenderableType | None:
        """Everything there is to say about a request, finished or not; `name` is what people call it."""
        return None

    def progress(self, counts: Mapping[str, Any]) -> Counted | None:
        """How far a request is, by `progress` of `GET /requests/{id}`."""
        return None

    def total(self, statuses: Sequence[Status]) -> str:
        """What several requests add up to, such as `12 pages`; empty: nothing worth a word."""
        return ""


class TerminalViews:
    """What applications say of a request; where none of them knows it, what can be said of any."""

    def __init__(self, views: Sequence[TerminalView]) -> None:
        self.views = views

    def answer(self, name: str, status: Status) -> RenderableType:
        said = (view.answer(name, status) for view in self.views)
        return next((one for one in said if one is not None), plain_answer(name, status))

    def progress(self, counts: Mapping[str, Any]) -> Counted:
        said = (view.progress(counts) for view in self.views)
        return next((one for one in said if one is not None), (None, ""))

    def total(self, statuses: Sequence[Status]) -> str:
        return " · ".join(filter(None, (view.total(statuses) for view in self.views)))


def load_views() -> TerminalViews:
    """Those of the applications that are loaded."""
    applications = find_applications().chosen(Settings.load().applications)
    return TerminalViews([load(one.views.terminal) for one in applications if one.views.terminal])


def plain_answer(name: str, status: Status) -> RenderableType:
    """Of a request that no application knows better: how it stands, and its result as JSON."""
    parts = heading(name, status)
    if status["result"] is not None:
        parts.append(Padding(JSON.from_data(status["result"], default=str), (0, 0, 0, 2)))
    return Group(*parts)


def heading(name: str, status: Status, *facts: str) -> list[RenderableType]:
    """The lines that every answer begins with; `facts` stand between workflow and duration."""
    parts: list[RenderableType] = [_headline(name, status, facts)]
    if status["error"]:
        parts.append(Text(f"  {readable_error(status['error'])}", style="red"))
    if status["result"]:
        parts.append(Text(f"  request {status['request_id']}", style="dim"))  # for other commands
    return parts


def _headline(name: str, status: Status, facts: Sequence[str]) -> Text:
    colour = COLOURS.get(status["status"], "yellow")
    line = Text.assemble((name, "bold"), "  ", (status["status"], f"bold {colour}"))
    if isinstance(status["result"], Mapping) and status["result"].get("partial"):
        line.append("  partial answer", style="yellow")
    said = (status["workflow_name"], *facts, _duration(status))
    return line.append("  " + " · ".join(fact for fact in said if fact), style="dim")


def _duration(status: Status) -> str:
    started, ended = moment(status["created_at"]), moment(status["completed_at"])
    return f"{(ended - started).total_seconds():.1f} s" if started and ended else ""


def moment(value: datetime | str | None) -> datetime | None:
    """A status object has datetimes here and texts after a journey over HTTP."""
    return datetime.fromisoformat(value) if isinstance(value, str) else value
