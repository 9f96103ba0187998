"""Statistics of calls: added up in each process, written once a second, read for metrics and time limits."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Table, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.resilience.tables import CallStatistics
from docproc.engine.message import utc_now
from docproc.engine.store import rows
from docproc.engine.store.session import Store

# Upper bounds in seconds of the columns `took_0` … `took_9`; `took_10` has none.
BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0)
KEPT = timedelta(days=8)

_TABLE: Table = CallStatistics.__table__  # type: ignore[assignment] # is a Table
_KEYS = ("minute", "service", "endpoint", "type", "tenant_id")
_COUNTS = ("calls", "failures", "client_errors", "internal_errors", "retries", "fallbacks", "seconds")
_TOOK = tuple(f"took_{number}" for number in range(len(BOUNDS) + 1))
_ALL = (*_KEYS, *_COUNTS, "longest_seconds", *_TOOK)

# Several processes add to the row of a minute; each statement adds what one of them counted.
ADD = f"""
INSERT INTO {_TABLE.name} ({", ".join(_ALL)}) VALUES ({", ".join(f":{name}" for name in _ALL)})
ON CONFLICT ({", ".join(_KEYS)}) DO UPDATE SET
{", ".join(f"{name} = {_TABLE.name}.{name} + excluded.{name}" for name in (*_COUNTS, *_TOOK))},
longest_seconds = CASE WHEN excluded.longest_seconds > {_TABLE.name}.longest_seconds
    THEN excluded.longest_seconds ELSE {_TABLE.name}.longest_seconds END
"""


@dataclass(slots=True)
class Tally:
    calls: int = 0
    failures: int = 0
    client_errors: int = 0
    internal_errors: int = 0
    retries: int = 0
    fallbacks: int = 0
    seconds: float = 0.0
    longest_seconds: float = 0.0
    took: list[int] = field(default_factory=lambda: [0] * len(_TOOK))

    def ended(self, seconds: float) -> None:
        self.calls += 1
        self.seconds += seconds
        self.longest_seconds = max(self.longest_seconds, seconds)
        self.took[bisect.bisect_left(BOUNDS, seconds)] += 1


@dataclass(frozen=True, slots=True)
class Called:
    """Which calls are counted together."""

    service: str
    endpoint: str
    type: str
    tenant_id: str


class Statistics:
    """One per process. What a killed process had not written yet, a second's worth, is lost."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._tallies: dict[tuple[datetime, Called], Tally] = {}

    def of(self, called: Called) -> Tally:
        """The current minute's; what is added to it is written with the next flush."""
        minute = utc_now().replace(second=0, microsecond=0)
        return self._tallies.setdefault((minute, called), Tally())

    async def flush(self) -> None:
        if not self._tallies:
            return
        written, self._tallies = self._tallies, {}
        # In one order everywhere: processes that add to the same rows wait for each other, never in a circle.
        ordered = sorted(written.items(), key=lambda item: (item[0][0], *asdict(item[0][1]).values()))
        try:
            # One by one, each committed by itself: a process that is stopped holds up nobody who adds to the
            # same rows.
            for (minute, called), tally in ordered:
                async with self.store.claiming_once() as connection:
                    await rows.execute(connection, ADD, **_values(minute, called, tally))
                del written[minute, called]
        except BaseException:
            self._give_back(written)
            raise

    def _give_back(self, tallies: dict[tuple[datetime, Called], Tally]) -> None:
        for key, tally in tallies.items():
            newer = self._tallies.get(key)
            self._tallies[key] = _sum(tally, newer) if newer else tally


def _values(minute: datetime, called: Called, tally: Tally) -> dict[str, Any]:
    values = {**asdict(called), **asdict(tally), "minute": minute}
    return {**values, **dict(zip(_TOOK, values.pop("took"), strict=True))}


def _sum(one: Tally, other: Tally) -> Tally:
    both = {name: getattr(one, name) + getattr(other, name) for name in _COUNTS}
    took = [a + b for a, b in zip(one.took, other.took, strict=True)]
    return Tally(**both, longest_seconds=max(one.longest_seconds, other.longest_seconds), took=took)


@dataclass(frozen=True, slots=True)
class Usual:
    """How long calls usually take."""

    calls: int
    mean_seconds: float
    # 95 of 100 took no longer; the bound of its column, or the longest call beyond the last bound.
    p95_seconds: float


async def usual(
    session: AsyncSession, service: str, message_type: str, since: datetime, until: datetime | None = None
) -> Usual | None:
    """Of the calls of a service between two moments; None: there were none."""
    table = _TABLE.c
    columns = [func.sum(table[name]) for name in ("calls", "seconds", *_TOOK)]
    query = select(func.max(table.longest_seconds), *columns).where(
        table.service == service, table.type == message_type, table.minute >= since
    )
    if until is not None:
        query = query.where(table.minute < until)
    longest, calls, seconds, *took = (await session.execute(query)).one()
    if not calls:
        return None
    return Usual(int(calls), float(seconds) / int(calls), share_below(0.95, took, float(longest)))


def share_below(share: float, took: Sequence[Any], longest: float) -> float:
    """The bound below which that share of the calls lies."""
    counts = [int(one or 0) for one in took]
    needed, seen = share * sum(counts), 0
    for bound, count in zip(BOUNDS, counts, strict=False):
        seen += count
        if seen >= needed:
            return min(bound, longest)
    return longest


async def client_errors(session: AsyncSession, since: datetime) -> dict[tuple[str, str], int]:
    """Mistakes of callers since then, by service and tenant."""
    table = _TABLE.c
    query = (
        select(table.service, table.tenant_id, func.sum(table.client_errors))
        .where(table.minute >= since, table.client_errors > 0)
        .group_by(table.service, table.tenant_id)
    )
    return {(service, tenant): int(number) for service, tenant, number in await session.execute(query)}


async def forget(session: AsyncSession, before: datetime) -> None:
    """What nobody looks at any more."""
    await session.execute(
        delete(CallStatistics)
        .where(CallStatistics.minute < before)
        .execution_options(synchronize_session=False)
    )
