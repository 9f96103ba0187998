"""Deadlines: who is answered in time at half, full and double load, beside plain first come, first served.

    python bench/sla.py [--quick] [--json] [--loads 50,100,200] [--faults] [--precision]

Requests of 1 to 25 pages have 30 s, 60 s or 10 minutes; a tenth waits for people who never answer. Each page
burns a known amount of CPU. Both systems get the same stream of requests, one after the other. `--faults`
kills the monitor twice and crashes the database once instead, and exits 1 when an answer was lost, doubled or
more than two seconds late. `--precision` only opens 10 000 requests and looks how exactly moments are kept.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import structlog

from bench import sla_faults, sla_precision
from bench.servers import PostgresServer
from bench.sla_fleet import DOCPROC, FIFO, Cluster, System, running
from bench.sla_ledger import Tally, by_class, tally
from bench.sla_load import FULL, QUICK, Scale, arrivals

UNITS = {
    "requests": "requests",
    "answered_by_deadline": "share",
    "complete_by_deadline": "share",
    "worst_lateness_ms": "ms",
}


@dataclass
class Findings:
    """What the run prints in the end."""

    results: list[dict[str, Any]] = field(default_factory=list)
    ratios: dict[str, float] = field(default_factory=dict)

    def add(self, system: str, metric: str, value: float, unit: str) -> None:
        self.results.append({"system": system, "metric": metric, "value": round(value, 4), "unit": unit})

    def value(self, system: str, metric: str) -> float:
        return float(next(r["value"] for r in self.results if (r["system"], r["metric"]) == (system, metric)))


def say(text: str, end: str = "") -> None:
    """Progress; a line that is not ended is for people who watch."""
    if end or sys.stderr.isatty():
        print(f"\r\033[K{text}" if sys.stderr.isatty() else text, end=end, file=sys.stderr, flush=True)


def prefixed(name: str) -> Callable[[str], None]:
    return lambda text: say(f"{name}: {text}")


# --- load -------------------------------------------------------------------------------------------


async def measure_loads(
    server: PostgresServer, scale: Scale, loads: Sequence[int], findings: Findings
) -> None:
    async with running(server, (DOCPROC, FIFO), scale) as systems:
        for load in loads:
            say("calibration")
            # Each time anew, because machines change their pace.
            capacity = await systems[0].calibrate()
            findings.add(f"workers before {load} %", "capacity", capacity, "pages/s")
            say(f"capacity: {capacity:.1f} pages/s", end="\n")
            for system in systems:
                await measure_load(system, load, capacity, findings)
            compare(load, findings)


async def measure_load(system: System, load: int, capacity: float, findings: Findings) -> None:
    name = f"{system.name} {load} %"
    coming = arrivals(load, capacity, system.scale.window(load))
    offering = asyncio.create_task(system.offer(coming))
    told, ended = await system.until_over(coming, prefixed(name))
    await offering
    await system.clear()
    found: Tally = tally(told, ended)
    for metric, value in asdict(found).items():
        findings.add(name, metric, value, UNITS[metric])
    classes = ", ".join(f"{kind} {part:.2f}" for kind, part in by_class(told).items())
    say(f"{name}: {found.complete_by_deadline:.2f} complete in time ({classes})", end="\n")


def compare(load: int, findings: Findings) -> None:
    for metric in ("answered_by_deadline", "complete_by_deadline"):
        ours, theirs = (findings.value(f"{name} {load} %", metric) for name in (DOCPROC, FIFO))
        if theirs:
            findings.ratios[f"{metric} at {load} %: docproc vs fifo"] = round(ours / theirs, 2)


# --- faults and precision ---------------------------------------------------------------------------


def measure_faults(server: PostgresServer, scale: Scale, findings: Findings) -> bool:
    name = f"{DOCPROC} under faults"
    report = asyncio.run(sla_faults.measure(server, scale, prefixed(name)))
    for metric in ("accepted", "answers", "lost", "doubled", "kills"):
        findings.add(name, metric, getattr(report, metric), "number")
    findings.add(name, "worst_lateness_ms", report.beyond_ms, "ms")
    say(f"{name}: {'passed' if report.passed else 'FAILED'}", end="\n")
    for problem in report.problems:
        say(problem, end="\n")
    return report.passed


def measure_precision(server: PostgresServer, scale: Scale, findings: Findings) -> None:
    name = f"{DOCPROC} 10 000 open"
    lateness = asyncio.run(sla_precision.measure(server, scale, prefixed(name)))
    for kind, values in lateness.items():
        for part, value in sla_precision.summary(values).items():
            findings.add(name, f"{kind}_lateness_{part}_ms", value, "ms")
    say(f"{name}: done", end="\n")


# --- the run ----------------------------------------------------------------------------------------


def run(given: argparse.Namespace, findings: Findings) -> bool:
    """Says whether nothing was violated."""
    scale = QUICK if given.quick else FULL
    passed = True
    with Cluster() as server:
        if given.faults:
            passed = measure_faults(server, scale, findings)
        if given.precision or not (given.quick or given.faults):
            measure_precision(server, scale, findings)
        if not (given.faults or given.precision):
            asyncio.run(measure_loads(server, scale, given.loads, findings))
    return passed


def show(findings: Findings) -> None:
    for row in findings.results:
        print(f"{row['system']:<24} {row['metric']:<28} {row['value']:>12,.6g} {row['unit']}")
    for name, ratio in findings.ratios.items():
        print(f"{name}: {ratio}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="deadlines and work divided by ten")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--faults", action="store_true", help="monitor killed, database crashed")
    parser.add_argument("--precision", action="store_true", help="only the moments, 10 000 requests open")
    parser.add_argument(
        "--loads",
        type=lambda text: [int(part) for part in text.split(",")],
        default=[50, 100, 200],
        help="in percent of the capacity, as 50,100,200",
    )
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    findings = Findings()
    passed = run(given, findings)
    if given.json:
        print(json.dumps(asdict(findings)))
    else:
        show(findings)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
