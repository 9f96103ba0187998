"""Steady: memory and open descriptors of a deployment over many requests and killed children.

    python bench/steady.py [--quick] [--json] [--system NAME …] [--requests N] [--kills N] [--seed N]

Children are killed in the middle of their work all along. After each batch, when nothing is under way, the
whole tree is measured. After a warm-up of a quarter of the requests, memory and descriptors must stay where
they are: the last quarter is compared with the second one. Exits 1 when anything grows, is lost or fails.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx
import psutil

from bench import faults
from bench.chaos_deployment import Deployment, role
from bench.chaotic import PATHS, WORKFLOWS
from bench.fleet import Fleet
from docproc.engine.store import migrate

UNITS = 4
BATCHES = 20
# Requests that are under way at once.
AT_ONCE = 6
PATIENCE_SECONDS = 120.0
# What the last quarter may have more than the second: the noise of allocators; and connections that pools of
# seven processes open when they are first needed. One left open with each killed child would be 25.
MOST_GROWTH = 0.03
MOST_DESCRIPTORS = 8


@dataclass
class Sample:
    """Of the whole tree, and by what its processes are for."""

    requests: int
    kills: int
    memory_mb: float
    descriptors: int
    memory_by_role: dict[str, float]
    descriptors_by_role: dict[str, int]


@dataclass
class Outcome:
    system: str
    requests: int = 0
    failed: int = 0
    kills: int = 0
    seconds: float = 0.0
    memory_growth: float = 0.0
    descriptor_growth: float = 0.0
    samples: list[Sample] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        flat = self.memory_growth <= MOST_GROWTH and self.descriptor_growth <= MOST_DESCRIPTORS
        return flat and not self.failed

    def compare(self) -> None:
        quarter = max(len(self.samples) // 4, 1)
        early, late = self.samples[quarter : 2 * quarter] or self.samples, self.samples[-quarter:]

        def both(of: Callable[[Sample], float]) -> tuple[float, float]:
            return statistics.median(map(of, early)), statistics.median(map(of, late))

        before, after = both(lambda one: one.memory_mb)
        self.memory_growth = round(after / before - 1, 4)
        before, after = both(lambda one: one.descriptors)
        self.descriptor_growth = after - before


class Steady:
    def __init__(self, system: str, requests: int, kills: int, seed: int, say: Callable[[str], None]) -> None:
        self.outcome = Outcome(system)
        self.requests, self.kills = requests, kills
        self.chance = random.Random(seed)
        self.say = say

    async def run(self) -> Outcome:
        began = time.monotonic()
        async with contextlib.AsyncExitStack() as stack:
            await self._open(stack)
            for batch in range(BATCHES):
                size = self.requests // BATCHES
                kills = self.kills * (batch + 1) // BATCHES - self.outcome.kills
                await self._batch(size, kills)
                self._measure()
        self.outcome.compare()
        self.outcome.seconds = round(time.monotonic() - began, 1)
        return self.outcome

    async def _open(self, stack: contextlib.AsyncExitStack) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="docproc-steady-")))
        servers = faults.Servers(self.outcome.system, stack.enter_context(contextlib.ExitStack()))
        self.fleet = Fleet(servers.variables, PATHS, WORKFLOWS, folder=folder)
        await migrate.upgrade(self.fleet.app.store, self.fleet.app.applications.migrations)
        stack.push_async_callback(self.fleet.app.close)
        components = ",".join(f"{name}={path}" for name, path in PATHS.items())
        settings = {"DOCPROC_WORKFLOWS_DIR": str(folder / "workflows"), "DOCPROC_COMPONENTS": components}
        self.deployment = Deployment(
            {**servers.variables, **settings}, folder, folder, is_embedded=servers.postgres is None
        )
        stack.push_async_callback(self.deployment.close)
        self.deployment.start()
        self.client = await stack.enter_async_context(httpx.AsyncClient(timeout=30, trust_env=False))
        async with asyncio.timeout(120):
            while not await self.deployment.is_ready(self.client):
                await asyncio.sleep(0.2)

    async def _batch(self, size: int, kills: int) -> None:
        doomed = Counter(self.chance.randrange(size) for _ in range(kills))
        room = asyncio.Semaphore(AT_ONCE)

        async def one(index: int) -> None:
            async with room:
                request_id = await self._submit()
                for _ in range(doomed[index]):
                    await self._kill_child()
                await self._finished(request_id)

        await asyncio.gather(*(one(index) for index in range(size)))
        self.outcome.requests += size

    async def _submit(self) -> UUID:
        body = {"workflow": "chaos", "payload": {"units": UNITS}}
        answer = await self.client.post(f"{self.deployment.url}/requests", json=body)
        return UUID(answer.raise_for_status().json()["request_id"])

    async def _kill_child(self) -> None:
        """As soon as there is one: those killed before may not be replaced yet."""
        while not (found := [one for _, one in self.deployment.processes() if role(one) == "child"]):
            await asyncio.sleep(0.05)
        with contextlib.suppress(psutil.Error):
            self.chance.choice(found).send_signal(signal.SIGKILL)
        self.outcome.kills += 1

    async def _finished(self, request_id: UUID) -> None:
        """Asked of the API, as clients do."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                told = (await self.client.get(f"{self.deployment.url}/status/{request_id}")).json()
                if told.get("completed_at"):
                    self.outcome.failed += told["status"] != "completed"
                    return
                await asyncio.sleep(0.1)

    def _measure(self) -> None:
        memory: Counter[str] = Counter()
        descriptors: Counter[str] = Counter()
        for _, one in self.deployment.processes():
            with contextlib.suppress(psutil.Error):
                what = role(one)
                # Shared pages in parts, so that the sum is what the machine gave.
                memory[what] += one.memory_full_info().pss
                descriptors[what] += one.num_fds()
        megabytes = {what: round(size / 2**20, 1) for what, size in sorted(memory.items())}
        sample = Sample(
            self.outcome.requests,
            self.outcome.kills,
            round(memory.total() / 2**20, 1),
            descriptors.total(),
            megabytes,
            dict(sorted(descriptors.items())),
        )
        self.outcome.samples.append(sample)
        self.say(
            f"{sample.requests} requests, {sample.kills} kills: {sample.memory_mb:.0f} MB, "
            f"{sample.descriptors} descriptors; {megabytes}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the requests, on SQLite")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--system", action="append", choices=faults.SYSTEMS, help="only this combination")
    parser.add_argument("--requests", type=int)
    parser.add_argument("--kills", type=int)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    requests = given.requests or (200 if given.quick else 2000)
    kills = given.kills or (5 if given.quick else 50)
    outcomes: list[Any] = []
    for system in given.system or (faults.SYSTEMS[:1] if given.quick else faults.SYSTEMS):

        def say(text: str, system: str = system) -> None:
            print(f"{time.strftime('%H:%M:%S')} {system}: {text}", file=sys.stderr, flush=True)

        outcomes.append(asyncio.run(Steady(system, requests, kills, given.seed, say).run()))
    if given.json:
        print(json.dumps({"runs": [asdict(outcome) for outcome in outcomes]}))
    else:
        for outcome in outcomes:
            print(outcome)
    return 0 if all(outcome.passed for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
