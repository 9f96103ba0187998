"""People: who of the back office is there, and whether a question can still be answered in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from docproc.engine.store.missing import ENOUGH_TASKS

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# Who was not heard of for longer is away.
PRESENT_SECONDS = 60.0
# How long a task takes where nobody knows better.
DEFAULT_SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class Shift:
    """Hours of work on some days of the week, by the clock on the wall of `zone`.

    A shift whose end is not after its beginning ends on the day after. It belongs to the day it begins on.
    """

    days: frozenset[str]
    begins: time
    ends: time
    zone: ZoneInfo

    @classmethod
    def parse(cls, said: Mapping[str, Any]) -> Shift:
        """From `{"days": ["mon"], "from": "08:00", "to": "15:00", "zone": "Europe/Madrid"}`, as stored.

        Raises ValueError when it is not that.
        """
        try:
            days = frozenset(said["days"])
            begins, ends = time.fromisoformat(said["from"]), time.fromisoformat(said["to"])
            zone = ZoneInfo(said["zone"])
        # ZoneInfo's complaints are of several kinds, a name that is a folder's among them.
        except (KeyError, TypeError, ValueError, OSError) as error:
            raise ValueError(f"not a shift: {said!r} ({error})") from error
        if not days or not days <= set(DAYS) or begins.tzinfo or ends.tzinfo:
            raise ValueError(f"not a shift: {said!r} (days are {', '.join(DAYS)}; times such as 08:00)")
        return cls(days, begins, ends, zone)

    def end_after(self, now: datetime) -> datetime | None:
        """When the shift that is on at `now` ends; None when none is."""
        today = now.astimezone(self.zone).date()
        for day in (today - timedelta(days=1), today):  # what began yesterday may not be over
            begins, ends = self._on(day)
            if DAYS[day.weekday()] in self.days and begins <= now < ends:
                return ends
        return None

    def _on(self, day: date) -> tuple[datetime, datetime]:
        # In UTC: two moments of one zone are compared by their wall clocks, and these jump twice a year.
        last = day if self.ends > self.begins else day + timedelta(days=1)
        begins = datetime.combine(day, self.begins, self.zone)
        return begins.astimezone(UTC), datetime.combine(last, self.ends, self.zone).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Handling:
    """How long tasks of one type took: the mean of `n`."""

    n: int
    mean_seconds: float


@dataclass(frozen=True, slots=True)
class Operator:
    """A person of the back office, as far as time is concerned. No shifts: at work whenever present."""

    skills: frozenset[str]
    last_seen_at: datetime | None
    is_active: bool = True
    shifts: tuple[Shift, ...] = ()
    handling: Mapping[str, Handling] = field(default_factory=dict)

    def is_present(self, now: datetime) -> bool:
        if not self.is_active or self.last_seen_at is None:
            return False
        return now - self.last_seen_at <= timedelta(seconds=PRESENT_SECONDS)

    def seconds_left(self, now: datetime, deadline: datetime) -> float:
        """How long the person, if at work now, stays until the deadline."""
        until = self._at_work_until(now, deadline) if self.shifts else deadline
        return max(0.0, (min(until, deadline) - now).total_seconds())

    def _at_work_until(self, now: datetime, deadline: datetime) -> datetime:
        """Shifts that follow each other without a gap are one."""
        until = now
        while until < deadline:
            ends = [end for shift in self.shifts if (end := shift.end_after(until))]
            if not ends:
                break
            until = max(ends)
        return until


@dataclass(frozen=True, slots=True)
class Task:
    """A question to be asked; `ahead` so many open ones of its type are answered before it."""

    task_type: str
    skills: frozenset[str]
    deadline: datetime | None
    ahead: int = 0
    usual_seconds: float = DEFAULT_SECONDS  # of its kind, where nobody has experience with it


def can_finish(task: Task, operators: Sequence[Operator], now: datetime) -> bool:
    """Whether a person with the skills can plausibly answer `task` before its deadline.

    Those who are there take the tasks ahead one after another, each at his or her pace: together they must
    finish one more than these. Where nothing is due, there is time for any answer.
    """
    if task.deadline is None:
        return True
    usual = usual_seconds(task.task_type, operators, task.usual_seconds)
    finished = 0
    for operator in operators:
        if operator.is_present(now) and task.skills <= operator.skills:
            pace = own_seconds(operator, task.task_type, usual)
            finished += int(operator.seconds_left(now, task.deadline) / pace)
    return finished > task.ahead


def usual_seconds(
    task_type: str, operators: Sequence[Operator], unknown_seconds: float = DEFAULT_SECONDS
) -> float:
    """How long a task of this type takes, by everybody's experience; where there is none, as it is said."""
    known = [operator.handling[task_type] for operator in operators if task_type in operator.handling]
    number = sum(one.n for one in known)
    if number < ENOUGH_TASKS:
        return unknown_seconds
    return max(1.0, sum(one.n * one.mean_seconds for one in known) / number)


def own_seconds(operator: Operator, task_type: str, usual: float) -> float:
    """How long the person takes for one; as everybody where too few are known."""
    own = operator.handling.get(task_type)
    # Nobody answers in less than a second; a mean of 0 would promise anything.
    return max(1.0, own.mean_seconds) if own and own.n >= ENOUGH_TASKS else usual
