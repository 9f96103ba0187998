"""Who is given which task."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

import pytest

from docproc.people.availability import Handling, Operator, Shift
from docproc.people.matching import match
from docproc.people.store.assigning import Candidate, Waiting

# A Monday, 9:00 in Madrid.
NOW = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
MORNING = Shift.parse({"days": ["mon"], "from": "08:00", "to": "15:00", "zone": "Europe/Madrid"})
# 8:00 to 15:00 in Bogotá is 14:00 to 21:00 in Madrid.
OVERSEAS = Shift.parse({"days": ["mon"], "from": "08:00", "to": "15:00", "zone": "America/Bogota"})
SPACE = UUID(int=0)
BOTH = frozenset({"classification", "extraction"})


def named(name: str) -> UUID:
    return uuid5(SPACE, name)


def person(name: str, *, seen: float = 5, shifts: tuple[Shift, ...] = (), **more: Any) -> Candidate:
    skills = frozenset(more.pop("skills", BOTH))
    handling = {kind: Handling(50, seconds) for kind, seconds in more.pop("takes", {}).items()}
    who = Operator(skills, NOW - timedelta(seconds=seen), shifts=shifts, handling=handling)
    return Candidate(named(name), who, **more)


def task(name: str, *, needs: str = "extraction", due: float | None = 600, **more: Any) -> Waiting:
    passed = frozenset(named(one) for one in more.pop("passed_by", ()))
    deadline = None if due is None else NOW + timedelta(seconds=due)
    skills = more.pop("skills", {needs})
    return Waiting(named(name), needs, frozenset(skills), NOW, deadline, passed_by=passed, **more)


def matched(tasks: list[Waiting], people: list[Candidate]) -> dict[str, str]:
    """Task to person, by the names used in these tests."""
    names = {named(one): one for one in ("a", "b", "c", "ana", "luis", "eva")}
    return {names[what]: names[who] for what, who in match(tasks, people, NOW)}


WHO_GETS_IT = [
    ("whoever is there", [person("ana")], "ana"),
    ("not somebody who left", [person("ana", seen=61)], None),
    ("not somebody who has a task", [person("ana", is_free=False)], None),
    ("not somebody without the skill", [person("ana", skills={"classification"})], None),
    ("somebody in the shift", [person("ana", shifts=(OVERSEAS,)), person("luis", shifts=(MORNING,))], "luis"),
    ("not somebody of another tenant", [person("ana", tenant_id="other")], None),
    ("who did the least lately", [person("ana", load=4), person("luis", load=3)], "luis"),
    (
        "who can finish in time, however much that person did",
        [person("ana", takes={"extraction": 900.0}), person("luis", load=9, takes={"extraction": 60.0})],
        "luis",
    ),
    ("who is too slow rather than nobody", [person("ana", takes={"extraction": 900.0})], "ana"),
    ("who can do less else", [person("ana"), person("luis", skills={"extraction"})], "luis"),
]


@pytest.mark.parametrize(("what", "people", "who"), WHO_GETS_IT, ids=[case[0] for case in WHO_GETS_IT])
def test_task_goes_to(what: str, people: list[Candidate], who: str | None) -> None:
    assert matched([task("a")], people).get("a") == who


def test_who_leaves_soon_is_not_preferred() -> None:
    ends = Shift.parse({"days": ["mon"], "from": "08:00", "to": "09:01", "zone": "Europe/Madrid"})
    people = [person("ana", shifts=(ends,)), person("luis", load=3)]
    assert matched([task("a")], people) == {"a": "luis"}, "an extraction takes 90 s, and ana has 60"


ORDERS = [
    ("priority first", [task("a", priority=5, due=60), task("b", priority=9, due=600)], "b"),
    ("then the deadline", [task("a", due=600), task("b", due=60)], "b"),
    ("what is due before what is not", [task("a", due=None), task("b", due=9000)], "b"),
    ("then age", [task("a"), replace(task("b"), created_at=NOW - timedelta(1))], "b"),
]


@pytest.mark.parametrize(("what", "tasks", "first"), ORDERS, ids=[case[0] for case in ORDERS])
def test_most_urgent_is_given_first(what: str, tasks: list[Waiting], first: str) -> None:
    assert matched(tasks, [person("ana")]) == {first: "ana"}


def test_nobody_and_nothing_is_given_twice() -> None:
    tasks, people = [task("a"), task("b"), task("c")], [person("ana"), person("luis")]
    pairs = matched(tasks, people)
    assert len(pairs) == 2
    assert sorted(pairs.values()) == ["ana", "luis"]


def test_task_nobody_can_do_does_not_keep_others_back() -> None:
    tasks = [task("a", priority=9, skills={"latin"}), task("b")]
    assert matched(tasks, [person("ana")]) == {"b": "ana"}


def test_who_passed_a_task_gets_another_one() -> None:
    tasks = [task("a", priority=9, passed_by=("ana",)), task("b")]
    assert matched(tasks, [person("ana")]) == {"b": "ana"}
    assert matched(tasks, [person("ana"), person("luis", load=7)]) == {"a": "luis", "b": "ana"}


def test_escalated_task_waits_for_a_supervisor() -> None:
    escalated = task("a", role="supervisor")
    assert matched([escalated], [person("ana")]) == {}
    assert matched([escalated], [person("ana"), person("eva", role="supervisor", load=9)]) == {"a": "eva"}


def test_all_skills_are_needed() -> None:
    both = task("a", skills=BOTH)
    assert matched([both], [person("luis", skills={"extraction"}), person("ana", load=5)]) == {"a": "ana"}
