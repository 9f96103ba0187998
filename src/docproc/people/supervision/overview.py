"""The queue by skill against the people who are there, and how long it takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from docproc.people import availability as people
from docproc.people.kinds import TaskKinds
from docproc.people.store.supervision import Queue
from docproc.people.supervision.staff import Member


@dataclass(frozen=True, slots=True)
class Line:
    """One skill. `clear_seconds` is None where tasks wait and nobody is there for them."""

    skill: str
    queue: Queue | None
    present: tuple[str, ...]
    able: int
    clear_seconds: float | None


def lines(queues: Sequence[Queue], members: Sequence[Member], kinds: TaskKinds) -> list[Line]:
    """Every skill that is asked for or that somebody has."""
    by_skill = {queue.skill: queue for queue in queues}
    held = {skill for member in members for skill in member.operator.skills or ()}
    skills = sorted({*by_skill, *held, *kinds.skills})
    return [_line(skill, by_skill.get(skill), members, kinds.usual_seconds(skill)) for skill in skills]


def _line(skill: str, queue: Queue | None, members: Sequence[Member], seconds: float) -> Line:
    able = [one for one in members if one.operator.is_active and skill in (one.operator.skills or ())]
    present = [one for one in able if one.is_present and one.is_on_shift]
    number = queue.pending + queue.assigned if queue else 0
    names = tuple(one.operator.username for one in present)
    usual = people.usual_seconds(skill, [one.person for one in members], seconds)
    return Line(skill, queue, names, len(able), _clear_seconds(skill, number, present, usual))


def _clear_seconds(skill: str, number: int, present: Sequence[Member], usual: float) -> float | None:
    """If all who are there did nothing else, each at his or her pace."""
    if not number:
        return 0.0
    pace = sum(1 / people.own_seconds(one.person, skill, usual) for one in present)
    return number / pace if pace else None
