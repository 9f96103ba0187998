"""What a terminal shows of any request, and how applications show theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from docproc.terminal.view import Counted, Status, TerminalView, TerminalViews

STATUS: dict[str, Any] = {
    "request_id": "84a47d02-ce9b-4da8-8ccb-1963c8961a05",
    "status": "failed",
    "workflow_name": "parcels",
    "created_at": "2026-01-01T10:00:00Z",
    "completed_at": "2026-01-01T10:00:01.500000Z",
    "result": {"weights": [1, 2], "partial": True},
    "error": {"code": "x", "message": "a parcel is lost"},
}


class Parcels(TerminalView):
    def answer(self, name: str, status: Status) -> RenderableType | None:
        return Text(f"{name}: parcels") if "weights" in (status["result"] or {}) else None

    def progress(self, counts: Mapping[str, Any]) -> Counted | None:
        return (counts["parcels"] / 10, f"{counts['parcels']} parcels") if "parcels" in counts else None

    def total(self, statuses: Sequence[Status]) -> str:
        return f"{len(statuses)} shipments"


def lines(shown: RenderableType) -> list[str]:
    console = Console(file=StringIO(), width=200)
    console.print(shown)
    assert isinstance(console.file, StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_a_request_that_no_application_knows_is_told_with_its_result_as_json() -> None:
    views = TerminalViews([])
    said = lines(views.answer("a box", STATUS))
    assert said[0] == "a box  failed  partial answer  parcels · 1.5 s"
    assert said[1:3] == ["  a parcel is lost", f"  request {STATUS['request_id']}"]
    assert said[3] == "  {" and '    "partial": true' in said
    assert views.progress({"stages": []}) == (None, "")
    assert views.total([STATUS]) == ""


def test_a_request_without_a_result_is_one_line() -> None:
    running = {**STATUS, "status": "weighing", "completed_at": None, "result": None, "error": None}
    assert lines(TerminalViews([]).answer("a box", running)) == ["a box  weighing  parcels"]


def test_the_application_that_knows_a_request_speaks_for_it() -> None:
    views = TerminalViews([TerminalView(), Parcels()])
    assert lines(views.answer("a box", STATUS)) == ["a box: parcels"]
    assert lines(views.answer("a box", {**STATUS, "result": None}))[0] == "a box  failed  parcels · 1.5 s"
    assert views.progress({"parcels": 5}) == (0.5, "5 parcels")
    assert views.progress({"pages_total": 5}) == (None, "")
    assert views.total([STATUS]) == "1 shipments"
