"""Who is given which task: a decision on what is known now, carried out elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from docproc.people.availability import DEFAULT_SECONDS, Operator, own_seconds, usual_seconds
from docproc.people.store.assigning import Candidate, Waiting
from docproc.people.store.claims import roles_up_to

# Who works on beyond this is taken to stay.
_HORIZON = timedelta(days=1)


def match(
    tasks: Iterable[Waiting],
    people: Sequence[Candidate],
    now: datetime,
    seconds_of: Callable[[str], float] = lambda _: DEFAULT_SECONDS,
) -> list[tuple[UUID, UUID]]:
    """(task, person), the most urgent task first, nobody and nothing twice.

    `seconds_of` says how long a type of task takes where nobody has experience with it.

    Of those who may take a task: who can finish it in time, then who did the least lately, then who can do
    the fewest kinds of tasks: the others may be needed for what only they can do.
    """
    free = {one.id: one for one in people if is_ready(one, now)}
    leaves = {one.id: _leaves_at(one.person, now) for one in free.values()}
    paces = _Paces(people, seconds_of)

    def rank(one: Candidate, task: Waiting) -> tuple[bool, int, int, str]:
        done_at = now + timedelta(seconds=paces.seconds(one, task.task_type))
        is_late = done_at > min(leaves[one.id], task.deadline or leaves[one.id])
        return is_late, one.load, len(one.person.skills), str(one.id)

    pairs = []
    for task in sorted(tasks, key=lambda each: each.order):
        able = [one for one in free.values() if may_take(one, task)]
        if able:
            chosen = min(able, key=lambda one: rank(one, task))
            del free[chosen.id]
            pairs.append((task.id, chosen.id))
    return pairs


def is_ready(one: Candidate, now: datetime) -> bool:
    """Whether the person is there, at work and without a task."""
    at_work = not one.person.shifts or any(shift.end_after(now) for shift in one.person.shifts)
    return one.is_free and one.person.is_present(now) and at_work


def may_take(one: Candidate, task: Waiting) -> bool:
    """As `claims.may_do` has it for those who ask themselves."""
    return (
        task.tenant_id == one.tenant_id
        and task.role in roles_up_to(one.role)
        and task.skills <= one.person.skills
        and one.id not in task.passed_by
    )


def _leaves_at(person: Operator, now: datetime) -> datetime:
    return now + timedelta(seconds=person.seconds_left(now, now + _HORIZON))


class _Paces:
    """How long people take; what everybody of a tenant takes is worked out once."""

    def __init__(self, people: Iterable[Candidate], seconds_of: Callable[[str], float]) -> None:
        self._seconds_of = seconds_of
        self._colleagues: dict[str, list[Operator]] = defaultdict(list)
        for one in people:
            self._colleagues[one.tenant_id].append(one.person)
        self._usual: dict[tuple[str, str], float] = {}

    def seconds(self, one: Candidate, task_type: str) -> float:
        key = one.tenant_id, task_type
        if key not in self._usual:
            colleagues = self._colleagues[one.tenant_id]
            self._usual[key] = usual_seconds(task_type, colleagues, self._seconds_of(task_type))
        return own_seconds(one.person, task_type, self._usual[key])
