"""The breakers of all services, kept in one table that every replica shares.

What a replica knows of them is up to a second old. A failure is written at once, successes at the latest
after a second: a healthy service costs one statement a second, however many calls it gets.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import Table, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from docproc.apps.orchestrator.resilience import breaker as rules
from docproc.apps.orchestrator.resilience.breaker import Breaker, BreakerState
from docproc.apps.orchestrator.resilience.calls import PRIMARY, SECONDARY
from docproc.apps.orchestrator.resilience.degradation import Away
from docproc.apps.orchestrator.resilience.levels import ServiceLevel, ServicePolicy
from docproc.apps.orchestrator.resilience.tables import BreakerRow
from docproc.engine.store import rows
from docproc.engine.store.columns import as_moment
from docproc.engine.store.session import Store

log = structlog.get_logger(__name__)

# How old what a replica knows may be.
LOOK_SECONDS = 1.0

_TABLE: Table = BreakerRow.__table__  # type: ignore[assignment] # is a Table
_FIELDS = tuple(Breaker.__dataclass_fields__)

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Known:
    """A breaker, and what is known of its service."""

    service: str
    endpoint: str
    level: ServiceLevel
    has_second: bool
    breaker: Breaker


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether an endpoint may be called now."""

    is_allowed: bool
    is_probe: bool = False
    # Which opening a probe belongs to.
    generation: int = 0
    # Where it may not: in how many seconds the next probe may go out.
    wait_seconds: float = 0.0


