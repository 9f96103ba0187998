"""Answers of several requests, printed in their order."""

from __future__ import annotations

from docproc.terminal.printer import unique_names


def test_names_of_answers_are_unique_whatever_the_case_of_letters() -> None:
    given = ["a.pdf", "A.png", "a.tiff", "a-2.pdf", "x/y:z.pdf", ".pdf"]
    assert unique_names(given) == ["a.json", "A-2.json", "a-3.json", "a-2-2.json", "y-z.json", ".pdf.json"]
