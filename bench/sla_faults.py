"""Deadlines under fire: the monitor killed twice, the database crashed once; the ledger must be exact."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from bench.servers import PostgresServer
from bench.sla_fleet import DOCPROC, System, running
from bench.sla_ledger import Fate
from bench.sla_load import Arrival, Scale, arrivals
from docproc.engine.store import rows

LOAD = 100
# More wait for people than usual: what the workers finish says nothing of the monitor.
ASKING = {"short": 0.8, "medium": 0.0, "long": 0.0}
# How late an answer may be, after its deadline or after the database takes connections again.
LIMIT_SECONDS = 2.0


@dataclass
class Report:
    """What became of what was accepted. `beyond_ms`: the worst lateness after the allowed moment."""

    accepted: int
    lost: int = 0
    doubled: int = 0
    answers: int = 0
    beyond_ms: float = 0.0
    kills: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not (self.lost or self.doubled) and self.beyond_ms <= 1000 * LIMIT_SECONDS


@dataclass(frozen=True)
class Outage:
    """The database was away."""

    began: datetime
    ended: datetime

    def moves(self, deadline: datetime) -> bool:
        """Whether an answer to this deadline could not be stored in time because of it."""
        return self.began - timedelta(seconds=LIMIT_SECONDS) <= deadline <= self.ended


async def measure(server: PostgresServer, scale: Scale, say: Callable[[str], None]) -> Report:
    async with running(server, [DOCPROC], scale) as (system,):
        say("calibration")
        coming = arrivals(LOAD, await system.calibrate(), scale.fault_window, ASKING)
        breaking = asyncio.create_task(_break(server, system, scale, say))
        await system.offer(coming)
        kills, outage = await breaking
        told, _ = await system.until_over(coming, say)
        report = judge(coming, told, [outage])
        report.kills = len(kills)
        await _count_events(system, report)
    if report.problems:
        report.problems += [f"the monitor was killed at {kill:%T.%f}" for kill in kills]
        report.problems.append(f"the database was away from {outage.began:%T.%f} to {outage.ended:%T.%f}")
    return report


async def _break(
    server: PostgresServer, system: System, scale: Scale, say: Callable[[str], None]
) -> tuple[list[datetime], Outage]:
    """Kill, crash, kill: spread over the time in which deadlines pass."""
    pause = (scale.fault_window + scale.deadlines["short"]) / 4
    await asyncio.sleep(pause)
    kills = [await _kill_monitor(system, say)]
    await asyncio.sleep(pause)
    say("the database crashes")
    began = datetime.now(UTC)
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)
    outage = Outage(began, datetime.now(UTC))
    await asyncio.sleep(pause)
    kills.append(await _kill_monitor(system, say))
    return kills, outage


async def _kill_monitor(system: System, say: Callable[[str], None]) -> datetime:
    """And start another one at once."""
    say("the monitor is killed")
    system.monitor.kill()
    await system.monitor.wait()
    died = datetime.now(UTC)
    system.monitor = await system.start_monitor()
    return died


def judge(coming: Sequence[Arrival], told: Mapping[UUID, Fate], outages: Sequence[Outage]) -> Report:
    """Every request answered in time or soon after the outage, its versions 1 to n without a gap."""
    report = Report(accepted=len(coming))
    for arrival in coming:
        fate = told.get(arrival.request_id)
        if fate is None or fate.first_at is None:
            report.lost += 1
            report.problems.append(f"{arrival.request_id}: no answer")
            continue
        report.answers += len(fate.versions)
        if fate.versions != list(range(1, fate.answer_version + 1)):
            report.lost += 1
            report.problems.append(f"{arrival.request_id}: {fate.answer_version} != {fate.versions}")
        allowed = max([fate.deadline, *(o.ended for o in outages if o.moves(fate.deadline))])
        beyond = 1000 * (fate.first_at - allowed).total_seconds()
        if beyond > 1000 * LIMIT_SECONDS:
            report.problems.append(f"{arrival.request_id}: due {fate.deadline:%T.%f}, {beyond:.0f} ms late")
        report.beyond_ms = max(report.beyond_ms, beyond)
    return report


async def _count_events(system: System, report: Report) -> None:
    """A version that was given twice would have told so twice; nothing here is corrected or amended twice."""
    async with system.store.reading() as session:
        found = await rows.execute(
            session,
            "SELECT request_id, data ->> 'version' AS version, data ->> 'reason' AS reason "
            "FROM events WHERE kind = 'answer'",
        )
    for kind in ("version", "reason"):
        times = Counter((row.request_id, getattr(row, kind)) for row in found)
        extra = {key: number - 1 for key, number in times.items() if number > 1}
        report.doubled += sum(extra.values())
        report.problems += [f"{key}: {kind} told {number + 1} times" for key, number in extra.items()]
