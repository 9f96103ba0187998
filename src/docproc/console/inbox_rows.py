"""A line of the inbox as it is shown: where a request stands, in a few words and in a colour."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from docproc.engine.store.tables import RequestStatus
from docproc.http.console_view import ConsoleViews
from docproc.http.looks import is_over
from docproc.written import Written


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a request stands: `kind` is the class of its tag (`good`, `doubt`, `bad`; "" is under way)."""

    text: str
    kind: str = ""
    # What stands below, and is read out with it.
    note: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A request in the list."""

    id: UUID
    title: str
    note: str
    picture: str | None
    cells: Mapping[str, str]
    stand: Stand
    received_at: datetime
    timing: str
    is_over: bool
    facts: Mapping[str, Any] = field(default_factory=dict)


class Words:
    """What lines say, in one language."""

    def __init__(self, text: Callable[..., str], knows: Callable[[str], bool], written: Written) -> None:
        self.text = text
        self.knows = knows
        self.written = written

    def stand(self, row: Any, progress: str, now: datetime) -> Stand:
        """From the columns of a request and its entry."""
        over = is_over(row.status, row.completed_at)
        late = row.status == RequestStatus.SLA_BREACHED
        if row.status == RequestStatus.FAILED:
            return Stand(self.failure(row.error), "bad")
        if not over:
            told = progress or self.status(row.status)
            return Stand(
                told,
                "bad" if late else "",
                self.text("status_sla_breached") if late else self._left(row, now),
            )
        if late:
            return Stand(self.text("status_sla_breached"), "bad", self._doubts(row.attention))
        if row.attention:
            return Stand(self._doubts(row.attention), "doubt")
        return Stand(self.text("status_completed"), "good")

    def status(self, status: str) -> str:
        key = f"status_{status}"
        return self.text(key) if self.knows(key) else status.replace("_", " ")

    def failure(self, error: Any) -> str:
        """Why it failed, in this language: by its code, for what a program said is English."""
        key = f"failure_{error.get('code')}" if isinstance(error, dict) else ""
        return self.text(key) if self.knows(key) else self.text("status_failed")

    def _doubts(self, number: int | None) -> str:
        return self.text("doubts_count", number=number) if number else ""

    def _left(self, row: Any, now: datetime) -> str:
        if row.deadline_utc is None:
            return ""
        seconds = (row.deadline_utc - now).total_seconds()
        return self.text("time_left", time=self.written.duration(round(seconds))) if seconds > 0 else ""

    def timing(self, row: Any, now: datetime) -> str:
        """How long it took, or until when it has to be done."""
        if row.completed_at is not None:
            seconds = (row.completed_at - row.created_at).total_seconds()
            return self.text("done_in", time=self.written.duration(seconds))
        if row.deadline_utc is None:
            return ""
        return self.text("due_at", time=self.written.short(row.deadline_utc, now))


def line(row: Any, views: ConsoleViews, words: Words, progress: str, now: datetime) -> Line:
    summary = row.summary or {}
    names = ", ".join(str(upload["name"]) for upload in row.uploads or ())
    reference = words.text("reference", value=row.external_id) if row.external_id else ""
    channel = f"channel_{row.channel}"
    parts = (
        views.note(summary, words.written),
        words.text(channel) if words.knows(channel) else row.channel,
        reference,
    )
    return Line(
        id=row.id,
        title=row.title or names or row.workflow_name,
        note=" · ".join(filter(None, parts)),
        picture=views.picture(row.id, summary),
        cells=views.cells(summary, words.written),
        stand=words.stand(row, progress, now),
        received_at=row.created_at,
        timing=words.timing(row, now),
        is_over=is_over(row.status, row.completed_at),
    )
