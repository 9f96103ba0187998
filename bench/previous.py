"""The release before, as git has it: its workers beside ours, and its speed in the same run."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

from bench.fleet import ROOT

# Counts as v0.1.0.
PREVIOUS = "c2ab53b"
SYSTEM = "docproc 0.1.0"

# In that release's own words: the rates of some runs of its fan-out.
_RATES = """
import asyncio, json, os, sys
from bench.fanout import tasks, timed
from bench.fleet import Fleet, addresses, running
from bench.graph import FANOUT, PATHS

async def main(variables, pages, runs):
    fleet = Fleet(variables, PATHS, {"fanout": FANOUT})
    fleet.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]  # its own tree, whatever is installed
    async with running(fleet):
        await timed(fleet, 200)
        print(json.dumps([tasks(pages) / await timed(fleet, pages) for _ in range(runs)]))

with addresses(sys.argv[1]) as variables:
    asyncio.run(main(variables, int(sys.argv[2]), int(sys.argv[3])))
"""


def unavailable() -> str | None:
    """What keeps it from running here."""
    if importlib.util.find_spec("pebble") is None:
        return "release 0.1.0 needs pebble: pip install -r bench/peers/requirements.txt"
    known = subprocess.run(["git", "cat-file", "-e", PREVIOUS], cwd=ROOT, capture_output=True, check=False)
    return None if known.returncode == 0 else f"this clone has no commit {PREVIOUS}"


def extract(folder: Path) -> Path:
    """Its tree, in a folder."""
    parts = ["src", "bench", "tests/__init__.py", "tests/services.py"]
    archive = subprocess.run(["git", "archive", PREVIOUS, *parts], cwd=ROOT, capture_output=True, check=True)
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as found:
        found.extractall(folder, filter="data")
    return folder


def fanout_rates(root: Path, combination: str, pages: int, runs: int = 1) -> list[float]:
    """Tasks a second of its fan-out, with two workers of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DOCPROC_")}
    done = subprocess.run(
        [sys.executable, "-c", _RATES, combination, str(pages), str(runs)],
        cwd=root,
        env={**environment, "PYTHONPATH": f"{root}:{root / 'src'}"},
        stdout=subprocess.PIPE,
        timeout=600,
        check=True,
    )
    return [float(rate) for rate in json.loads(done.stdout)]
