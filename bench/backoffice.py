"""The review station at work: 200 people with heartbeats and 20 000 open tasks on PostgreSQL.

    python bench/backoffice.py [--quick] [--json]

How long does the next task take, how long a round of the assignment, and is any task given twice in 10 000
claims? Beside a plain SELECT … FOR UPDATE SKIP LOCKED loop on the same server. Exits 1 when a task was given
twice, or when the next task (p99) or a round takes longer than it may.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[1]))

import structlog

from bench.backoffice_office import RawQueue, ask, doubled, finish, hire, percentile, take_back_all
from bench.servers import PostgresServer
from docproc.app import App
from docproc.engine.message import utc_now
from docproc.engine.store import migrate
from docproc.engine.store.task_tables import Operator
from docproc.people.assignment import Assignment
from docproc.people.desk import Desk
from docproc.settings import Settings

DOCPROC, RAW = "docproc", "raw loop"
NEXT_P99_MS = 100.0
ROUND_MS = 1000.0
BEAT_SECONDS = 15.0
# Everybody asks for a task as often as this.
TASK_SECONDS = 5.0
ROUNDS = 5
WARM = 100


@dataclass(frozen=True)
class Scale:
    people: int
    tasks: int
    claims: int
    seconds: float


FULL = Scale(people=200, tasks=20_000, claims=10_000, seconds=30)
QUICK = Scale(people=200, tasks=20_000, claims=1_000, seconds=5)


@dataclass
class Findings:
    """What the run prints in the end."""

    results: list[dict[str, Any]] = field(default_factory=list)
    ratios: dict[str, float] = field(default_factory=dict)

    def add(self, system: str, metric: str, value: float, unit: str) -> None:
        self.results.append({"system": system, "metric": metric, "value": round(value, 2), "unit": unit})

    def value(self, system: str, metric: str) -> float:
        return float(next(r["value"] for r in self.results if (r["system"], r["metric"]) == (system, metric)))


@dataclass
class Office:
    """What is measured."""

    desk: Desk
    assignment: Assignment
    people: list[Operator]
    raw: RawQueue
    scale: Scale

    async def one_task(self, one: Operator) -> UUID:
        """Somebody asks for a task and does it at once."""
        task = await self.desk.next(one)
        assert task is not None, "there are tasks for everybody"
        await finish(self.desk.store, task.id, one.id, utc_now())
        return task.id

    async def one_plain_task(self, one: Operator) -> UUID:
        found = await self.raw.next(one.id)
        assert found is not None
        await self.raw.finish(found)
        return found


@asynccontextmanager
async def open_office(server: PostgresServer, scale: Scale, home: Path) -> AsyncIterator[Office]:
    settings = Settings.load(
        database_url=server.url, transport="sql", home=home, backoffice_push=True, _env_file=None
    )
    application = App(settings)
    await migrate.upgrade(application.store, application.applications.migrations)
    try:
        people = await hire(application.store, scale.people)
        await ask(application.store, scale.tasks)
        raw = await RawQueue.of(server, settings.database_connections)
        yield Office(Desk(application), Assignment(application), people, raw, scale)
        await raw.close()
    finally:
        await application.close()


# --- a day at the office ----------------------------------------------------------------------------------


@asynccontextmanager
async def beating(office: Office) -> AsyncIterator[None]:
    """Everybody's page is open, and once a second silent holders are looked for."""

    async def beats(number: int, one: Operator) -> None:
        await asyncio.sleep(BEAT_SECONDS * number / len(office.people))
        while True:
            await office.desk.heartbeat(one)
            await asyncio.sleep(BEAT_SECONDS)

    async def rounds() -> None:
        while True:
            await office.assignment.take_back()
            await asyncio.sleep(1)

    jobs = [asyncio.create_task(beats(number, one)) for number, one in enumerate(office.people)]
    jobs.append(asyncio.create_task(rounds()))
    try:
        yield
    finally:
        for job in jobs:
            job.cancel()
        ended = await asyncio.gather(*jobs, return_exceptions=True)
        for error in ended:
            if isinstance(error, Exception):
                raise error


