"""What observing costs: the graph of fanout.py with logs, metrics and the watcher, and without, in turns.

    python bench/observing.py [--pages 1000] [--pairs 9] [--quick] [--json] [--only sql/postgresql]

With: every message is a line of JSON in a file (`DOCPROC_LOG_LEVEL=info`), counters and histograms are kept,
and the watcher measures the whole deployment every 15 seconds. Without: workers whose middleware has neither,
no watcher. Both fleets live at the same time, on databases of their own; one works at a time. The cost is the
median over pairs of runs, so that a busy machine slows both halves of a pair; beside it the workers' CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import psutil

from bench.fanout import Findings, say, tasks, timed
from bench.fleet import Fleet, addresses, running
from bench.graph import FANOUT, PATHS
from docproc import logs
from docproc.alerts.watcher import watch

COMBINATIONS = ("sql/sqlite", "sql/postgresql")


def used(fleet: Fleet) -> float:
    """Seconds of CPU that its workers have used: what others do on the machine does not count."""
    times = [psutil.Process(one.pid).cpu_times() for one in fleet.processes if one.returncode is None]
    return sum(one.user + one.system for one in times)


async def measure(
    combination: str, observed: Fleet, bare: Fleet, given: argparse.Namespace, findings: Findings
) -> None:
    async with running(observed), running(bare):
        logs.configure(bare.settings)
        watching = asyncio.create_task(watch(observed.app))
        try:
            for fleet in (observed, bare):
                await timed(fleet, 200)  # warm
            pairs = []
            before = {id(fleet): used(fleet) for fleet in (observed, bare)}
            for turn in range(given.pairs):
                say(f"{combination}: pair {turn + 1} of {given.pairs}")
                # By turns, who goes first: the second of a pair may find the machine busier, or warmer.
                order = (observed, bare) if turn % 2 else (bare, observed)
                seconds = {id(fleet): await timed(fleet, given.pages) for fleet in order}
                pairs.append((seconds[id(observed)], seconds[id(bare)]))
            spent = {id(fleet): used(fleet) - before[id(fleet)] for fleet in (observed, bare)}
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
    number = tasks(given.pages)
    for name, place, fleet in (("observed", 0, observed), ("bare", 1, bare)):
        rate = number / statistics.median(pair[place] for pair in pairs)
        findings.add(f"docproc {combination} {name}", "tasks_per_s", rate, "1/s")
        each = spent[id(fleet)] / (number * len(pairs))
        findings.add(f"docproc {combination} {name}", "worker_cpu_us_per_task", 1e6 * each, "µs")
    more = spent[id(observed)] / spent[id(bare)] - 1
    findings.add(f"docproc {combination}", "observing_cpu_pct", 100 * more, "%")
    cost = statistics.median(with_it / without for with_it, without in pairs) - 1
    findings.add(f"docproc {combination}", "observing_cost_pct", 100 * cost, "%")
    findings.ratios[f"{combination} observed vs bare"] = round(1 + cost, 4)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="under a minute: fewer pages, three pairs")
    parser.add_argument("--only", action="append", choices=COMBINATIONS)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    if given.quick:
        given.pages, given.pairs = 300, 3
    findings = Findings()
    for combination in given.only or COMBINATIONS:
        with addresses(combination) as mine, addresses(combination) as other:
            lines = {"DOCPROC_LOG_LEVEL": "info", "DOCPROC_LOG_FORMAT": "json"}
            observed = Fleet({**mine, **lines}, PATHS, {"fanout": FANOUT})
            command = ("-m", "bench.unobserved", "worker", "--child")
            bare = Fleet(other, PATHS, {"fanout": FANOUT}, command=command)
            asyncio.run(measure(combination, observed, bare, given, findings))
    if given.json:
        print(json.dumps({k: getattr(findings, k) for k in ("results", "ratios", "skipped")}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
