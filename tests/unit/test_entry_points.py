"""Entry points, read from the files of installed packages."""

from __future__ import annotations

import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from docproc import entry_points
from docproc.entry_points import Point, find

TEXT = """
[console_scripts]
parcels = parcels.cli:main

[docproc.applications]
# a comment
parcels = tests.unit.test_entry_points:TEXT
letters=letters.manifest:application [stamps]
"""


@pytest.fixture(autouse=True)
def _only_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*(str(tmp_path / name) for name in ("first", "second", "nowhere"))])


def package(folder: Path, name: str, text: str | None = None) -> None:
    (folder / name).mkdir(parents=True)
    if text is not None:
        (folder / name / "entry_points.txt").write_text(text)


def test_points_of_a_group_are_found_with_their_distribution(tmp_path: Path) -> None:
    package(tmp_path / "first", "My_Parcels-1.0.dist-info", TEXT)
    package(tmp_path / "first", "other-1.0.dist-info")
    assert list(find("docproc.applications")) == [
        Point("parcels", "tests.unit.test_entry_points:TEXT", "my-parcels"),
        Point("letters", "letters.manifest:application", "my-parcels"),
    ]
    assert next(find("docproc.applications")).load() == TEXT
    assert list(find("docproc.transports")) == []


def test_the_first_of_two_versions_counts(tmp_path: Path) -> None:
    package(tmp_path / "first", "my_parcels-2.0.dist-info", "[docproc.applications]\nnew = new:application")
    package(tmp_path / "second", "My.Parcels-1.0.egg-info", TEXT)
    assert [point.name for point in find("docproc.applications")] == ["new"]


def test_what_lies_in_an_archive_is_found_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("parcels-1.0.dist-info/METADATA", "Name: parcels\nVersion: 1.0\n")
        file.writestr("parcels-1.0.dist-info/entry_points.txt", TEXT)
    monkeypatch.setattr(sys, "path", [str(archive), *sys.path])
    assert Point("letters", "letters.manifest:application", "parcels") in list(find("docproc.applications"))


def test_the_same_is_found_as_python_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # what is installed where the tests run
    for group in ("console_scripts", "docproc.applications", "docproc.middleware"):
        known = {(point.name, point.value.partition(" [")[0]) for point in metadata.entry_points(group=group)}
        assert {(point.name, point.value) for point in find(group)} == known
    assert entry_points._all_in_folders()