class Breakers:
    """One per process."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._known: dict[Key, Known] = {}
        self._looked_at = float("-inf")
        # The database's clock when it was looked at.
        self._clock = datetime.min
        self._looking = asyncio.Lock()
        self._waiting: defaultdict[Key, list[bool]] = defaultdict(list)
        self._policies: dict[Key, ServicePolicy] = {}

    async def admit(self, policy: ServicePolicy, endpoint: str = PRIMARY) -> Admission:
        """Whether a call may go there; one that finds a probe due is that probe, in one replica only."""
        await self._look()
        known = self._known.get((policy.name, endpoint))
        if known is None or known.breaker.is_closed:
            return Admission(is_allowed=True)
        if not rules.probe_is_due(known.breaker, self._now()):
            return self._refused(known.breaker)
        return await self._probe(policy, endpoint)

    async def _probe(self, policy: ServicePolicy, endpoint: str) -> Admission:
        """Take the probe that is due, unless another replica has just taken it."""
        found = Admission(is_allowed=True)

        def change(breaker: Breaker, now: datetime) -> Breaker:
            nonlocal found
            if breaker.is_closed:
                return breaker
            if not rules.probe_is_due(breaker, now):
                found = self._refused(breaker, now)
                return breaker
            found = Admission(is_allowed=True, is_probe=True, generation=breaker.generation)
            return rules.probing(breaker, policy.breaker_policy, now)

        await self._change(policy, endpoint, change)
        return found

    def _refused(self, breaker: Breaker, now: datetime | None = None) -> Admission:
        at = breaker.probe_at or self._now()
        return Admission(False, wait_seconds=max(0.0, (at - (now or self._now())).total_seconds()))

    async def ended(self, policy: ServicePolicy, endpoint: str, *, passed: bool) -> None:
        """A call that was no probe is over."""
        key = (policy.name, endpoint)
        self._waiting[key].append(passed)
        self._policies[key] = policy
        if not passed:
            await self._flush(key)

    async def probed(self, policy: ServicePolicy, endpoint: str, generation: int, *, passed: bool) -> None:
        """A probe is over."""

        def change(breaker: Breaker, now: datetime) -> Breaker:
            return rules.after_probe(breaker, passed, generation, policy.breaker_policy, now)

        await self._change(policy, endpoint, change)

    async def trip(self, policy: ServicePolicy, reason: str, endpoint: str = PRIMARY) -> None:
        """Open it, as an alert or a person decided; probes close it as ever."""

        def change(breaker: Breaker, now: datetime) -> Breaker:
            if not breaker.is_closed:
                return breaker
            return rules.opened(breaker, policy.breaker_policy, now, reason)

        await self._change(policy, endpoint, change)

    async def close(self, policy: ServicePolicy, endpoint: str = PRIMARY) -> None:
        """As a person decided."""
        await self._change(policy, endpoint, lambda found, _now: Breaker(generation=found.generation))

    async def flush(self) -> None:
        """Write the outcomes that were only counted so far."""
        for key in [key for key, outcomes in self._waiting.items() if outcomes]:
            await self._flush(key)

    async def _flush(self, key: Key) -> None:
        outcomes, self._waiting[key] = self._waiting[key], []
        policy = self._policies[key]

        def change(breaker: Breaker, now: datetime) -> Breaker:
            return rules.record(breaker, outcomes, policy.breaker_policy, now)

        try:
            await self._change(policy, key[1], change)
        except BaseException:
            self._waiting[key] = outcomes + self._waiting[key]
            raise

    async def all(self) -> list[Known]:
        """As of the last second."""
        await self._look()
        return list(self._known.values())

    async def away(self) -> list[Away]:
        """Services that somebody wants to call, and none of whose endpoints is called now."""
        return away(await self.all(), self._now())

    async def is_away(self, policy: ServicePolicy) -> bool:
        """Whether none of its endpoints is called now, but for probes."""
        await self._look()
        endpoints = (PRIMARY, SECONDARY) if policy.has_second else (PRIMARY,)
        known = [self._known.get((policy.name, endpoint)) for endpoint in endpoints]
        return all(one is not None and not one.breaker.is_closed for one in known)

    async def wait_seconds(self, policy: ServicePolicy) -> float:
        """Until its next probe may go out."""
        await self._look()
        known = self._known.get((policy.name, PRIMARY))
        return self._refused(known.breaker).wait_seconds if known else 0.0

    async def _look(self) -> None:
        if time.monotonic() - self._looked_at < LOOK_SECONDS:
            return
        async with self._looking:
            if time.monotonic() - self._looked_at < LOOK_SECONDS:  # somebody else did meanwhile
                return
            async with self.store.reading() as session:
                clock = await rows.execute(session, f"SELECT {self.store.clock} AS now")
                found = list(await session.execute(select(_TABLE)))
            self._clock = as_moment(clock[0].now)
            self._looked_at = time.monotonic()
            self._known = {(row.service, row.endpoint): known_of(row) for row in found}

    def _now(self) -> datetime:
        """The database's clock, as far as this process can tell without asking."""
        return self._clock + timedelta(seconds=time.monotonic() - self._looked_at)

    async def _change(
        self, policy: ServicePolicy, endpoint: str, change: Callable[[Breaker, datetime], Breaker]
    ) -> None:
        """Read, decide and write with the row locked, so that replicas take turns."""
        async with self.store.claiming() as connection:
            row, now = await self._locked(connection, policy, endpoint)
            before = _breaker(row)
            after = change(before, now)
            if after != before:
                values = {name: getattr(after, name) for name in _FIELDS}
                where = (_TABLE.c.service == policy.name, _TABLE.c.endpoint == endpoint)
                await connection.execute(update(_TABLE).where(*where).values(**values, updated_at=now))
        known = Known(policy.name, endpoint, policy.level, policy.has_second, after)
        self._known[(policy.name, endpoint)] = known
        _tell(known, before, after)

    async def _locked(
        self, connection: AsyncConnection, policy: ServicePolicy, endpoint: str
    ) -> tuple[Any, datetime]:
        clock = as_moment((await rows.execute(connection, f"SELECT {self.store.clock} AS now"))[0].now)
        is_service = (_TABLE.c.service == policy.name, _TABLE.c.endpoint == endpoint)
        query = select(_TABLE).where(*is_service).with_for_update()
        row = (await connection.execute(query)).one_or_none()
        if row is None:
            new = {
                "service": policy.name,
                "endpoint": endpoint,
                "level": str(policy.level),
                "has_second": policy.has_second,
                "updated_at": clock,
            }
            await rows.insert(connection, _TABLE, [new], on_conflict="nothing")
            row = (await connection.execute(query)).one()
        elif (row.level, row.has_second) != (str(policy.level), policy.has_second):
            about = {"level": str(policy.level), "has_second": policy.has_second}
            await connection.execute(update(_TABLE).where(*is_service).values(**about))
        # Asked again: the lock may have been waited for.
        clock = as_moment((await rows.execute(connection, f"SELECT {self.store.clock} AS now"))[0].now)
        return row, clock


def away(known: Sequence[Known], now: datetime) -> list[Away]:
    """Those whose first endpoint is not called, nor is there a second that is."""
    seconds = {one.service: one.breaker.is_closed for one in known if one.endpoint == SECONDARY}
    return [
        Away(one.service, one.level)
        for one in known
        if one.endpoint == PRIMARY
        and not one.breaker.is_closed
        and not rules.is_idle(one.breaker, now)
        and not (one.has_second and seconds.get(one.service, True))
    ]


def known_of(row: Any) -> Known:
    level = ServiceLevel(row.level)
    return Known(row.service, row.endpoint, level, bool(row.has_second), _breaker(row))


def _tell(known: Known, before: Breaker, after: Breaker) -> None:
    if before.state is after.state and before.generation == after.generation:
        return
    facts = {
        "service": known.service,
        "endpoint": known.endpoint,
        "before": str(before.state),
        "state": str(after.state),
        "reason": after.reason,
    }
    if after.is_closed:
        log.info("breaker_changed", **facts)
    else:
        log.warning("breaker_changed", **facts)


def _breaker(row: Any) -> Breaker:
    values = {name: getattr(row, name) for name in _FIELDS}
    return Breaker(**{**values, "state": BreakerState(values["state"])})
