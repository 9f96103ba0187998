"""A system under bench/sla.py: workers, perhaps a monitor, a database of its own, and a client."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import UUID, uuid4

import asyncpg
from sqlalchemy.exc import IntegrityError

from bench.fleet import ROOT, Fleet
from bench.servers import PostgresServer
from bench.sla_flow import BY_AGE, ORDER_VARIABLE, PATHS, workflows
from bench.sla_ledger import Fate, fates
from bench.sla_load import Arrival, Scale
from docproc.engine.running.intake import Submission
from docproc.engine.store import rows
from docproc.engine.store.session import is_passing

DOCPROC = "docproc"
FIFO = "docproc fifo"
CORES = os.cpu_count() or 2
# An answer later than this is not waited for: the run ends and tells.
PATIENCE = timedelta(seconds=20)

# The median, because what else the machine does comes in bursts.
_PACE = """
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM pause)) AS seconds FROM (
    SELECT started_at - lag(started_at) OVER (PARTITION BY worker_id ORDER BY started_at) AS pause
    FROM events WHERE request_id = :request AND stage = 'read' AND outcome = 'done'
) pages
"""

Result = TypeVar("Result")


class Cluster(PostgresServer):
    """A PostgreSQL of its own that remembers when each transaction was committed."""

    def _settings(self) -> str:
        return super()._settings() + "track_commit_timestamp = on\n"


async def _run_sql(server: PostgresServer, statement: str) -> None:
    connection = await asyncpg.connect(server.url.replace("+asyncpg", ""))
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


class System:
    """Either DocProc as it is, or the same workers taking what is oldest, without a monitor."""

    def __init__(self, name: str, scale: Scale, database_url: str, folder: Path) -> None:
        self.name = name
        self.scale = scale
        self.has_monitor = name == DOCPROC
        order = {} if self.has_monitor else {ORDER_VARIABLE: BY_AGE, "DOCPROC_FAIR_ORDER": "off"}
        variables = {"DOCPROC_DATABASE_URL": database_url, "DOCPROC_PREFETCH_COUNT": "1", **order}
        self.fleet = Fleet(variables, PATHS, workflows(scale.deadlines), folder=folder)
        self.store = self.fleet.app.store

    async def start(self, workers: int = CORES) -> None:
        await self.fleet.start(workers)
        if self.has_monitor:
            self.monitor = await self.start_monitor()
            await self._until_planned()

    async def start_monitor(self) -> asyncio.subprocess.Process:
        """As in a container of its own."""
        with (self.fleet.folder / "monitor.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "docproc"),
                stderr=log,
                stdout=log,
                env={
                    **self.fleet.environment,
                    "DOCPROC_COMPONENT_NAME": "sla_monitor",
                    "DOCPROC_HEALTH_PORT": "0",
                },
                cwd=ROOT,
            )
        self.fleet.processes.append(process)
        return process

    async def _until_planned(self) -> None:
        """The monitor is there once it has taken the duty of planning."""
        async with asyncio.timeout(60):
            while not await self._ask("SELECT name FROM duties"):
                await asyncio.sleep(0.05)

    async def _ask(self, query: str, **values: object) -> list[object]:
        async with self.store.reading() as session:
            return list(await rows.execute(session, query, **values))

    # --- work ---------------------------------------------------------------------------------------

    async def warm_up(self) -> None:
        """Every child started, every workflow's stages measured."""
        for workflow in self.scale.deadlines:
            await self._work_on(workflow, CORES, seconds=60)

    async def calibrate(self) -> float:
        """What the workers can do, in pages a second: by the usual time from one page to the next."""
        # More pages than can be done: the last ones would leave workers idle.
        pages = 4 * int(CORES * self.scale.calibration_seconds / self.scale.page_seconds)
        request_id = await self._work_on("long", pages, self.scale.calibration_seconds)
        async with self.store.reading() as session:
            (found,) = await rows.execute(session, _PACE, request=request_id)
        await self.clear()
        return CORES / float(found.seconds)

    async def _work_on(self, workflow: str, pages: int, seconds: float) -> UUID:
        """Until they are done or the time is over."""
        arrival = Arrival(uuid4(), 0.0, workflow, pages, asks=False)
        began = time.monotonic()
        await self._submit(arrival)
        while time.monotonic() - began < seconds:
            if (await fates(self.store, [arrival]))[arrival.request_id].complete_at:
                break
            await asyncio.sleep(0.05)
        return arrival.request_id

    async def offer(self, arrivals: Sequence[Arrival]) -> None:
        """Submit each at its moment, whatever became of those before."""
        begin = time.monotonic()
        async with asyncio.TaskGroup() as submitting:
            for arrival in arrivals:
                await asyncio.sleep(max(0.0, begin + arrival.at - time.monotonic()))
                submitting.create_task(again(partial(self._submit, arrival)))

    async def _submit(self, arrival: Arrival) -> None:
        payload = {"pages": arrival.pages, "asks": arrival.asks, "seconds": self.scale.page_seconds}
        submission = Submission(arrival.workflow, payload, request_id=arrival.request_id)
        with contextlib.suppress(IntegrityError):  # the one before the database went away was accepted
            await self.fleet.app.intake.submit(submission)

    async def until_over(
        self, arrivals: Sequence[Arrival], say: Callable[[str], None]
    ) -> tuple[dict[UUID, Fate], datetime]:
        """Wait until nothing that is measured can change; returns what became of all, and the moment."""
        while True:
            told = await again(lambda: fates(self.store, arrivals))
            now = datetime.now(UTC)
            open_ = sum(not self._is_over(fate, now) for fate in told.values())
            say(f"{len(told)} of {len(arrivals)} requests came, {open_} are open")
            if not open_ and len(told) == len(arrivals):
                return told, now
            await asyncio.sleep(0.25)

    def _is_over(self, fate: Fate, now: datetime) -> bool:
        if fate.complete_at or (fate.arrival.asks and not self.has_monitor):
            return True
        if not self.has_monitor:
            return now > fate.deadline
        return now > fate.deadline and (fate.first_at is not None or now > fate.deadline + PATIENCE)

    async def clear(self) -> None:
        """What is left was late anyway: it must not be in the way of the next run."""
        async with self.store.writing() as session:
            await rows.execute(session, "DELETE FROM messages RETURNING id")

    async def close(self) -> None:
        await self.fleet.close()


@contextlib.asynccontextmanager
async def running(
    server: PostgresServer, names: Sequence[str], scale: Scale, *, workers: int = CORES
) -> AsyncIterator[list[System]]:
    """All systems at once, each idle until it is measured."""
    with tempfile.TemporaryDirectory(prefix="docproc-sla-", ignore_cleanup_errors=True) as folder:
        systems = []
        for number, name in enumerate(names):
            database = f"bench_{uuid4().hex[:8]}"
            await _run_sql(server, f"CREATE DATABASE {database}")
            (home := Path(folder) / str(number)).mkdir()
            systems.append(System(name, scale, server.url.removesuffix("postgres") + database, home))
        try:
            for system in systems:
                await system.fleet.open()  # one by one: migrations cannot run side by side in one process
            await asyncio.gather(*(system.start(workers) for system in systems))
            if workers:
                await asyncio.gather(*(system.warm_up() for system in systems))
            yield systems
        finally:
            await asyncio.gather(*(system.close() for system in systems))


async def again(action: Callable[[], Awaitable[Result]]) -> Result:
    """The client's own patience while the database restarts."""
    while True:
        try:
            return await action()
        except Exception as error:
            if not is_passing(error):
                raise
            await asyncio.sleep(0.1)
