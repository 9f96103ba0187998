"""Values as people write them, in both languages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from docproc.written import Written, number_of, zone_of

MOMENT = datetime(2026, 11, 16, 16, 13, tzinfo=UTC)


def plain(text: str) -> str:
    """Spaces that lines must not be broken at are spaces here."""
    return text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("value", "currency", "spanish", "english"),
    [
        ("40478.34", "EUR", "40.478,34 €", "€40,478.34"),
        (7892.1, "EUR", "7.892,10 €", "€7,892.10"),
        ("-3", None, "-3,00", "-3.00"),
        ("1500", "JPY", "1.500 JPY", "JP¥1,500"),
        ("12", "euros", "12,00 euros", "12.00 euros"),
        ("about 3", "EUR", "about 3", "about 3"),
        (None, "EUR", "–", "–"),
    ],
)
def test_amounts(value: Any, currency: str | None, spanish: str, english: str) -> None:
    assert plain(Written("es").amount(value, currency)) == spanish
    assert plain(Written("en").amount(value, currency)) == english


def test_days_and_times_are_those_of_the_reader() -> None:
    madrid = zone_of("Europe/Madrid")
    assert madrid is not None
    written = Written("es", madrid)
    assert plain(written.moment(MOMENT)) == "16/11/2026 17:13"
    assert written.date("2026-04-30") == "30/04/2026" and written.date("yesterday") == "yesterday"
    assert written.short(MOMENT, MOMENT + timedelta(hours=1)) == "17:13"
    assert written.short(MOMENT, MOMENT + timedelta(hours=7)) == "16/11/2026"  # midnight has passed there
    assert Written("en").moment(None) == "–"


@pytest.mark.parametrize("name", ["", "Nowhere/Else", "../../etc/passwd", "x" * 99])
def test_zone_that_is_none_is_none(name: str) -> None:
    assert zone_of(name) is None


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.04, "0 s"),
        (22.94, "22,9 s"),
        (38, "38 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (266400, "3 d 2 h"),
    ],
)
def test_durations(seconds: float, told: str) -> None:
    assert plain(Written("es").duration(seconds)) == told


def test_percents_are_rounded_down() -> None:
    assert [plain(Written("es").percent(one)) for one in (0.999, 1.0, 0.29, None)] == [
        "99 %",
        "100 %",
        "29 %",
        "–",
    ]


@pytest.mark.parametrize("value", [None, True, "x", "NaN", "Infinity", ""])
def test_what_is_no_number(value: Any) -> None:
    assert number_of(value) is None
