"""Reading labelled folders, and saying what is wrong with one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from docproc.apps.documents.quality import labels
from docproc.errors import UsageError


def line(file: str = "a.pdf", **fields: Any) -> str:
    document = {"doc_type": "receipt", "page_indices": [0], "fields": fields}
    return json.dumps({"file": file, "documents": [document]})


def folder(path: Path, *lines: str, files: tuple[str, ...] = ("a.pdf",)) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name in files:
        (path / name).touch()
    (path / "labels.jsonl").write_text("\n".join(lines))
    return path


def test_values_are_text_and_null_is_absent(tmp_path: Path) -> None:
    path = folder(tmp_path, line(total_amount=9.5, date=None, items=[{"name": "x"}]), "")
    (found,) = labels.read([path])
    assert found.files[0].documents[0].fields == {"total_amount": "9.5", "date": None}


def test_folders_are_found_below_and_named_apart(tmp_path: Path) -> None:
    for name in ("receipts/dev", "invoices/dev", "ids"):
        folder(tmp_path / name, line())
    assert [one.name for one in labels.read([tmp_path])] == ["ids", "invoices/dev", "receipts/dev"]
    assert [one.name for one in labels.read([tmp_path / "receipts/dev"])] == ["dev"]


def test_folder_called_all_does_not_hide_the_sum(tmp_path: Path) -> None:
    assert [one.name for one in labels.read([folder(tmp_path / "all", line())])] == [f"{tmp_path.name}/all"]


def test_limit_takes_the_first_lines(tmp_path: Path) -> None:
    path = folder(tmp_path, line("b.pdf"), line("a.pdf"), files=("a.pdf", "b.pdf"))
    assert [file.file for file in labels.read([path], limit=1)[0].files] == ["b.pdf"]


TWICE = json.dumps({"file": "a.pdf", "documents": [{"doc_type": "receipt", "page_indices": [0]}] * 2})


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ("{", r"labels\.jsonl:2: not JSON"),
        ("[]", r"labels\.jsonl:2: .*Write it like"),
        ('{"file": "b.pdf"}', r"labels\.jsonl:2: documents: Field required\. Write it like"),
        (line("c.pdf"), r"labels\.jsonl:2: c\.pdf does not exist\. Put it into"),
        (line("a.pdf"), r"labels\.jsonl:2: a\.pdf stands on line 1, too"),
        (TWICE, r"labels\.jsonl:2: .*page 0 stands in two documents"),
        (
            '{"file": "b.pdf", "documents": [{"doc_type": "x", "page_indices": [-1]}]}',
            r":2: documents\.0\.page_indices\.0",
        ),
    ],
)
def test_broken_line_is_named(tmp_path: Path, broken: str, problem: str) -> None:
    path = folder(tmp_path, line(), broken, files=("a.pdf", "b.pdf"))
    with pytest.raises(UsageError, match=problem):
        labels.read([path])


def test_folder_without_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no labels\.jsonl in .*Name a folder"):
        labels.read([tmp_path])
    with pytest.raises(UsageError, match=r"there is no folder"):
        labels.read([tmp_path / "nowhere"])
    with pytest.raises(UsageError, match=r"labels\.jsonl:1: it has no line"):
        labels.read([folder(tmp_path / "empty", "")])
