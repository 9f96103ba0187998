"""Fan-out: 1 000 × (work → work) → join, on our three combinations and beside the field's task queues.

    python bench/fanout.py [--pages 1000] [--quick] [--json] [--only NAME …]

Every system runs the same graph with two worker processes, durable, at its best documented batch or prefetch;
tasks = 2 × pages + 1. All are measured in this run, in turns, because machines are noisy: compare the ratios.
Ours is measured twice in each turn: as it is (chained: the second task is done in the transaction of the
first), and with `chain: off`, where every task goes through its queue. SQLite is also compared with release
0.1.0, run by run.

A hop is the time from the end of the first task to the start of the second, by the workers' events: chained,
from hand to hand; unchained, by way of a row, a claim and a commit. The client polls; its cost is stated.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[1]))

from sqlalchemy import select

from bench import peers, previous
from bench.fleet import COMBINATIONS, Fleet, addresses, running
from bench.graph import FANOUT, PATHS, POISON, UNCHAINED
from docproc.engine.store.tables import Event, Request

OURS = tuple(f"docproc {combination}" for combination in COMBINATIONS)


@dataclass
class Findings:
    """What the run prints in the end."""

    results: list[dict[str, Any]] = field(default_factory=list)
    ratios: dict[str, float] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def add(self, system: str, metric: str, value: float, unit: str) -> None:
        self.results.append({"system": system, "metric": metric, "value": round(value, 4), "unit": unit})
        say(f"{system}: {metric} {value:,.4g} {unit}", end="\n")

    def value(self, system: str, metric: str = "tasks_per_s") -> float | None:
        found = (r["value"] for r in self.results if r["system"] == system and r["metric"] == metric)
        return next(found, None)


def say(text: str, end: str = "") -> None:
    print(f"\r\033[K{text}", end=end, file=sys.stderr, flush=True)


def tasks(pages: int) -> int:
    return 2 * pages + 1


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


# --- throughput -------------------------------------------------------------------------------------


async def timed(fleet: Fleet, pages: int, workflow: str = "fanout") -> float:
    started = time.perf_counter()
    request_id = await fleet.submit(workflow, pages=pages)
    status = await fleet.finished(request_id)
    seconds = time.perf_counter() - started
    if status != "completed":
        raise SystemExit(f"the fan-out ended {status}")
    return seconds


def measure_ours(combination: str, given: argparse.Namespace, findings: Findings) -> None:
    with addresses(combination) as variables:
        flows = {"fanout": FANOUT, "unchained": UNCHAINED, "poison": POISON}
        fleet = Fleet(variables, PATHS, flows)
        asyncio.run(measure_fleet(f"docproc {combination}", fleet, given, findings))


async def measure_fleet(system: str, fleet: Fleet, given: argparse.Namespace, findings: Findings) -> None:
    ways = {"fanout": system, "unchained": f"{system} unchained"}
    async with running(fleet):
        rates: dict[str, list[float]] = {way: [] for way in ways}
        for way in ways:
            await timed(fleet, 200, way)  # warm: caches, prepared statements, grown files
        spent, done = time.process_time(), 0
        for turn in range(given.runs):
            for way, name in ways.items():
                say(f"{name}: run {turn + 1} of {given.runs}")
                rates[way].append(tasks(given.pages) / await timed(fleet, given.pages, way))
                done += tasks(given.pages)
        client = (time.process_time() - spent) / done
        for way, name in ways.items():
            rate = statistics.median(rates[way])
            findings.add(name, "tasks_per_s", rate, "1/s")
            await measure_latency(name, way, fleet, rate, given, findings)
        findings.add(system, "client_us_per_task", 1e6 * client, "µs")
        rate = statistics.median(rates["fanout"])
        if not given.quick:
            await measure_poison(system, fleet, rate, findings)
            await measure_growth(system, fleet, findings)


def measure_peer(name: str, given: argparse.Namespace, findings: Findings) -> None:
    if reason := peers.available(name):
        findings.skipped[name] = reason
        say(f"{name}: skipped, {reason}", end="\n")
        return
    rates = []
    for turn in range(given.runs):
        say(f"{name}: run {turn + 1} of {given.runs}")
        rates.append(peers.measure(name, given.pages).tasks_per_s)
    findings.add(name, "tasks_per_s", statistics.median(rates), "1/s")


# --- latency ----------------------------------------------------------------------------------------


async def offer(fleet: Fleet, workflow: str, number: int, per_second: float, **payload: object) -> list[UUID]:
    """Submit requests at a steady rate, whatever becomes of them."""
    submitted = []
    begin = time.perf_counter()
    for turn in range(number):
        await asyncio.sleep(max(0.0, begin + turn / per_second - time.perf_counter()))
        poison = bool(payload.get("poison_every") and turn % int(str(payload["poison_every"])) == 0)
        submitted.append(await fleet.submit(workflow, pages=payload["pages"], poison=poison))
    for request_id in submitted:
        await fleet.finished(request_id, 120)
    return submitted


async def measure_latency(
    system: str, way: str, fleet: Fleet, rate: float, given: argparse.Namespace, findings: Findings
) -> None:
    """A hop, from the commit of one stage to the start of the next, at a third of the throughput."""
    pages = 10
    per_second = rate / 3 / tasks(pages)
    number = int(per_second * (3 if given.quick else 10)) + 1
    say(f"{system}: hop latency at {per_second:.0f} requests a second")
    submitted = await offer(fleet, way, number, per_second, pages=pages)
    hops: list[float] = []
    async with fleet.app.store.reading() as session:
        for request_id in submitted:
            query = select(Event.stage, Event.unit_key, Event.started_at, Event.finished_at)
            found = list(
                await session.execute(query.where(Event.request_id == request_id, Event.kind == "handled"))
            )
            ended = {e.unit_key: e.finished_at for e in found if e.stage == "first"}
            hops += [(e.started_at - ended[e.unit_key]).total_seconds() for e in found if e.stage == "second"]
    findings.add(system, "hop_p50_ms", 1000 * percentile(hops, 0.50), "ms")
    findings.add(system, "hop_p99_ms", 1000 * percentile(hops, 0.99), "ms")


async def measure_poison(system: str, fleet: Fleet, rate: float, findings: Findings) -> None:
    """Healthy requests' latency with 1 % poison beside them, against without; in turns, twice."""
    pages = 5
    per_second = min(rate / 4 / pages, 100)
    p99: dict[int, list[float]] = {0: [], 100: []}
    for every in (0, 100, 0, 100):
        say(f"{system}: p99 with {'1 %' if every else 'no'} poison")
        submitted = await offer(fleet, "poison", 400, per_second, pages=pages, poison_every=every)
        p99[every].append(percentile(await durations(fleet, submitted), 0.99))
    findings.add(system, "p99_healthy_ms", 1000 * statistics.mean(p99[0]), "ms")
    findings.add(system, "p99_beside_poison_ms", 1000 * statistics.mean(p99[100]), "ms")
    findings.ratios[f"{system} p99 beside poison vs without"] = round(
        statistics.mean(p99[100]) / statistics.mean(p99[0]), 2
    )


