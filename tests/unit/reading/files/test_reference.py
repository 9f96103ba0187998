"""The page on files says what the code says."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from docproc.reading.files.kinds import Kind
from docproc.reading.files.trouble import Code
from docproc.reading.files.unfold import Limits

PAGE = (Path(__file__).parents[4] / "docs" / "reference" / "files.md").read_text()


def test_every_code_kind_and_limit_is_listed() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("|")]
    assert all(any(row.startswith(f"| `{code}` |") for row in rows) for code in Code)
    assert all(any(row.startswith(f"| `{limit.name}` |") for row in rows) for limit in fields(Limits))
    kinds = " ".join(row.split("|")[1] for row in rows).lower()
    assert all(kind in kinds for kind in Kind if kind is not Kind.OLE)
