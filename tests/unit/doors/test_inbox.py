"""An inbox: which files are complete, seen with a clock that the test sets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from docproc.doors.inbox import ChangedError, Inbox


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    made = Inbox("default", tmp_path / "in", "folder", settle_seconds=2)
    made.prepare()
    return made


def names(inbox: Inbox, now: float, limit: int = 100) -> list[str]:
    return [seen.path for seen in inbox.ready(limit, lambda: now)]


def test_file_must_be_quiet_for_a_while(inbox: Inbox) -> None:
    path = inbox.root / "a.pdf"
    path.write_bytes(b"1")
    assert names(inbox, 0) == [] and names(inbox, 1.9) == []
    path.write_bytes(b"12")  # it grows
    assert names(inbox, 2.5) == [] and names(inbox, 4.4) == [] and names(inbox, 4.5) == ["a.pdf"]


def test_oldest_come_first_and_only_so_many(inbox: Inbox) -> None:
    for number, name in enumerate(("c", "a", "b")):
        (inbox.root / name).write_bytes(b"x")
        os.utime(inbox.root / name, (number, number))
    names(inbox, 0)
    assert names(inbox, 2, limit=2) == ["c", "a"]


def test_what_could_not_be_taken_is_left_alone_for_a_while(inbox: Inbox) -> None:
    (inbox.root / "a").write_bytes(b"x")
    inbox.ready(1, lambda: 0)
    (seen,) = inbox.ready(1, lambda: 2)
    inbox.leave_alone(seen, 10, lambda: 2)
    assert names(inbox, 11.9) == [] and names(inbox, 12.1) == ["a"]


def test_file_that_somebody_writes_is_not_opened(inbox: Inbox) -> None:
    path = inbox.root / "a"
    path.write_bytes(b"x")
    inbox.ready(1, lambda: 0)
    (seen,) = inbox.ready(1, lambda: 2)
    with path.open("ab"), pytest.raises(ChangedError):
        inbox.open(seen)
    inbox.open(seen).close()
    path.write_bytes(b"longer")
    with pytest.raises(ChangedError):
        inbox.open(seen)


def test_address_of_a_place_is_read_back(inbox: Inbox) -> None:
    place = "2026/a b#1?ñ.pdf"
    assert Inbox.place_of(inbox.address(place)) == ("default", place)


def test_what_was_moved_long_ago_is_swept(inbox: Inbox) -> None:
    (inbox.root / "done" / "x").mkdir()
    (inbox.root / "done" / "x" / "a.pdf").write_bytes(b"x")
    (inbox.root / "failed" / "b.pdf").write_bytes(b"x")
    assert inbox.sweep(1) == 0
    assert inbox.sweep(-1) == 1  # as if it were tomorrow
    assert not (inbox.root / "done" / "x").exists() and (inbox.root / "failed" / "b.pdf").exists()
