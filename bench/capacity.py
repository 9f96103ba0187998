"""Capacity: how close does the plan come to a real run? 95th percentile, predicted and measured.

    python bench/capacity.py [--json] [--quick]

This machine is calibrated with sample documents (docproc-samples), then requests arrive at random at a known
rate at DocProc as `docproc run` starts it, and the time from acceptance to the answer is compared with what
the formula and the simulation said of that many processes. Exits 1 when the simulation is off by more than
25 %. It needs a machine on which nothing else runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from docproc.apps.documents.cli import capacity, embedded
from docproc.apps.documents.cli.sources import Batch, batches
from docproc.capacity.calibration import Calibration, Machine
from docproc.capacity.load import load_of
from docproc.capacity.queueing import response
from docproc.capacity.simulation import Simulated, simulate
from docproc.engine.message import utc_now
from docproc.http.reception import Arrival
from docproc.settings import Settings

# Far enough from full that a wrong estimate does not end in a queue without end.
UTILISATION = 0.6
MOST_OFF = 0.25
PROCESSES = os.cpu_count() or 1
# What the first requests find is an empty machine.
WARM_UP = 10


def drawn(folder: Path) -> list[str]:
    """Digital invoices of one page."""
    command = [
        sys.executable,
        "-m",
        "docproc",
        "samples",
        str(folder),
        "--form",
        "digital",
        "--kind",
        "invoice",
    ]
    subprocess.run([*command, "--count", "8"], check=True, capture_output=True)
    return [str(path) for path in sorted(folder.glob("*.pdf"))]


async def seconds_taken(files: list[str], rate: float, count: int, settings: Settings) -> list[float]:
    """From the moment a request is accepted until its answer is there, of requests that arrive at random."""
    arrival = Arrival(workflow=capacity.DEFAULT_WORKFLOW, channel="bench", review="flag", is_watched=False)
    chance = random.Random(7)
    found = batches(files, together=False)
    taken: list[float] = []

    async with embedded.opened(settings, arrival) as engine:
        for batch in found[:2]:  # models are loaded
            await engine.finish(batch, arrival)

        async def one(batch: Batch) -> None:
            began = time.monotonic()
            await engine.finish(batch, arrival)
            taken.append(time.monotonic() - began)

        async with asyncio.TaskGroup() as group:
            for _ in range(WARM_UP + count):
                await asyncio.sleep(chance.expovariate(rate))
                group.create_task(one(chance.choice(found)))
    return taken[WARM_UP:]


def measure(folder: Path, count: int) -> dict[str, Any]:
    files = drawn(folder / "samples")
    kind = asyncio.run(capacity._measured(capacity.DIGITAL, files, capacity.DEFAULT_WORKFLOW))
    measured = Calibration(
        made_at=utc_now(),
        workflow=capacity.DEFAULT_WORKFLOW,
        machine=Machine.this_one(),
        kinds={capacity.DIGITAL: kind},
    )
    alone = load_of(
        measured,
        per_second=1.0,
        deadline_seconds=30,
        units={"page": 1},
        shares={capacity.DIGITAL: 1.0},
        one_pool=capacity.ONE_POOL,
    )
    load = alone.at(UTILISATION * PROCESSES / alone.work(capacity.ONE_POOL))
    workers = {capacity.ONE_POOL: PROCESSES}
    settings = embedded.embedded_settings(folder / "home").model_copy(update={"processes": PROCESSES})
    taken = asyncio.run(seconds_taken(files, load.per_second, count, settings))
    real = Simulated(taken, 30).percentile(0.95)
    simulated = simulate(load, workers, requests=5000).percentile(0.95)
    return {
        "requests_per_second": load.per_second,
        "measured_p50_s": Simulated(taken, 30).percentile(0.5),
        "measured_p95_s": real,
        "formula_p95_s": response(load, workers).p95,
        "simulation_p95_s": simulated,
        "simulation_vs_measured": simulated / real,
        "load_average": os.getloadavg()[0],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="60 requests; too few to be judged by")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="docproc-capacity-", ignore_cleanup_errors=True) as folder:
        found = measure(Path(folder), 60 if given.quick else 600)
    if given.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:28} {value:10.3f}")
    return 0 if given.quick or abs(found["simulation_vs_measured"] - 1) <= MOST_OFF else 1


if __name__ == "__main__":
    sys.exit(main())
