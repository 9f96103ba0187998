"""The lock: what pyproject.toml asks for is pinned, and a lock that no longer fits is noticed."""

from __future__ import annotations

import re
from typing import Any

import pytest

from requirements import lock

PROJECT: dict[str, Any] = {
    "build-system": {"requires": ["builder"]},
    "project": {
        "name": "Doc_Proc",
        "dependencies": ["one>=1"],
        "optional-dependencies": {
            "wire": ["two>=2; sys_platform != 'win32'", "doc-proc[wire]"],
            "people_too": ["three"],
            "unused": ["four"],
            "dev": ["doc-proc[wire,people-too]", "one>=1"],
        },
    },
}
ASKED = 'async-timeout\nbuilder\neditables\none>=1\nthree\ntwo>=2; sys_platform != "win32"\n'
LOCK = "".join(
    f"{name} \\\n    --hash=sha256:0\n"
    for name in (
        "async-timeout==5",
        "builder==1",
        "editables==1",
        "one==1.5",
        "three==3",
        'two==2 ; sys_platform != "win32"',
    )
)


def test_extras_that_name_extras_are_laid_out() -> None:
    assert lock.asked_for(PROJECT) == ASKED.splitlines()


def test_lock_that_fits_is_not_complained_of() -> None:
    assert list(lock.complaints(PROJECT, ASKED, LOCK)) == []


@pytest.mark.parametrize(
    ("asked", "pinned", "complaint"),
    [
        (ASKED.replace("three\n", ""), LOCK, "three is in pyproject.toml only"),
        (ASKED + "gone>=1\n", LOCK, "gone>=1 is no longer in pyproject.toml"),
        (ASKED.replace("one>=1", "one"), LOCK, "one>=1 is in pyproject.toml only"),
        (ASKED, LOCK.replace("one==1.5", "one==0.9"), "one>=1 is pinned to 0.9"),
        (ASKED, LOCK.replace("three==3", "thirty==3"), "three is pinned to nothing"),
    ],
)
def test_lock_that_does_not_fit_is_noticed(asked: str, pinned: str, complaint: str) -> None:
    assert complaint in list(lock.complaints(PROJECT, asked, pinned))


def test_lock_of_this_repository_fits() -> None:
    lock.check()


def test_every_pin_has_hashes_and_nothing_names_a_place() -> None:
    text = lock.PINNED.read_text(encoding="utf-8")
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(entries) == len(lock.pins(text)) > 100
    assert all("--hash=sha256:" in entry for entry in entries)
    # No registry, folder or index of the machine that made it.
    assert not re.search(r"://|file:|^-|\s@\s|^/", text, re.MULTILINE)


def test_no_framework_for_training_comes_in() -> None:
    names = lock.pins(lock.PINNED.read_text(encoding="utf-8"))
    assert not [name for name in names if re.match(r"torch|nvidia|tensorflow", name)]
