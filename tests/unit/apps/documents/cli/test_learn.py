"""`docproc learn`: what it says of a run that changes nothing."""

from __future__ import annotations

from rich.console import Console

from docproc.apps.documents.cli import learn
from docproc.apps.documents.quality.learning import Learnt, Trial
from docproc.apps.documents.quality.verdicts import Decision


def told(dry_run: bool) -> str:
    trial = Trial("extraction", "", (), Decision(True, "field F1 is better"))
    console = Console(width=200)
    with console.capture() as capture:
        console.print(learn._render(Learnt(1, 2, (), (trial,)), dry_run))
    return capture.get()


def test_dry_run_says_what_would_be_kept() -> None:
    assert "extraction  would be kept: field F1" in told(True)
    assert "extraction  kept: field F1" in told(False)
    assert "Learnt from 1 document, measured on 2 files" in told(True)
