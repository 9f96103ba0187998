"""Faults: processes killed, servers restarted, everything delivered twice; nothing may be lost or doubled.

    python bench/faults.py [--quick] [--json] [--system NAME …] [--chaining on|off|mixed …]

Each system runs the same workload (fan-out with a window, branches, retries, joins, late corrections) on
servers of its own, three times: with chaining and joins counted by senders, without both, and mixed, where a
worker of each kind and (on PostgreSQL, but not with Redis) one of release 0.1.0 work on the same requests.
Exits 1 when anything was lost, doubled or taken over later than five seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import logging
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[1]))

import structlog
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from bench import previous
from bench.faulty import PATHS, WORKFLOW
from bench.fleet import ROOT, Fleet
from bench.redis_server import RedisServer
from bench.servers import PostgresServer, RabbitServer
from docproc.apps.documents.tables import Document
from docproc.engine.message import PipelineMessage
from docproc.engine.store import rows
from docproc.engine.store.tables import Request
from docproc.errors import TransportError

SYSTEMS = ("sql/sqlite", "sql/postgresql", "rabbitmq/postgresql", "redis/postgresql")
CHAINING = ("on", "off", "mixed")
UNCHAINED = {"DOCPROC_CHAINING": "off", "FAULT_COUNTED_BY": "messages"}
TAKEOVER_LIMIT_SECONDS = 5.0
WORKERS = 3

Result = TypeVar("Result")


@dataclass(frozen=True)
class Scale:
    requests: int
    units: int
    kills: int
    probability: float
    patience_seconds: float


QUICK = Scale(requests=8, units=12, kills=4, probability=0.004, patience_seconds=90)
FULL = Scale(requests=60, units=30, kills=30, probability=0.004, patience_seconds=900)


@dataclass
class Report:
    """What became of what was accepted."""

    system: str
    chaining: str = "on"
    accepted: int = 0
    answered: int = 0
    lost: int = 0
    duplicated: int = 0
    kills: int = 0
    # Workers that ended by themselves.
    broken: int = 0
    takeover_s: float = 0.0
    restarts: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        harmed = self.lost or self.duplicated or self.broken
        return not harmed and self.takeover_s <= TAKEOVER_LIMIT_SECONDS


class Servers:
    """The servers of one system: private ones, so that they may be broken."""

    def __init__(self, system: str, stack: contextlib.ExitStack) -> None:
        self.postgres = stack.enter_context(PostgresServer()) if "postgresql" in system else None
        self.rabbit = stack.enter_context(RabbitServer()) if "rabbitmq" in system else None
        # Without persistence: a restart forgets everything.
        self.redis = stack.enter_context(RedisServer()) if "redis" in system else None

    @property
    def variables(self) -> dict[str, str]:
        found = {}
        if self.postgres:
            found["DOCPROC_DATABASE_URL"] = self.postgres.url
        if self.rabbit:
            found["DOCPROC_RABBITMQ_URL"] = self.rabbit.url
        if self.redis:
            found["DOCPROC_REDIS_URL"] = self.redis.url
        return found

    async def restart(self) -> int:
        """Restart what there is; returns how many servers."""
        found = [server for server in (self.postgres, self.rabbit, self.redis) if server]
        for server in found:
            await asyncio.to_thread(server.restart)
        return len(found)


class Run:
    """One system under fire."""

    def __init__(self, system: str, scale: Scale, say: Callable[[str], None], chaining: str = "on") -> None:
        self.scale = scale
        self.say = say
        self.report = Report(system, chaining)
        self.expected: dict[UUID, int] = {}
        self.takeovers: list[asyncio.Task[float]] = []
        self.ending = False

    async def run(self) -> Report:
        started = time.monotonic()
        with contextlib.ExitStack() as stack:
            self.servers = Servers(self.report.system, stack)
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="docproc-faults-"))
            self.kinds = _kinds(self.report.system, self.report.chaining, Path(folder))
            structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
            self.fleet = Fleet(
                {**self.servers.variables, "FAULT_PROBABILITY": str(self.scale.probability)},
                PATHS,
                {"faults": WORKFLOW},
                command=("-m", "bench.faulty"),
                folder=Path(folder),
                takes_components=False,
            )
            await self.fleet.open()
            try:
                await self._workload()
            finally:
                self.ending = True
                await self.fleet.close()
        self.report.seconds = round(time.monotonic() - started, 1)
        return self.report

    async def _workload(self) -> None:
        keepers = [
            asyncio.create_task(self._keep_one(self.kinds[number % len(self.kinds)]))
            for number in range(WORKERS)
        ]
        await self._submit(self.scale.requests // 2)
        await asyncio.gather(self._kill_at_random(), self._submit(self.scale.requests // 2))
        self.say("servers restart in the middle of the work")
        self.report.restarts += await self.servers.restart()
        await self._kill_all_at_once()
        self.say("servers restart during the recovery")
        self.report.restarts += await self.servers.restart()
        await self._until_answered("answers", lambda: self._answered(generation=1))
        await self._correct_late()
        await self._until_answered("amended answers", lambda: self._answered(generation=2))
        self.ending = True
        for keeper in keepers:
            keeper.cancel()
        self.report.takeover_s = round(max(await asyncio.gather(*self.takeovers), default=0.0), 2)
        await self._count()

    # --- dying ----------------------------------------------------------------------------------------

    async def _keep_one(self, kind: Kind) -> None:
        """A worker process that is started again whenever it dies."""
        while not self.ending:
            worker_id = f"faulty-{random.getrandbits(48):x}"
            process = await self.fleet.spawn(kind.root, DOCPROC_WORKER_ID=worker_id, **kind.variables)
            code = await process.wait()
            if self.ending:
                return
            if code != -signal.SIGKILL:
                self.report.broken += 1
                self.report.problems.append(f"a worker of {kind.root} ended with {code}: see workers.log")
                return
            self.report.kills += 1
            self.takeovers.append(asyncio.create_task(self._measure_takeover(worker_id)))

    async def _measure_takeover(self, worker_id: str) -> float:
        """From death until nothing is held by the dead worker any more.

        When all processes died at once, the time counts from the moment an heir is alive.
        """
        died = time.monotonic()
        while True:
            is_held, heirs = await self._again(lambda: self._held_by(worker_id))
            if not is_held:
                return time.monotonic() - died
            if not heirs:
                died = time.monotonic()
            await asyncio.sleep(0.02)

    async def _held_by(self, worker_id: str) -> tuple[bool, int]:
        store = self.fleet.app.store
        recently = store.clock_plus(":age")
        async with store.reading() as session:
            (found,) = await rows.execute(
                session,
                f"""
                SELECT EXISTS (
                    SELECT 1 FROM messages WHERE worker_id = :w AND state IN ('leased', 'sent')
                    AND EXISTS (SELECT 1 FROM workers WHERE id = :w)
                ) AS is_held,
                (SELECT count(*) FROM workers WHERE id <> :w AND beat_at > {recently}) AS heirs
                """,
                w=worker_id,
                age=-1.5,
            )
        return bool(found.is_held), int(found.heirs)

    async def _kill_at_random(self) -> None:
        """Besides the workers' own chance to die at the worst moments."""
        while self.report.kills < self.scale.kills:
            await asyncio.sleep(random.uniform(0.2, 1.0))
            self._kill(random.choice(self._alive() or [None]))

    async def _kill_all_at_once(self) -> None:
        self.say("all processes are killed at once")
        for process in self._alive():
            self._kill(process)
        await asyncio.sleep(0)

    def _alive(self) -> list[Any]:
        return [process for process in self.fleet.processes if process.returncode is None]

    def _kill(self, process: Any) -> None:
        with contextlib.suppress(ProcessLookupError):
            if process is not None:
                process.kill()

    # --- working --------------------------------------------------------------------------------------

    async def _submit(self, number: int) -> None:
        for _ in range(number):
            units = random.randint(self.scale.units // 2, self.scale.units)
            request_id = await self._again(lambda: self.fleet.submit("faults", units=units))  # noqa: B023 # awaited at once
            self.expected[request_id] = units
            self.report.accepted += 1
            await asyncio.sleep(0.02)

    async def _correct_late(self) -> None:
        """For every third request, one unit comes again after the answer, as from an operator."""
        self.corrected = {rid for n, rid in enumerate(self.expected) if n % 3 == 0}
        for request_id in self.corrected:
            await self._again(lambda: self._correct(request_id))  # noqa: B023 # awaited at once

    async def _correct(self, request_id: UUID) -> None:
        app = self.fleet.app
        async with app.store.reading() as session:
            request = (await session.scalars(select(Request).where(Request.id == request_id))).one()
        message = PipelineMessage(
            request_id=request_id,
            # The same correction sent again (after a lost connection) is the same message.
            message_id=request_id,
            workflow_name=request.workflow_name,
            workflow_version=request.workflow_version,
            current_stage="second",
            unit_key="unit:0",
            payload={"index": 0, "corrected": True},
        )
        async with app.store.writing() as session:
            copies = await app.outbox.resume(session, message)
        await app.relay.publish(copies)

    async def _answered(self, generation: int) -> bool:
        wanted = self.expected if generation == 1 else self.corrected
        found = await self._requests()
        done = [r for r in found.values() if r.id in wanted and r.result_generation >= generation]
        self.report.answered = sum(r.status == "completed" for r in found.values())
        self.say(f"{len(done)} of {len(wanted)} answered, {self.report.kills} kills")
        return len(done) == len(wanted)

    async def _requests(self) -> dict[UUID, Request]:
        async with self.fleet.app.store.reading() as session:
            return {r.id: r for r in await session.scalars(select(Request))}

    async def _until_answered(self, what: str, condition: Callable[[], Awaitable[bool]]) -> None:
        try:
            async with asyncio.timeout(self.scale.patience_seconds):
                while not await self._again(condition):
                    await asyncio.sleep(0.25)
        except TimeoutError:
            self.report.problems.append(f"not all {what} within {self.scale.patience_seconds} s")

    async def _again(self, action: Callable[[], Awaitable[Result]]) -> Result:
        """The client's own patience while servers restart."""
        while True:
            try:
                return await action()
            except (SQLAlchemyError, TransportError, OSError):
                await asyncio.sleep(0.1)

    # --- counting -------------------------------------------------------------------------------------

    async def _count(self) -> None:
        """The ledger: every effect that must have happened, against those that did."""
        found = await self._requests()
        async with self.fleet.app.store.reading() as session:
            query = select(Document.request_id, Document.doc_type, Document.page_indices)
            traces = Counter((r[0], r[1], r[2][0]) for r in await session.execute(query))
        wanted = Counter(
            (rid, *effect) for rid, units in self.expected.items() for effect in self._effects(rid, units)
        )
        self._note("lost", wanted - traces)
        self._note("duplicated", traces - wanted)
        for request_id, units in self.expected.items():
            request = found.get(request_id)
            if not self._is_whole(request, units):
                self.report.lost += 1
                status = request.status if request else "gone"
                self.report.problems.append(f"request {request_id}: {status}")

    def _is_whole(self, request: Request | None, units: int) -> bool:
        if request is None or request.status != "completed":
            return False
        return bool((request.result_payload or {}).get("units") == units)

    def _effects(self, request_id: UUID, units: int) -> Iterator[tuple[str, int]]:
        yield "split", -1
        for index in range(units):
            yield "first", index
            yield "flaky", index
            yield "second", index
            if index % 3 == 0:
                yield "side", index
        yield "gather", -1
        yield "last", -1
        if request_id in self.corrected:
            yield "gather", -2
            yield "last", -1

    def _note(self, what: str, effects: Counter[Any]) -> None:
        number = sum(effects.values())
        setattr(self.report, what, getattr(self.report, what) + number)
        self.report.problems.extend(f"{what}: {effect} ×{n}" for effect, n in list(effects.items())[:5])


@dataclass(frozen=True)
class Kind:
    """A kind of worker: whose tree it runs, and what is different there."""

    root: Path = ROOT
    variables: dict[str, str] = field(default_factory=dict)


def _kinds(system: str, chaining: str, folder: Path) -> list[Kind]:
    if chaining == "on":
        return [Kind()]
    if chaining == "off":
        return [Kind(variables=UNCHAINED)]
    both = [Kind(), Kind(variables=UNCHAINED)]
    # One machine has one release: an embedded database is migrated by whoever opens it.
    if "sqlite" in system or "redis" in system:  # which 0.1.0 has no transport for
        return both
    if problem := previous.unavailable():
        raise SystemExit(problem)
    return [*both, Kind(previous.extract(folder / "previous"))]


def run(
    system: str, scale: Scale, say: Callable[[str], None] = lambda _: None, chaining: str = "on"
) -> Report:
    return asyncio.run(Run(system, scale, say, chaining).run())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a short run, as in CI")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--system", action="append", choices=SYSTEMS, help="only this system")
    parser.add_argument("--chaining", action="append", choices=CHAINING, help="only this kind of workers")
    given = parser.parse_args()
    reports = []
    for system, chaining in itertools.product(given.system or SYSTEMS, given.chaining or CHAINING):

        def say(text: str, name: str = f"{system}, chaining {chaining}") -> None:
            print(f"\r\033[K{name}: {text}", end="", file=sys.stderr, flush=True)

        reports.append(run(system, QUICK if given.quick else FULL, say, chaining))
        print(file=sys.stderr)
        if not given.json:
            print(reports[-1])
    if given.json:
        print(json.dumps({"runs": [asdict(report) for report in reports]}))
    return 0 if all(report.passed for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
