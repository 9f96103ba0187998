"""How long a name or an address waits after failures."""

from __future__ import annotations

import pytest

from docproc.people.sign_in import limits
from docproc.people.sign_in.limits import wait_seconds


@pytest.mark.parametrize(
    ("failures", "wait"),
    [(0, 0), (4, 0), (5, 15), (6, 30), (7, 60), (10, 480), (11, 900), (12, 900), (10_000, 900)],
)
def test_waits_double_up_to_a_quarter_of_an_hour(failures: int, wait: float) -> None:
    assert wait_seconds(failures, limits.FREE_OF_NAME) == wait


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.1", "address:192.0.2.1"),
        ("::ffff:192.0.2.1", "address:192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "address:2001:db8:1:2::/64"),
        ("unknown", "address:unknown"),
    ],
)
def test_an_address_counts_as_what_one_person_can_have(address: str, key: str) -> None:
    assert limits.address_key(address) == key


def test_spellings_of_a_name_count_together_and_fit_the_column() -> None:
    assert limits.name_key("Ana") == limits.name_key("ANA")
    assert len(limits.name_key("ß" * 64)) <= 160
