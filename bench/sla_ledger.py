"""What became of the requests of bench/sla.py: when each was answered, by the database's own commits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from bench.sla_load import Arrival
from docproc.engine.store import rows
from docproc.engine.store.session import Store


@dataclass
class Fate:
    """One request: its deadline and its answers, each with the moment its transaction was committed."""

    arrival: Arrival
    deadline: datetime
    answer_version: int
    versions: list[int] = field(default_factory=list)
    first_at: datetime | None = None
    complete_at: datetime | None = None

    @property
    def is_answered_in_time(self) -> bool:
        return self.first_at is not None and self.first_at <= self.deadline

    @property
    def is_complete_in_time(self) -> bool:
        return self.complete_at is not None and self.complete_at <= self.deadline

    def lateness(self, until: datetime) -> float:
        """Seconds from the deadline to the first answer; without one, until the end of the run."""
        return max(0.0, ((self.first_at or until) - self.deadline).total_seconds())


@dataclass(frozen=True)
class Tally:
    """The measured values of one run."""

    requests: int
    answered_by_deadline: float
    complete_by_deadline: float
    worst_lateness_ms: float


async def fates(store: Store, arrivals: Iterable[Arrival]) -> dict[UUID, Fate]:
    """By request; those that never came to the database are left out."""
    wanted = {arrival.request_id: arrival for arrival in arrivals}
    async with store.reading() as session:
        found = await rows.execute(
            session,
            """
            SELECT r.id, r.deadline_utc, r.answer_version, a.version, a.is_partial,
                   pg_xact_commit_timestamp(a.xmin) AS stored_at
            FROM requests r LEFT JOIN answers a ON a.request_id = r.id AND a.version > 0
            WHERE r.id = ANY(:ids) ORDER BY r.id, a.version
            """,
            ids=list(wanted),
        )
    told: dict[UUID, Fate] = {}
    for row in found:
        fate = told.setdefault(row.id, Fate(wanted[row.id], row.deadline_utc, row.answer_version))
        if row.version is not None:
            _note(fate, row)
    return told


def _note(fate: Fate, row: Any) -> None:
    fate.versions.append(row.version)
    fate.first_at = fate.first_at or row.stored_at
    if not row.is_partial:
        fate.complete_at = fate.complete_at or row.stored_at


def tally(told: Mapping[UUID, Fate], ended: datetime) -> Tally:
    """Complete is asked only of requests that can be: those that wait for a person never are."""
    everybody = list(told.values())
    by_machine = [fate for fate in everybody if not fate.arrival.asks]
    return Tally(
        requests=len(everybody),
        answered_by_deadline=share(everybody, lambda fate: fate.is_answered_in_time),
        complete_by_deadline=share(by_machine, lambda fate: fate.is_complete_in_time),
        worst_lateness_ms=1000 * max((fate.lateness(ended) for fate in everybody), default=0.0),
    )


def by_class(told: Mapping[UUID, Fate]) -> dict[str, float]:
    """The share complete in time, by deadline class."""
    by_machine = [fate for fate in told.values() if not fate.arrival.asks]
    classes = sorted({fate.arrival.workflow for fate in by_machine})
    return {
        name: share([f for f in by_machine if f.arrival.workflow == name], lambda f: f.is_complete_in_time)
        for name in classes
    }


def share(told: Sequence[Fate], condition: Callable[[Fate], bool]) -> float:
    return sum(map(condition, told)) / len(told) if told else 1.0


def percentile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
