"""The lines of the live view."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from rich.console import Console

from docproc.engine.message import utc_now
from docproc.terminal import progress as live
from docproc.terminal.progress import Progress, time_left


def test_a_line_says_the_counts_and_who_is_waited_for() -> None:
    assert Progress("a", "received").said == ""
    assert Progress("a", "processing", counts="read 1/1").said == "read 1/1"
    assert (
        Progress("a", "processing", counts="read 1/1", questions=1).said == "read 1/1 · waits for a person: 1"
    )


@pytest.mark.parametrize(
    ("seconds", "text", "style"),
    [(50.5, "50 s left", "green"), (5.5, "5 s left", "yellow"), (3725.5, "1 h 02 min left", "green"),
     (-0.5, "0 s late", "bold red"), (-75.5, "1 min 15 s late", "bold red")],
)  # fmt: skip
def test_time_left_is_red_when_the_deadline_is_past(seconds: float, text: str, style: str) -> None:
    now = utc_now()
    found = time_left(now + timedelta(seconds=seconds), now)
    assert (found.plain, found.style) == (text, style)


def test_no_deadline_says_nothing() -> None:
    assert time_left(None, utc_now()).plain == ""


def test_what_is_printed_beside_the_live_view_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    file = StringIO()
    monkeypatch.setattr(live, "errors", Console(file=file, force_terminal=True, width=80))
    with live.LiveView(total=2) as view:
        view.show([Progress("a.pdf", "processing"), Progress("b.pdf", "received")], done=0)
        view._live.refresh()
        with view.aside():
            file.write("the answer\n")
        view._live.refresh()
    after = file.getvalue().partition("the answer\n")[2]
    up_to_next = after[: after.index("a.pdf")]
    assert "\x1b[1A" not in up_to_next  # the cursor never goes up over the answer