async def measure_next(office: Office, findings: Findings) -> None:
    """Everybody asks for a task, does it and asks again; they begin one after another."""
    taken: list[float] = []
    store = office.desk.store
    await _all_at_once(office.people, WARM, office.one_task)  # a station that runs has its connections open
    ends = time.perf_counter() + office.scale.seconds

    async def at_work(number: int, one: Operator) -> None:
        await asyncio.sleep(TASK_SECONDS * number / len(office.people))
        while (started := time.perf_counter()) < ends:
            task = await office.desk.next(one)
            taken.append((time.perf_counter() - started) * 1000)
            assert task is not None, "there are tasks for everybody"
            await finish(store, task.id, one.id, utc_now())
            await asyncio.sleep(max(0.0, started + TASK_SECONDS - time.perf_counter()))

    async with beating(office), asyncio.TaskGroup() as group:
        for number, one in enumerate(office.people):
            group.create_task(at_work(number, one))
    findings.add(DOCPROC, "next_tasks", len(taken), "number")
    findings.add(DOCPROC, "next_task_p50", percentile(taken, 0.5), "ms")
    findings.add(DOCPROC, "next_task_p99", percentile(taken, 0.99), "ms")
    findings.add(DOCPROC, "next_task_max", max(taken), "ms")


async def measure_rounds(office: Office, findings: Findings) -> None:
    """Everybody is free and gets an offer at once; then nobody is, and nothing is to be done."""
    store = office.desk.store
    offers: list[float] = []
    for _ in range(ROUNDS):
        await take_back_all(store)
        started = time.perf_counter()
        given = await office.assignment.round()
        offers.append((time.perf_counter() - started) * 1000)
        assert given == len(office.people), f"{given} offers"
    started = time.perf_counter()
    assert await office.assignment.round() == 0
    findings.add(DOCPROC, "idle_round", (time.perf_counter() - started) * 1000, "ms")
    findings.add(DOCPROC, "round_with_offers_to_all", percentile(offers, 0.5), "ms")
    findings.add(DOCPROC, "round_max", max(offers), "ms")
    await take_back_all(store)


# --- claims -----------------------------------------------------------------------------------------------

Work = Callable[[Operator], Awaitable[UUID]]


async def measure_claims(office: Office, findings: Findings) -> None:
    """All people at once, as fast as they can; both systems in turns."""
    given: dict[str, list[UUID]] = {DOCPROC: [], RAW: []}
    spent = {DOCPROC: 0.0, RAW: 0.0}
    for _ in range(2):
        for name, work in ((DOCPROC, office.one_task), (RAW, office.one_plain_task)):
            started = time.perf_counter()
            async with beating(office):
                given[name] += await _all_at_once(office.people, office.scale.claims // 2, work)
            spent[name] += time.perf_counter() - started
    for name, ids in given.items():
        findings.add(name, "claims", len(ids), "number")
        findings.add(name, "given_twice", len(ids) - len(set(ids)), "number")
        findings.add(name, "claims_per_second", len(ids) / spent[name], "1/s")
    findings.add(DOCPROC, "given_twice_by_the_record", await doubled(office.desk.store), "number")
    ours_rate, plain_rate = (findings.value(name, "claims_per_second") for name in (DOCPROC, RAW))
    findings.ratios["claims a second: docproc vs raw loop"] = round(ours_rate / plain_rate, 2)


async def _all_at_once(people: Sequence[Operator], number: int, work: Work) -> list[UUID]:
    left = iter(range(number))
    given: list[UUID] = []

    async def at_it(one: Operator) -> None:
        given.extend([await work(one) for _ in left])

    async with asyncio.TaskGroup() as group:
        for one in people:
            group.create_task(at_it(one))
    return given


# --- the run ----------------------------------------------------------------------------------------------


async def measure(server: PostgresServer, scale: Scale, findings: Findings) -> None:
    with tempfile.TemporaryDirectory(prefix="docproc-bench-") as home:
        async with open_office(server, scale, Path(home)) as office:
            # Rounds last: what they offer and take back would be on the record of claims.
            await measure_next(office, findings)
            await measure_claims(office, findings)
            await measure_rounds(office, findings)


def is_good(findings: Findings) -> bool:
    return (
        findings.value(DOCPROC, "given_twice") == findings.value(DOCPROC, "given_twice_by_the_record") == 0
        and findings.value(DOCPROC, "next_task_p99") < NEXT_P99_MS
        and findings.value(DOCPROC, "round_max") < ROUND_MS
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="1 000 claims, five seconds of work")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    findings = Findings()
    with PostgresServer() as server:
        asyncio.run(measure(server, QUICK if given.quick else FULL, findings))
    if given.json:
        print(json.dumps(asdict(findings)))
    else:
        for row in findings.results:
            print(f"{row['system']:<10} {row['metric']:<28} {row['value']:>12,.6g} {row['unit']}")
        for name, ratio in findings.ratios.items():
            print(f"{name}: {ratio}")
    return 0 if is_good(findings) else 1


if __name__ == "__main__":
    sys.exit(main())
