"""Who is there, until when, and whether a question can still be answered in time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from docproc.people.availability import (
    DAYS,
    PRESENT_SECONDS,
    Handling,
    Operator,
    Shift,
    Task,
    can_finish,
    usual_seconds,
)

# A Monday; in Madrid it is 10:00.
NOW = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)
BOTH = frozenset({"classification", "extraction"})


def shift(*days: str, begins: str = "08:00", ends: str = "15:00", zone: str = "Europe/Madrid") -> Shift:
    return Shift.parse({"days": list(days), "from": begins, "to": ends, "zone": zone})


def operator(*, seen: float = 5, skills: frozenset[str] = BOTH, **more: Any) -> Operator:
    """Seen so many seconds ago."""
    return Operator(skills, NOW - timedelta(seconds=seen), **more)


def pace(n: int, seconds: float) -> dict[str, Handling]:
    return {"extraction": Handling(n, seconds)}


def extraction(seconds: float = 100, ahead: int = 0) -> Task:
    """To be answered within so many seconds; by default that takes 90."""
    return Task("extraction", frozenset({"extraction"}), NOW + timedelta(seconds=seconds), ahead)


def classification(seconds: float) -> Task:
    """A kind of task that by itself takes 45 seconds."""
    skills = frozenset({"classification"})
    return Task("classification", skills, NOW + timedelta(seconds=seconds), usual_seconds=45)


# --- can_finish -----------------------------------------------------------------------------------------

OFF_DUTY = shift("tue")
SOON_OVER = shift("mon", begins="08:00", ends="10:01")


@pytest.mark.parametrize(
    ("operators", "task", "expected"),
    [
        ([], extraction(), False),
        ([operator()], extraction(), True),
        # present
        ([operator(seen=PRESENT_SECONDS)], extraction(), True),
        ([operator(seen=PRESENT_SECONDS + 1)], extraction(), False),
        ([Operator(BOTH, None)], extraction(), False),
        ([operator(is_active=False)], extraction(), False),
        # skills: all of them
        ([operator(skills=frozenset({"classification"}))], extraction(), False),
        ([operator()], Task("extraction", BOTH, NOW + timedelta(seconds=100)), True),
        (
            [operator(skills=frozenset({"extraction"}))],
            Task("extraction", BOTH, NOW + timedelta(seconds=100)),
            False,
        ),
        # shifts
        ([operator(shifts=(shift("mon"),))], extraction(), True),
        ([operator(shifts=(OFF_DUTY,))], extraction(), False),
        ([operator(shifts=(OFF_DUTY, shift("mon")))], extraction(), True),
        ([operator(shifts=(SOON_OVER,))], extraction(), False),
        ([operator(shifts=(SOON_OVER, shift("mon", begins="10:01", ends="18:00")))], extraction(), True),
        # time
        ([operator()], extraction(90), True),
        ([operator()], extraction(89), False),
        ([operator()], extraction(-1), False),
        ([operator()], classification(45), True),
        ([operator()], classification(44), False),
        ([], Task("extraction", frozenset({"extraction"}), None), True),
        # experience: one's own, else everybody's, else the usual
        ([operator(handling=pace(5, 30))], extraction(30), True),
        ([operator(handling=pace(4, 30))], extraction(30), False),
        ([operator(handling=pace(5, 200))], extraction(100), False),
        ([operator(), operator(seen=999, handling=pace(5, 30))], extraction(30), True),
        ([operator(handling=pace(2, 30)), operator(seen=999, handling=pace(3, 30))], extraction(30), True),
        ([operator(handling={"classification": Handling(9, 1)})], extraction(30), False),
        ([operator(handling=pace(5, 0))], extraction(1), True),
        # tasks ahead, shared by who is there
        ([operator()], extraction(180, ahead=1), True),
        ([operator()], extraction(179, ahead=1), False),
        ([operator(), operator()], extraction(90, ahead=1), True),
        ([operator(), operator()], extraction(90, ahead=2), False),
        ([operator(), operator(seen=999)], extraction(90, ahead=1), False),
        ([operator(handling=pace(9, 30)), operator(handling=pace(9, 60))], extraction(60, ahead=2), True),
        ([operator(handling=pace(9, 30)), operator(handling=pace(9, 60))], extraction(60, ahead=3), False),
    ],
)  # fmt: skip
def test_question_is_for_people_when_one_can_finish_it_in_time(
    operators: Sequence[Operator], task: Task, expected: bool
) -> None:
    assert can_finish(task, operators, NOW) is expected


def test_unknown_kind_of_task_takes_as_long_as_a_long_one() -> None:
    assert usual_seconds("appraisal", []) == usual_seconds("extraction", []) == 90


def test_everybody_s_experience_counts_by_tasks() -> None:
    known = [operator(handling=pace(3, 10)), operator(handling=pace(9, 50)), operator()]
    assert usual_seconds("extraction", known) == 40


# --- shifts ---------------------------------------------------------------------------------------------


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("on", "moment", "ends"),
    [
        (shift("mon"), "2026-03-09T08:00+01:00", "2026-03-09T15:00+01:00"),
        (shift("mon"), "2026-03-09T14:59:59+01:00", "2026-03-09T15:00+01:00"),
        (shift("mon"), "2026-03-09T07:59:59+01:00", None),
        (shift("mon"), "2026-03-09T15:00+01:00", None),
        (shift("tue"), "2026-03-09T09:00+01:00", None),
        # the zone's day, not UTC's
        (shift("mon", zone="America/New_York"), "2026-03-09T12:30+00:00", "2026-03-09T19:00+00:00"),
        (shift("mon", zone="Asia/Tokyo"), "2026-03-08T23:30+00:00", "2026-03-09T06:00+00:00"),
        # over midnight: of the day it begins on
        (shift("mon", begins="22:00", ends="06:00"), "2026-03-09T23:00+01:00", "2026-03-10T06:00+01:00"),
        (shift("mon", begins="22:00", ends="06:00"), "2026-03-10T05:59+01:00", "2026-03-10T06:00+01:00"),
        (shift("mon", begins="22:00", ends="06:00"), "2026-03-09T05:00+01:00", None),
        (shift("sun", begins="22:00", ends="06:00"), "2026-03-09T05:00+01:00", "2026-03-09T06:00+01:00"),
        (shift("mon", begins="00:00", ends="00:00"), "2026-03-09T23:59+01:00", "2026-03-10T00:00+01:00"),
        # the clocks go forward on 29 March 2026 at 02:00 and back on 25 October at 03:00, both Sundays
        (shift("sat", begins="22:00", ends="06:00"), "2026-03-29T03:00+00:00", "2026-03-29T04:00+00:00"),
        (shift("sat", begins="22:00", ends="06:00"), "2026-03-29T04:30+00:00", None),
        (shift("sat", begins="22:00", ends="06:00"), "2026-10-25T04:30+00:00", "2026-10-25T05:00+00:00"),
        (shift("sun"), "2026-03-29T06:30+00:00", "2026-03-29T13:00+00:00"),
        (shift("sun"), "2026-10-25T06:30+00:00", None),
    ],
)
def test_shift_is_on_by_the_clock_of_its_zone(on: Shift, moment: str, ends: str | None) -> None:
    assert on.end_after(at(moment)) == (at(ends) if ends else None)


@pytest.mark.parametrize(
    "said",
    [
        {"days": ["mon"], "from": "08:00", "to": "15:00"},
        {"days": ["monday"], "from": "08:00", "to": "15:00", "zone": "UTC"},
        {"days": [], "from": "08:00", "to": "15:00", "zone": "UTC"},
        {"days": ["mon"], "from": "8 am", "to": "15:00", "zone": "UTC"},
        {"days": ["mon"], "from": 8, "to": "15:00", "zone": "UTC"},
        {"days": ["mon"], "from": "08:00+01:00", "to": "15:00", "zone": "UTC"},
        {"days": ["mon"], "from": "08:00", "to": "15:00", "zone": "Europe/Nowhere"},
        {"days": ["mon"], "from": "08:00", "to": "15:00", "zone": "Europe"},
        {"days": ["mon"], "from": "08:00", "to": "15:00", "zone": "../../etc/passwd"},
        "mon 08:00-15:00",
    ],
)
def test_what_is_no_shift_is_refused(said: Any) -> None:
    with pytest.raises(ValueError, match="not a shift"):
        Shift.parse(said)


def test_far_deadlines_do_not_keep_shifts_being_looked_up_for_ever() -> None:
    always = operator(shifts=(shift(*DAYS, begins="00:00", ends="00:00"),))
    assert always.seconds_left(NOW, NOW + timedelta(days=30)) == timedelta(days=30).total_seconds()
