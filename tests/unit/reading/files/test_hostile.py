"""Hostile files: quickly refused or read, never a hang, a crash or a surprise."""

from __future__ import annotations

import multiprocessing
import random
import resource
import time
import zipfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from docproc.errors import UnreadableFileError
from docproc.reading.files.unfold import unfold
from tests.hostile import (
    FIXED,
    MUTATIONS,
    hostile_files,
    make_locked_pdf,
    make_pdf,
    mutated,
    write_hostile_files,
)
from tests.unit.reading.files.conftest import Unfold
from tests.unit.reading.files.ole import make_attachment, make_msg, make_ole

SECONDS = 5.0


def try_out(unfolded: Unfold, name: str, content: bytes, **options: Any) -> str:
    """What came of it: a code, or "read"."""
    start = time.monotonic()
    try:
        found = unfolded(content, name, **options)
    except UnreadableFileError as error:
        outcome = error.code
    else:
        assert any(file.page_count for file in found)
        assert all(file.path.exists() for file in found)
        outcome = "read"
    assert time.monotonic() - start < SECONDS, name
    return outcome


EXPECTED = {
    "empty.pdf": "empty_file",
    "random.bin": "unsupported_type",
    "pdf-as.jpg": "read",
    "junk-before.pdf": "read",
    "png-as.pdf": "read",
    "vast-page.pdf": "read",
    "vast.png": "too_large_image",
    "looping.tiff": "read",
    "many-pages.tiff": "read",
    "bomb.zip": "archive_bomb",
    "bomb-in-zip.zip": "archive_bomb",
    "small-bombs.zip": "archive_bomb",
    "slip.zip": "read",
    "names.zip": "read",
    "deep.zip": "archive_too_deep",
    "locked.zip": "encrypted",
    "many-members.zip": "too_many_files",
    "deep.eml": "archive_too_deep",
}


@pytest.mark.parametrize("name", FIXED)
def test_hostile_file_ends_as_it_should(unfolded: Unfold, name: str) -> None:
    outcome = try_out(unfolded, name, FIXED[name]())
    assert outcome == EXPECTED.get(name, outcome)


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.8, 0.95, 0.999])
def test_cut_pdf_is_read_or_refused(unfolded: Unfold, share: float) -> None:
    content = make_pdf(20)
    try_out(unfolded, "cut.pdf", content[: int(len(content) * share)])


@pytest.mark.parametrize("password", [None, "secreto"])
def test_mutated_pdfs_are_read_or_refused(unfolded: Unfold, password: str | None) -> None:
    for name, content in islice(mutated(7, ("pdf", "locked.pdf")), 100):
        try_out(unfolded, name, content, password=password)


def test_mutated_files_of_all_kinds_are_read_or_refused(unfolded: Unfold) -> None:
    for name, content in islice(mutated(8), 200):
        try_out(unfolded, name, content)


def test_mutated_outlook_mails_are_read_or_refused(unfolded: Unfold) -> None:
    chance = random.Random(9)
    contents = {"a.pdf": make_pdf(), "b.pdf": make_locked_pdf()}
    sound = make_ole(make_msg([make_attachment(*item) for item in contents.items()]))
    for number in range(100):
        try_out(unfolded, f"{number}.msg", chance.choice(MUTATIONS)(sound, chance))


def test_hostile_files_are_many_varied_and_repeatable(tmp_path: Path) -> None:
    paths = write_hostile_files(tmp_path, 60, seed=3)
    assert len({path.name for path in paths}) == 60
    assert len({path.suffix for path in paths}) > 8
    again = dict(hostile_files(60, seed=3))
    assert {path.name: path.read_bytes() for path in paths} == again
    assert len(write_hostile_files(tmp_path / "few", 3)) == 3


# --- memory -----------------------------------------------------------------------------------------------


def _grown_megabytes(path: Path, workdir: Path, warm_up: Path) -> float:
    """How much more memory than for a page of PDF it took at most; runs in a process of its own."""
    unfold(warm_up, "warm", workdir)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    unfold(path, "large", workdir)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def write_long_pdf(path: Path) -> None:
    path.write_bytes(make_pdf(1000))


def write_damaged_long_pdf(path: Path) -> None:
    content = make_pdf(1000)
    path.write_bytes(content[: content.rfind(b"xref\n0")])


def write_large_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.pdf", make_pdf())
        with archive.open("video.mp4", "w") as member:
            for _ in range(100):
                member.write(b"\x01" * 1024**2)
        with archive.open("b.pdf", "w") as member:
            member.write(make_pdf().replace(b"%%EOF", b""))
            for _ in range(100):
                member.write(b" " * 1024**2)
            member.write(b"\n%%EOF")


@pytest.mark.parametrize("write", [write_long_pdf, write_damaged_long_pdf, write_large_zip])
def test_memory_stays_flat(tmp_path: Path, write: Callable[[Path], None]) -> None:
    path, warm_up = tmp_path / "large", tmp_path / "warm"
    write(path)
    warm_up.write_bytes(make_pdf())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        grown = pool.apply(_grown_megabytes, (path, tmp_path / "work", warm_up))
        pool.close()
        pool.join()
    assert grown < 60
