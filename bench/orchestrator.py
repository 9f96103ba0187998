"""The orchestrator, measured from outside: tasks over HTTP, done by a service in another process, told over a
WebSocket.

    python bench/orchestrator.py [--quick] [--json] [--only SECTION …]

Sections: `throughput` (and the same of a raw Redis stream, Celery and taskiq behind the same kind of front),
`pace` (latency at a third of it), `noisy` (a tenant that sends ten times what there is room for, and its
neighbour), `sockets` (many WebSockets, from the event's time to the client), `takeover` (the worker that has
the tasks is killed). Servers are private, PostgreSQL with fsync.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import websockets

from bench import orchestrator_deployment as deployment
from bench.orchestrator_load import Client, Measured, Target, flood, pace, quantile
from bench.redis_server import RedisServer
from bench.servers import PostgresServer

SECTIONS = ("throughput", "pace", "noisy", "sockets", "takeover")
PEERS = {"raw": "redis", "celery": "celery", "taskiq": "taskiq_redis"}
OURS = "docproc redis/postgresql"
AT_ONCE = 64
UNITS = {"tasks_per_s": "1/s", "ratio": "", "sockets": ""}


@dataclass(frozen=True)
class Scale:
    tasks: int
    pace_seconds: float
    noisy_seconds: float
    sockets: int
    takeovers: int


QUICK = Scale(tasks=300, pace_seconds=4, noisy_seconds=5, sockets=200, takeovers=1)
FULL = Scale(tasks=3000, pace_seconds=30, noisy_seconds=30, sockets=2000, takeovers=5)


@dataclass
class Findings:
    results: list[dict[str, Any]] = field(default_factory=list)
    ratios: dict[str, float] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def add(self, system: str, metric: str, value: float, unit: str = "") -> None:
        unit = unit or UNITS.get(
            metric, "ms" if metric.endswith("_ms") else "s" if metric.endswith("_s") else ""
        )
        self.results.append({"system": system, "metric": metric, "value": round(value, 3), "unit": unit})

    def add_all(self, system: str, measured: Measured) -> None:
        for metric, value in measured.row().items():
            self.add(system, metric, value)

    def value(self, system: str, metric: str) -> float | None:
        found = [one["value"] for one in self.results if (one["system"], one["metric"]) == (system, metric)]
        return float(found[-1]) if found else None


def task(number: int = 0, **more: object) -> bytes:
    """One operation of one service."""
    what = {"type": {"domain": "agent", "action": "execute"}, "payload": {"text": "hello", "n": number}}
    return json.dumps({"session_id": deployment.SESSION, **what, **more}).encode()


@contextlib.asynccontextmanager
async def client_of(target: Target) -> Any:
    client = Client(target)
    await client.open()
    try:
        yield client
    finally:
        await client.close()


class Bench:
    def __init__(self, scale: Scale, findings: Findings, say: Callable[[str], None]) -> None:
        self.scale = scale
        self.findings = findings
        self.say = say

    # --- how many, and how long ---------------------------------------------------------------------------

    async def throughput(self) -> None:
        with deployment.orchestrator() as ours:
            self.findings.add_all(OURS, await self._flood(OURS, ours.target()))
        for name, package in PEERS.items():
            if find_spec(package) is None:
                self.findings.skipped[name] = f"package not installed: {package}"
                continue
            with deployment.peer(name) as target:
                self.findings.add_all(name, await self._flood(name, target))
            self._compare(name)

    def _compare(self, name: str) -> None:
        mine, others = (self.findings.value(one, "tasks_per_s") for one in (OURS, name))
        if mine and others:
            self.findings.ratios[f"{OURS} vs {name}"] = round(mine / others, 3)

    async def _flood(self, name: str, target: Target, tasks: int | None = None) -> Measured:
        async with client_of(target) as client:
            self.say(f"{name}: warming up")
            await flood(client, task, max(50, AT_ONCE), AT_ONCE)
            self.say(f"{name}: {tasks or self.scale.tasks} tasks")
            return await flood(client, task, tasks or self.scale.tasks, AT_ONCE)

    async def pace(self) -> None:
        with deployment.orchestrator() as ours:
            most = await self._flood(OURS, ours.target(), max(200, self.scale.tasks // 3))
            third = most.per_second / 3
            self.say(f"{OURS}: {third:.0f} tasks a second for {self.scale.pace_seconds:.0f} s")
            async with client_of(ours.target()) as client:
                measured = await pace(client, task, third, self.scale.pace_seconds)
        self.findings.add_all(f"{OURS} at a third", measured)

    # --- tenants ------------------------------------------------------------------------------------------

    async def noisy(self) -> None:
        """One tenant alone, then the same beside one that sends ten times what there is room for.

        Each comes in by an API process of its own, and the flood from another process: what is measured is
        how the work is shared, not how one Python process is."""
        with deployment.orchestrator(apis=2, tenants=("quiet", "noisy")) as ours:
            quiet, noisy = ours.target(0, "quiet"), ours.target(1, "noisy")
            most = (await self._flood("noisy", noisy, max(200, self.scale.tasks // 5))).per_second
            rate = max(2.0, most / 20)
            async with client_of(quiet) as client:
                self.say(f"noisy: the quiet tenant alone, {rate:.0f} tasks a second")
                alone = await pace(client, task, rate, self.scale.noisy_seconds)
                self.say("noisy: beside the flood")
                with _flooding(noisy, most * 10) as sent:
                    await asyncio.sleep(2)
                    beside = await pace(client, task, rate, self.scale.noisy_seconds)
        for name, measured in (("quiet tenant alone", alone), ("quiet tenant beside a flood", beside)):
            self.findings.add(name, "accept_p50_ms", 1000 * quantile(measured.accepted, 0.5))
            self.findings.add(name, "completion_p50_ms", 1000 * quantile(measured.completed, 0.5))
            self.findings.add(name, "completion_p95_ms", 1000 * quantile(measured.completed, 0.95))
        self.findings.add("noisy tenant", "tasks_sent_per_s", sent.value, "1/s")
        ratio = quantile(beside.completed, 0.95) / quantile(alone.completed, 0.95)
        self.findings.ratios["p95 beside a flood vs alone"] = round(ratio, 3)

    # --- sockets ------------------------------------------------------------------------------------------

    async def sockets(self) -> None:
        """All follow the same session; an event's own time is when it was written."""
        number = self.scale.sockets
        with deployment.orchestrator() as ours:
            target = ours.target(session="many")
            followers = [_Follower(target) for _ in range(number)]
            self.say(f"sockets: {number} connect")
            gate = asyncio.Semaphore(50)
            opening = [asyncio.create_task(one.run(gate)) for one in followers]
            async with asyncio.timeout(180):
                while sum(one.is_open for one in followers) < number:
                    for task_ in opening:
                        if task_.done():
                            task_.result()
                    await asyncio.sleep(0.1)
            async with client_of(target) as client:
                measured = Measured()
                for count in range(10):
                    self.say(f"sockets: task {count + 1} of 10")
                    await client.one(task(count, session_id="many"), measured)
                    await asyncio.sleep(1)
            for task_ in opening:
                task_.cancel()
            await asyncio.gather(*opening, return_exceptions=True)
        lags = [lag for one in followers for lag in one.lags]
        self.findings.add(OURS, "sockets", number)
        self.findings.add(OURS, "events_told", len(lags))
        for share in (0.5, 0.99):
            self.findings.add(OURS, f"event_to_client_p{share * 100:.0f}_ms", 1000 * quantile(lags, share))

    # --- takeover -----------------------------------------------------------------------------------------

    async def takeover(self) -> None:
        """From the death of the worker that has the task's steps until its end is told by another's API."""
        waits = []
        with deployment.orchestrator(apis=2, workers=1) as ours:
            for number in range(self.scale.takeovers):
                self.say(f"takeover {number + 1} of {self.scale.takeovers}")
                doomed = ours.children.running[f"worker-{number}"]
                deployment.start_worker(ours, f"worker-{number + 1}")
                async with client_of(ours.target(1)) as client, client_of(ours.target(0)) as submitter:
                    # What the dead one has in hand and what it accepted: a burst catches it at every step.
                    ids = [await submitter.submit(task(n), Measured()) for n in range(20)]
                    died = time.perf_counter()
                    doomed.send_signal(signal.SIGKILL)
                    doomed.wait()
                    ended = await asyncio.gather(*(client.ended(one) for one in ids))
                waits.append(max(0.0, max(ended) - died))
        self.findings.add(OURS, "takeover_longest_s", max(waits))
        self.findings.add(OURS, "takeover_p50_s", quantile(waits, 0.5))


