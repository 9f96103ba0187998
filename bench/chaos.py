"""Chaos: faults chosen by a seed against a loaded deployment; what was accepted is answered once, in time.

    python bench/chaos.py [--quick] [--json] [--system NAME …] [--minutes N | --faults N] [--seed N]
                          [--only FAULT …]

After each fault a probe must be answered and every service ready again within 10 s (15 s where the broker
was lost); `/ready` may not say yes while nothing moves; at the end every answer is held against its deadline
and a ledger of every effect is checked. The seed is printed: the same seed chooses the same faults. Exits 1
when anything of it does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx

from bench import chaos_faults, faults
from bench.chaos_deployment import Deployment
from bench.chaos_judge import Judge, PostgresWrites, SqliteWrites
from bench.chaotic import PATHS, STAGES, WORKFLOWS
from bench.fleet import Fleet
from bench.machine import Disk, Machine
from bench.proxy import Proxy
from bench.servers import PostgresServer, RabbitServer
from docproc.engine.store import migrate

# Redis is not among them yet: bench/faults.py restarts it, and tests/contracts/test_redis.py flushes it.
SYSTEMS = tuple(system for system in faults.SYSTEMS if "redis" not in system)
UNITS = 4
LOAD_SECONDS = 0.8  # between two requests of the load: a probe must not wait behind a backlog
WAITING_SHARE = 0.1  # of the load: requests that only the monitor can answer in time
BURST = 4
# After this long without a recovery the run tells of it and goes on.
PATIENCE_SECONDS = 60.0
QUICK_FAULTS = 4
DISK_MEGABYTES = 512


@dataclass
class Outcome:
    system: str
    seed: int
    faults: int = 0
    accepted: int = 0
    answered: int = 0
    # Answered after the deadline, because nobody could answer at it.
    late: int = 0
    # Answered after the deadline without such a reason.
    overdue: int = 0
    lost: int = 0
    duplicated: int = 0
    # Faults that were not recovered from in time.
    stuck: int = 0
    # How often all said "ready" and nothing moved.
    false_ready: int = 0
    slowest_recovery_s: float = 0.0
    # Of each kind of fault: how many, and the slowest recovery.
    by_fault: dict[str, dict[str, float]] = field(default_factory=dict)
    # What could not be done on this machine, and why.
    skipped: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        broken = self.lost + self.duplicated + self.stuck + self.overdue + self.false_ready
        return not broken and self.answered == self.accepted

    def recovered(self, name: str, seconds: float) -> None:
        self.faults += 1
        self.slowest_recovery_s = max(self.slowest_recovery_s, round(seconds, 2))
        kind = self.by_fault.setdefault(name, {"n": 0, "slowest_s": 0.0})
        kind["n"] += 1
        kind["slowest_s"] = max(kind["slowest_s"], round(seconds, 2))


class Chaos(faults.Run):
    """One combination; the ledger is that of bench/faults.py."""

    def __init__(
        self,
        system: str,
        seed: int,
        say: Callable[[str], None],
        only: Sequence[str] = (),
        waiting_share: float = WAITING_SHARE,
    ) -> None:
        super().__init__(system, faults.QUICK, say)
        self.outcome = Outcome(system, seed)
        self.only = only
        self.waiting_share = waiting_share
        self.corrected: set[UUID] = set()
        self.workflows: dict[UUID, str] = {}
        self._flowing = asyncio.Event()
        self._ending = False

    async def attack(self, *, number: int | None = None, seconds: float | None = None) -> Outcome:
        """So many faults, or faults for so long."""
        async with contextlib.AsyncExitStack() as stack:
            await self._open(stack)
            watching = asyncio.create_task(self.judge.watch())
            load = asyncio.create_task(self._load())
            ends = time.monotonic() + (seconds or float("inf"))
            for index, name in enumerate(self._deck()):
                if time.monotonic() >= ends or index == number:
                    break
                await self._one_fault(index, name)
            self._ending = True
            self._flowing.set()
            await load  # not cancelled: what is under way may be accepted already
            await self._settle()
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching  # raises when it ended before: then nothing was judged
        return self.outcome

    def _deck(self) -> Iterator[str]:
        """All faults in an order of chance, then all in another one: each comes about as often."""
        names = sorted(set(self.faults) & set(self.only)) if self.only else sorted(self.faults)
        turn = 0
        while names:
            random.Random(f"{self.outcome.seed} {turn}").shuffle(names)
            yield from names
            names, turn = sorted(names), turn + 1

    # --- what is attacked -------------------------------------------------------------------------------

    async def _open(self, stack: contextlib.AsyncExitStack) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="docproc-chaos-")))
        _open_to_all(folder)
        disk = Disk(folder / "disk", DISK_MEGABYTES)
        stack.callback(disk.close)
        ours = Machine(folder, "docproc")
        servers = await self._servers(stack, disk, folder)
        # The bench itself reaches the database directly: it must see what is there, whatever the network is.
        home = disk.path / "home"
        home.mkdir(mode=0o700)
        self.fleet = Fleet(servers.addresses, PATHS, WORKFLOWS, folder=home)
        await migrate.upgrade(self.fleet.app.store, self.fleet.app.applications.migrations)
        stack.push_async_callback(self.fleet.app.close)
        proxies = await servers.proxied(stack)
        environment = {
            **servers.addresses_through(proxies),
            **ours.variables,
            "DOCPROC_WORKFLOWS_DIR": str(home / "workflows"),
            "DOCPROC_COMPONENTS": ",".join(f"{name}={path}" for name, path in PATHS.items()),
            "TMPDIR": str(disk.path),
        }
        self.deployment = Deployment(environment, home, folder, is_embedded=servers.postgres is None)
        stack.push_async_callback(self.deployment.close)
        machines = (ours, *servers.machines)
        self.target = chaos_faults.Target(
            self.deployment, disk, machines, servers.postgres, servers.rabbit, proxies
        )
        self.faults, self.outcome.skipped = chaos_faults.possible(self.target)
        self.deployment.start()
        self.client = await stack.enter_async_context(httpx.AsyncClient(timeout=10, trust_env=False))
        self._judged(stack, environment, ours)
        async with asyncio.timeout(120):
            while not await self._all_ready():
                await asyncio.sleep(0.2)

    async def _servers(self, stack: contextlib.AsyncExitStack, disk: Disk, folder: Path) -> _Servers:
        servers = _Servers()
        if "postgresql" in self.outcome.system:
            servers.postgres = PostgresServer(disk.path)
        if "rabbitmq" in self.outcome.system:
            servers.rabbit = RabbitServer()
        for name, (_, server) in servers.all.items():
            servers.machines.append(Machine(folder, name))
            server.variables = servers.machines[-1].variables
            await asyncio.to_thread(stack.enter_context, server)
        if servers.postgres:
            await chaos_faults.set_for_all(servers.postgres, "max_wal_size", "'64MB'")  # the disk is small
        return servers

    def _judged(
        self, stack: contextlib.AsyncExitStack, environment: dict[str, str], machine: Machine
    ) -> None:
        writes: SqliteWrites | PostgresWrites
        if url := environment.get("DOCPROC_DATABASE_URL"):
            writes = PostgresWrites(url)
            stack.callback(writes.close)
        else:
            writes = SqliteWrites(str(self.fleet.app.store.url.database))
        self.judge = Judge(self.fleet.app.store, machine, writes, self._all_ready)

    async def _all_ready(self) -> bool:
        return await self.deployment.is_ready(self.client)

    # --- faults -----------------------------------------------------------------------------------------

    async def _one_fault(self, index: int, name: str) -> None:
        self.target.chance = random.Random(f"{self.outcome.seed} {name} {index}")
        self.target.monitors_hit = self.target.hinders_writes = False
        mood = await self._mood()
        hurt = time.monotonic()
        told = await self.faults[name](self.target)
        began = time.monotonic()
        recovered = await self._recovered()
        took = time.monotonic() - began
        if self.target.hinders_writes:
            self.judge.excuse("slow or full disk", hurt, began)
        if self.target.monitors_hit:
            self.judge.excuse("no monitor", hurt, time.monotonic())
        self.outcome.recovered(name, took)
        line = f"{mood} {name}, {told}: {took:.1f} s (load {os.getloadavg()[0]:.1f})"
        self.say(f"{self.outcome.faults} faults, {self.outcome.accepted} accepted; {line}")
        if not recovered or took > chaos_faults.recovery_seconds(name):
            self.outcome.stuck += 1
            self._tell(f"fault {index}, {line}")
            for service in self.deployment.services:
                self._tell(*service.last_words())
        await asyncio.sleep(self.target.chance.uniform(0.0, 1.0))

    def _tell(self, *lines: str) -> None:
        self.outcome.problems += lines
        for line in lines:
            self.say(f"    {line}")

    async def _mood(self) -> str:
        """Of the deployment when the fault comes: nothing to do, as usual, or much at once."""
        mood = self.target.chance.choice(["idle", "loaded", "busy"])
        if mood == "idle":
            self._flowing.clear()
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while self.judge.open:
                        await asyncio.sleep(0.05)
            except TimeoutError:
                self.outcome.stuck += 1
                self._tell(
                    f"{len(self.judge.open)} requests do not end, {PATIENCE_SECONDS:.0f} s after the last"
                )
        else:
            self._flowing.set()
            await asyncio.gather(*(self._send() for _ in range(BURST if mood == "busy" else 1)))
            await asyncio.sleep(self.target.chance.uniform(0.0, 0.3))
        return mood

    async def _recovered(self) -> bool:
        """A probe is answered and every service says it is ready; both, so that neither can lie."""
        self._flowing.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                probe = await self._send()
                while not await self._is_complete(probe) or not await self._all_ready():
                    await asyncio.sleep(0.1)
                return True
        return False

    async def _is_complete(self, request_id: UUID) -> bool:
        await self._again(self.judge.look)
        return self.judge.requests[request_id].completed_at is not None

    # --- load -------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        chance = random.Random(self.outcome.seed)
        while not self._ending:
            await self._flowing.wait()
            await self._send("waiting" if chance.random() < self.waiting_share else "chaos")
            await asyncio.sleep(LOAD_SECONDS)

    async def _send(self, workflow: str = "chaos") -> UUID:
        """As a client does: again with the same key until it is accepted."""
        headers = {"Idempotency-Key": uuid4().hex}
        body = {"workflow": workflow, "payload": {"units": UNITS}}
        while True:
            with contextlib.suppress(httpx.HTTPError, ValueError, KeyError):
                answer = await self.client.post(
                    f"{self.deployment.url}/requests", json=body, headers=headers, timeout=5
                )
                if answer.status_code == 200:
                    request_id = UUID(answer.json()["request_id"])
                    self.expected[request_id] = UNITS
                    self.workflows[request_id] = workflow
                    self.outcome.accepted += 1
                    self.judge.accepted(request_id, workflow)
                    return request_id
            await asyncio.sleep(0.2)

    # --- the end ----------------------------------------------------------------------------------------

    async def _settle(self) -> None:
        for machine in self.target.machines:
            machine.set_clock(0.0)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not await self._all_complete():
                    await asyncio.sleep(0.2)
        watched = self.judge.requests.values()
        self.outcome.answered = sum(one.answered_at is not None for one in watched)
        self.outcome.late, overdue = await self.judge.verdict()
        self.outcome.overdue = len(overdue)
        self.outcome.false_ready = len(self.judge.false_ready)
        await self._count()
        self.outcome.lost, self.outcome.duplicated = self.report.lost, self.report.duplicated
        self._tell(*overdue, *self.judge.false_ready, *self.report.problems)

    async def _all_complete(self) -> bool:
        await self._again(self.judge.look)
        return all(one.completed_at is not None for one in self.judge.requests.values())

    def _effects(self, request_id: UUID, units: int) -> Iterator[tuple[str, int]]:
        yield "split", -1
        for index in range(units):
            for stage in STAGES[self.workflows[request_id]]:
                yield stage, index
        yield "gather", -1

    def _is_whole(self, request: Any, units: int) -> bool:
        """Late is whole, too; that it was late is counted apart."""
        if request is None or request.completed_at is None or request.status == "failed":
            return False
        return bool((request.result_payload or {}).get("units") == units)


def _open_to_all(folder: Path) -> None:
    """PostgreSQL runs as somebody else."""
    folder.chmod(0o755)


class _Servers:
    """Of one combination: private ones, so that they may be broken."""

    def __init__(self) -> None:
        self.postgres: PostgresServer | None = None
        self.rabbit: RabbitServer | None = None
        self.machines: list[Machine] = []

    @property
    def all(self) -> dict[str, tuple[str, PostgresServer | RabbitServer]]:
        found: dict[str, tuple[str, PostgresServer | RabbitServer]] = {}
        if self.postgres:
            found["postgresql"] = ("DOCPROC_DATABASE_URL", self.postgres)
        if self.rabbit:
            found["rabbitmq"] = ("DOCPROC_RABBITMQ_URL", self.rabbit)
        return found

    @property
    def addresses(self) -> dict[str, str]:
        return {variable: server.url for variable, server in self.all.values()}

    async def proxied(self, stack: contextlib.AsyncExitStack) -> dict[str, Proxy]:
        return {
            name: await stack.enter_async_context(Proxy(server.port))
            for name, (_, server) in self.all.items()
        }

    def addresses_through(self, proxies: dict[str, Proxy]) -> dict[str, str]:
        return {
            variable: server.url.replace(f":{server.port}", f":{proxies[name].port}")
            for name, (variable, server) in self.all.items()
        }


async def _ended_in_order(attack: Coroutine[Any, Any, Outcome]) -> Outcome:
    """Also by SIGTERM: the deployment must not outlive the bench."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await attack


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few faults on each combination")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--system", action="append", choices=SYSTEMS, help="only this combination")
    parser.add_argument("--minutes", type=float, default=30.0, help="in all")
    parser.add_argument("--faults", type=int, help="so many on each combination, instead of minutes")
    parser.add_argument("--only", action="append", default=[], help="only this kind of fault")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    given = parser.parse_args()
    systems = given.system or SYSTEMS
    number = given.faults or (QUICK_FAULTS if given.quick else None)
    outcomes = []
    for system in systems:

        def say(text: str, system: str = system) -> None:
            now = time.strftime("%H:%M:%S")
            print(f"{now} {system} seed {given.seed}: {text}", file=sys.stderr, flush=True)

        chaos = Chaos(system, given.seed, say, given.only)
        seconds = None if number else given.minutes * 60 / len(systems)
        outcomes.append(asyncio.run(_ended_in_order(chaos.attack(number=number, seconds=seconds))))
        say(json.dumps(asdict(outcomes[-1])))  # should a later combination end the bench, this one is told
    if given.json:
        print(json.dumps({"runs": [asdict(outcome) for outcome in outcomes]}))
    else:
        for outcome in outcomes:
            print(outcome)
    return 0 if all(outcome.passed for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
