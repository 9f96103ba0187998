"""The live view of running requests: a line each with what is done, the status and the time that is left."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from docproc.engine.message import utc_now
from docproc.terminal.output import errors

SHOWN = 10
LONGEST_NAME = 32
REFRESHES_PER_SECOND = 5


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a request is; None where it is not known (yet)."""

    name: str
    status: str
    deadline: datetime | None = None
    # Of the work that is done, between 0 and 1; and how much of what, as the application counts it.
    share: float | None = None
    counts: str = ""
    questions: int = 0

    @property
    def said(self) -> str:
        """The counts, and whether people are asked."""
        waits = f"waits for a person: {self.questions}" if self.questions else ""
        return " · ".join(filter(None, (self.counts, waits)))


def time_left(deadline: datetime | None, now: datetime) -> Text:
    """To the deadline; red when it is past."""
    if deadline is None:
        return Text()
    seconds = (deadline - now).total_seconds()
    if seconds < 0:
        return Text(f"{_clock(-seconds)} late", style="bold red")
    return Text(f"{_clock(seconds)} left", style="yellow" if seconds < 10 else "green")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


class LiveView:
    """On standard error and only on a terminal; gone at the end, so that answers are all that stays."""

    def __init__(self, total: int, what: str = "requests") -> None:
        self.total = total
        self.what = what
        self._started = time.monotonic()
        self._live = _live()

    @property
    def is_shown(self) -> bool:
        return errors.is_terminal

    def __enter__(self) -> Self:
        if self.is_shown:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._live.stop()

    def show(self, running: Sequence[Progress], done: int, others: int = 0) -> None:
        """Some of those that run, how many are done, and how many run besides."""
        if self.is_shown:
            self._live.update(self._drawn(running, done, others))

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Out of the way while something is printed."""
        self._live.stop()
        try:
            yield
        finally:
            if self.is_shown:
                # A new one: the old one remembers its height and would erase that much of what was printed.
                self._live = _live(self._live.renderable)
                self._live.start()

    def _drawn(self, running: Sequence[Progress], done: int, others: int) -> Group:
        parts: list[Table | Text] = [lines(running)]
        if others:
            parts.append(Text(f"and {others} more", style="dim"))
        if self.total > 1:
            parts.append(self._overall(done))
        return Group(*parts)

    def _overall(self, done: int) -> Table:
        table = Table.grid(padding=(0, 2, 0, 0))
        elapsed = _clock(time.monotonic() - self._started)
        bar = ProgressBar(total=self.total, completed=done, width=30)
        table.add_row(Text(f"{done} of {self.total} {self.what}", style="bold"), bar, Text(elapsed, "dim"))
        return table


def _live(shown: RenderableType | None = None) -> Live:
    # Standard output is not ours to redirect: it may be a pipe.
    return Live(
        shown,
        console=errors,
        transient=True,
        refresh_per_second=REFRESHES_PER_SECOND,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def lines(running: Sequence[Progress]) -> Table:
    """One line a request."""
    table = Table.grid(padding=(0, 2, 0, 0))
    now = utc_now()
    for one in running:
        share = one.share
        bar = ProgressBar(total=1.0, completed=share or 0.0, width=20, pulse=share is None)
        name = one.name if len(one.name) <= LONGEST_NAME else f"{one.name[: LONGEST_NAME - 1]}…"
        said = Text(one.said)
        table.add_row(Text(name), bar, Text(one.status, "cyan"), said, time_left(one.deadline, now))
    return table