@contextlib.contextmanager
def _flooding(target: Target, per_second: float) -> Iterator[Any]:
    """Another process submits as fast as it goes, but no faster than that; yields how many a second went."""
    forking = multiprocessing.get_context("fork")
    sent = forking.Value("d", 0.0)
    process = forking.Process(target=_flood_main, args=(target, per_second, sent), daemon=True)
    process.start()
    try:
        yield sent
    finally:
        process.terminate()
        process.join()


def _flood_main(target: Target, per_second: float, told: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    asyncio.set_event_loop_policy(asyncio.DefaultEventLoopPolicy())
    asyncio.run(_drown(target, per_second, told))


async def _drown(target: Target, per_second: float, told: Any) -> None:
    client = Client(target)
    sent, began = 0, time.perf_counter()

    async def submit() -> None:
        nonlocal sent
        while True:
            await asyncio.sleep(max(0.0, began + sent / per_second - time.perf_counter()))
            sent += 1
            await client.submit(task(sent), Measured())
            told.value = sent / (time.perf_counter() - began)

    await asyncio.gather(*(submit() for _ in range(32)))


class _Follower:
    def __init__(self, target: Target) -> None:
        self.target = target
        self.is_open = False
        self.lags: list[float] = []

    async def run(self, gate: asyncio.Semaphore) -> None:
        async with gate:
            socket = await websockets.connect(
                self.target.events_url,
                additional_headers=dict(self.target.headers),
                open_timeout=60,
            )
        async with socket:
            self.is_open = True
            async for text in socket:
                now = datetime.now(UTC)
                said = json.loads(text)
                if (at := said.get("at")) and said.get("task_id"):
                    self.lags.append((now - datetime.fromisoformat(at)).total_seconds())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a short run, under a minute")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", action="append", choices=SECTIONS, help="only this section")
    given = parser.parse_args()
    for problem in filter(None, (PostgresServer.available(), RedisServer.available())):
        raise SystemExit(problem)
    findings = Findings()

    def say(text: str) -> None:
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    bench = Bench(QUICK if given.quick else FULL, findings, say)
    for section in given.only or SECTIONS:
        asyncio.run(getattr(bench, section)())
    print(file=sys.stderr)
    if given.json:
        found = {"results": findings.results, "ratios": findings.ratios, "skipped": findings.skipped}
        print(json.dumps(found))
    else:
        for one in findings.results:
            print(f"{one['system']:40} {one['metric']:28} {one['value']:12.3f} {one['unit']}")
        for name, ratio in findings.ratios.items():
            print(f"{name:69} {ratio:12.3f}")
        for name, reason in findings.skipped.items():
            print(f"{name}: skipped, {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