async def durations(fleet: Fleet, request_ids: Sequence[UUID]) -> list[float]:
    async with fleet.app.store.reading() as session:
        query = select(Request.id, Request.created_at, Request.completed_at, Request.status)
        found = [r for r in await session.execute(query) if r.id in set(request_ids)]
    return [(r.completed_at - r.created_at).total_seconds() for r in found if r.status == "completed"]


# --- growth -----------------------------------------------------------------------------------------


async def measure_growth(system: str, fleet: Fleet, findings: Findings) -> None:
    """100 → 10 000 pages: time per task and memory should stay flat."""
    per_task: dict[int, float] = {}
    memory: dict[int, float] = {}
    for pages, turns in ((100, 9), (1_000, 3), (10_000, 1)):
        say(f"{system}: growth, {pages} pages")
        per_task[pages] = statistics.median([await timed(fleet, pages) for _ in range(turns)]) / tasks(pages)
        memory[pages] = fleet.memory_mb()
        findings.add(system, f"us_per_task_{pages}", 1e6 * per_task[pages], "µs")
        findings.add(system, f"worker_mb_{pages}", memory[pages], "MB")
    findings.ratios[f"{system} time per task 10000 vs 1000 pages"] = round(
        per_task[10_000] / per_task[1_000], 2
    )
    findings.ratios[f"{system} time per task 10000 vs 100 pages"] = round(per_task[10_000] / per_task[100], 2)
    findings.ratios[f"{system} memory 10000 vs 100 pages"] = round(memory[10_000] / memory[100], 2)


# --- the run ----------------------------------------------------------------------------------------


def compare(findings: Findings) -> None:
    for combination, way in itertools.product(COMBINATIONS, ("", " unchained")):
        ours = findings.value(f"docproc {combination}{way}")
        for name in peers.PEERS:
            theirs = findings.value(name)
            if ours and theirs:
                findings.ratios[f"{combination}{way} vs {name}"] = round(ours / theirs, 2)


def compare_with_previous(given: argparse.Namespace, findings: Findings) -> None:
    """Run by run in turns, each with a fleet of its own, on SQLite: there no server is shared."""
    combination = COMBINATIONS[0]
    if problem := previous.unavailable():
        findings.skipped[previous.SYSTEM] = problem
        return
    ours: list[float] = []
    theirs: list[float] = []
    with tempfile.TemporaryDirectory(prefix="docproc-previous-") as folder:
        root = previous.extract(Path(folder))
        for turn in range(given.runs):
            say(f"{previous.SYSTEM} and ours in turns, {turn + 1} of {given.runs}")
            theirs += previous.fanout_rates(root, combination, given.pages)
            ours.append(asyncio.run(_one_rate(given.pages)))
    findings.add(previous.SYSTEM, "tasks_per_s", statistics.median(theirs), "1/s")
    findings.ratios[f"{combination} vs {previous.SYSTEM}"] = round(
        statistics.median(ours) / statistics.median(theirs), 2
    )


async def _one_rate(pages: int) -> float:
    fleet = Fleet({}, PATHS, {"fanout": FANOUT})
    async with running(fleet):
        await timed(fleet, 200)
        return tasks(pages) / await timed(fleet, pages)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3, help="runs of each system; the median counts")
    parser.add_argument(
        "--quick", action="store_true", help="under a minute: fewer pages, no growth, no poison"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    known = (*COMBINATIONS, *peers.PEERS, previous.SYSTEM)
    parser.add_argument("--only", action="append", help=f"one of {', '.join(known)}")
    given = parser.parse_args()
    if given.quick:
        given.pages, given.runs = min(given.pages, 200), 1
    findings = Findings()
    for combination in COMBINATIONS:
        if not given.only or combination in given.only:
            measure_ours(combination, given, findings)
    for name in peers.PEERS:
        if not given.only or name in given.only:
            measure_peer(name, given, findings)
    if not given.only or previous.SYSTEM in given.only:
        compare_with_previous(given, findings)
    compare(findings)
    if given.json:
        print(json.dumps({k: getattr(findings, k) for k in ("results", "ratios", "skipped")}))
    else:
        for name, ratio in findings.ratios.items():
            print(f"{name}: {ratio}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
