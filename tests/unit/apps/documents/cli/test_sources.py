"""Which files a command is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from docproc.apps.documents.cli.sources import batches, collect, parse_metadata
from docproc.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = (
        "page-10.pdf",
        "page-2.pdf",
        "Page-1.pdf",
        ".hidden.pdf",
        "labels.jsonl",
        "b/x.png",
        ".git/y.pdf",
    )
    for name in names:
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"%PDF-")
    return tmp_path / "in"


def test_folder_gives_its_files_in_natural_order_without_hidden_ones(folder: Path) -> None:
    found = [source.path for source in collect([str(folder)])]
    assert found == [folder / n for n in ("b/x.png", "Page-1.pdf", "page-2.pdf", "page-10.pdf")]


def test_files_are_taken_as_given_even_twice_or_hidden(folder: Path) -> None:
    given = [str(folder / name) for name in ("page-2.pdf", ".hidden.pdf", "page-2.pdf")]
    assert [str(source.path) for source in collect(given)] == given


def test_each_file_is_a_request_unless_together(folder: Path) -> None:
    apart = batches([str(folder)], together=False)
    assert [batch.name for batch in apart] == ["x.png", "Page-1.pdf", "page-2.pdf", "page-10.pdf"]
    (one,) = batches([str(folder)], together=True)
    assert (one.name, len(one.sources)) == ("in", 4)
    (named,) = batches([str(folder / "page-2.pdf"), str(folder)], together=True)
    assert (named.name, len(named.sources)) == ("page-2.pdf", 5)


def test_standard_input_is_a_source_once() -> None:
    (source,) = collect(["-"])
    assert (source.path, source.name) == (None, "stdin")
    with pytest.raises(UsageError, match="once only"):
        list(collect(["-", "-"]))


@pytest.mark.parametrize(
    ("name", "problem"), [("nowhere.pdf", "does not exist"), ("empty", "there is no file")]
)
def test_what_is_not_there_is_named(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=f"{problem}.*(Check the path|Name a folder)") as raised:
        list(collect([str(tmp_path / name)]))
    assert str(tmp_path / name) in str(raised.value) and raised.value.exit_code == 2


def test_metadata_is_an_object_and_carries_the_password() -> None:
    assert parse_metadata('{"a": 1}') == {"a": 1}
    assert parse_metadata("{}", "secret") == {"password": "secret"}
    for text, problem in (("{", "not JSON"), ("[1]", "not an object")):
        with pytest.raises(UsageError, match=f"{problem}.*--metadata"):
            parse_metadata(text)
