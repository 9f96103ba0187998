"""Chaos: faults chosen by a seed against a loaded deployment; what was accepted is answered once, in time.

    python bench/chaos.py [--quick] [--json] [--system NAME …] [--minutes N] [--seed N]

After each fault a probe must be answered and every service ready again; at the end a ledger of every effect
is checked. The seed is printed: the same seed chooses the same faults. Exits 1 when anything was lost,
doubled or stuck.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx

from bench import chaos_faults, faults
from bench.chaos_deployment import Deployment
from bench.chaotic import PATHS, STAGES, WORKFLOW
from bench.fleet import Fleet
from bench.proxy import Proxy
from docproc.engine.store import rows
from docproc.engine.store.columns import moment_of

UNITS = 4
LOAD_SECONDS = 0.8  # between two requests of the load: a probe must not wait behind a backlog
# After this long without a recovery the run tells of it and goes on.
PATIENCE_SECONDS = 60.0
# An answer counts as late only this long after the deadline: the database may not have been writable.
GRACE_SECONDS = 5.0
QUICK_FAULTS = 4


@dataclass
class Outcome:
    system: str
    seed: int
    faults: int = 0
    accepted: int = 0
    answered: int = 0
    late: int = 0
    lost: int = 0
    duplicated: int = 0
    stuck: int = 0
    slowest_recovery_s: float = 0.0
    told: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not (self.lost or self.duplicated or self.stuck)


class Chaos(faults.Run):
    """One combination; the ledger is that of bench/faults.py."""

    def __init__(self, system: str, seed: int, say: Callable[[str], None]) -> None:
        super().__init__(system, faults.QUICK, say)
        self.outcome = Outcome(system, seed)
        self.corrected: set[UUID] = set()
        self.chance = random.Random(seed)

    async def attack(self, *, number: int | None = None, seconds: float | None = None) -> Outcome:
        """So many faults, or faults for so long."""
        async with contextlib.AsyncExitStack() as stack:
            await self._open(stack)
            load = asyncio.create_task(self._load())
            ends = time.monotonic() + (seconds or float("inf"))
            while time.monotonic() < ends and (number is None or self.outcome.faults < number):
                await self._one_fault()
            load.cancel()
            await asyncio.gather(load, return_exceptions=True)
            await self._settle()
        return self.outcome

    async def _open(self, stack: contextlib.AsyncExitStack) -> None:
        servers = faults.Servers(self.outcome.system, stack.enter_context(contextlib.ExitStack()))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="docproc-chaos-")))
        # The bench itself reaches the servers directly: it must see what is there, whatever the network does.
        self.fleet = Fleet(servers.variables, PATHS, {"chaos": WORKFLOW}, folder=folder)
        await self.fleet.open()
        stack.push_async_callback(self.fleet.close)
        proxies, variables = [], {}
        for server, name in (
            (servers.postgres, "DOCPROC_DATABASE_URL"),
            (servers.rabbit, "DOCPROC_RABBITMQ_URL"),
        ):
            if server is not None:
                proxy = await stack.enter_async_context(Proxy(server.port))
                proxies.append(proxy)
                variables[name] = server.url.replace(f":{server.port}", f":{proxy.port}")
        variables["DOCPROC_WORKFLOWS_DIR"] = str(folder / "workflows")
        variables["DOCPROC_COMPONENTS"] = ",".join(f"{name}={path}" for name, path in PATHS.items())
        self.deployment = Deployment(variables, folder)
        stack.push_async_callback(self.deployment.close)
        self.target = chaos_faults.Target(
            self.deployment, self.chance, servers.postgres, servers.rabbit, tuple(proxies)
        )
        for service in self.deployment.services:
            service.start()
        self.client = await stack.enter_async_context(httpx.AsyncClient(timeout=10, trust_env=False))
        async with asyncio.timeout(120):
            while not await self._all_ready():
                await asyncio.sleep(0.2)

    async def _one_fault(self) -> None:
        fault = self.chance.choice(chaos_faults.possible(self.target))
        told = await fault(self.target)
        began = time.monotonic()
        recovered = await self._recovered()
        took = time.monotonic() - began
        self.outcome.faults += 1
        self.outcome.slowest_recovery_s = round(max(self.outcome.slowest_recovery_s, took), 2)
        self.outcome.told.append(f"{told}: {took:.1f} s")
        self.say(f"{self.outcome.faults} faults, {self.outcome.accepted} accepted; {told}, {took:.1f} s")
        if not recovered:
            self.outcome.stuck += 1
            self.outcome.told += [
                line for service in self.deployment.services for line in service.last_words()
            ]
        await asyncio.sleep(self.chance.uniform(0.0, 1.0))

    async def _recovered(self) -> bool:
        """A probe is answered and every service says it is ready; both, so that neither can lie."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                probe = await self._send()
                while not await self._is_complete(probe) or not await self._all_ready():
                    await asyncio.sleep(0.1)
                return True
        return False

    async def _all_ready(self) -> bool:
        found = [await service.is_ready(self.client) for service in self.deployment.services]
        return all(found)

    async def _is_complete(self, request_id: UUID) -> bool:
        request = (await self._again(self._requests)).get(request_id)
        return request is not None and request.completed_at is not None

    # --- load -------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        while True:
            await self._send()
            await asyncio.sleep(LOAD_SECONDS)

    async def _send(self) -> UUID:
        """As a client does: again with the same key until it is accepted."""
        key, units = uuid4().hex, UNITS
        body = {"workflow": "chaos", "payload": {"units": units}}
        while True:
            with contextlib.suppress(httpx.HTTPError, ValueError, KeyError):
                answer = await self.client.post(
                    f"{self.deployment.url}/requests", json=body, headers={"Idempotency-Key": key}
                )
                if answer.status_code == 200:
                    request_id = UUID(answer.json()["request_id"])
                    self.expected[request_id] = units
                    self.outcome.accepted += 1
                    return request_id
            await asyncio.sleep(0.2)

    # --- the end ----------------------------------------------------------------------------------------

    async def _settle(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not await self._again(self._all_answered):
                    await asyncio.sleep(0.2)
        found = await self._requests()
        self.outcome.answered = sum(
            request.answer_version > 0 for rid, request in found.items() if rid in self.expected
        )
        await self._count_late()
        await self._count()
        self.outcome.lost, self.outcome.duplicated = self.report.lost, self.report.duplicated
        self.outcome.told += self.report.problems

    async def _all_answered(self) -> bool:
        found = await self._requests()
        return all(found[rid].completed_at is not None for rid in self.expected if rid in found)

    async def _count_late(self) -> None:
        """The first answer of each request against its deadline."""
        async with self.fleet.app.store.reading() as session:
            answers = await rows.execute(
                session,
                "SELECT r.deadline_utc AS deadline, min(a.created_at) AS first FROM requests r "
                "JOIN answers a ON a.request_id = r.id AND a.version > 0 GROUP BY r.id, r.deadline_utc",
            )
        for row in answers:
            deadline, first = _moment(row.deadline), _moment(row.first)
            if deadline and first and (first - deadline).total_seconds() > GRACE_SECONDS:
                self.outcome.late += 1

    def _effects(self, request_id: UUID, units: int) -> Iterator[tuple[str, int]]:
        yield "split", -1
        for index in range(units):
            for stage in STAGES:
                yield stage, index
        yield "gather", -1

    def _is_whole(self, request: Any, units: int) -> bool:
        """Late is whole, too; that it was late is counted apart."""
        if request is None or request.completed_at is None or request.status == "failed":
            return False
        return bool((request.result_payload or {}).get("units") == units)


def _moment(value: Any) -> datetime | None:
    """SQLite gives moments as text."""
    return moment_of(value) if isinstance(value, str) else value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few faults on each combination")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--system", action="append", choices=faults.SYSTEMS, help="only this combination")
    parser.add_argument("--minutes", type=float, default=30.0, help="in all")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    given = parser.parse_args()
    systems = given.system or faults.SYSTEMS
    outcomes = []
    for system in systems:

        def say(text: str, system: str = system) -> None:
            print(f"\r\033[K{system} (seed {given.seed}): {text}", end="", file=sys.stderr, flush=True)

        chaos = Chaos(system, given.seed, say)
        seconds = None if given.quick else given.minutes * 60 / len(systems)
        attack = chaos.attack(number=QUICK_FAULTS if given.quick else None, seconds=seconds)
        outcomes.append(asyncio.run(attack))
        print(file=sys.stderr)
    if given.json:
        print(json.dumps({"runs": [asdict(outcome) for outcome in outcomes]}))
    else:
        for outcome in outcomes:
            print(outcome)
    return 0 if all(outcome.passed for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
