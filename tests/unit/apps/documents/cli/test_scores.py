"""The wrong fields in a narrow terminal: folded, never cut."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from docproc.apps.documents.cli import scores
from docproc.apps.documents.quality.matching import Kind
from docproc.apps.documents.quality.measure import Cause, DocumentVerdict, FieldVerdict, FileVerdict

NAME = "0123456789abcdefghijklmnopqrstuvwxyz-invoice.pdf"
FIELD = "withheld_amount_of_the_second_quarter"


def test_names_are_whole_at_80_columns() -> None:
    path = Path(NAME)
    field = FieldVerdict(
        path, "invoice", "invoice", FIELD, Kind.ID, "1" * 30, "2" * 30, 0.9, 0.1, Cause.RANKING, 0, None
    )
    one = frozenset({0})
    document = DocumentVerdict(path, "invoice", one, "invoice", one, 0.9, (field,))
    console = Console(width=80)
    with console.capture() as capture:
        console.print(scores.render_wrong([FileVerdict(path, (), (document,), (), (0,), None)]))
    shown = capture.get()
    assert "…" not in shown
    file_column = "".join(line[: shown.splitlines()[0].index("page")].strip() for line in shown.splitlines())
    assert NAME in file_column
