"""Broken files through the splitter's reader, in children with limits: who dies, and what is left behind?

The parent is a server's process: it must not die, and its memory afterwards must be what it was.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from docproc.engine.running.child import Limits
from docproc.engine.running.pools import Pools
from docproc.errors import ChildDiedError, UnreadableFileError
from docproc.reading.files.unfold import unfold
from tests.hostile import mutated

MB = 1024 * 1024
AT_ONCE = 4
SECONDS_EACH = 30.0
# Before memory is first looked at: what is loaded once is no growth.
WARM = 250


async def run(total: int, seed: int = 1) -> dict[str, Any]:
    pools = Pools(workers=2, limits=Limits(memory_mb=1024, cpu_seconds=20))
    outcomes: Counter[str] = Counter()
    files = enumerate(islice(mutated(seed), total))
    warm = islice(files, min(WARM, total))

    async def read_on(folder: Path, some: Iterator[tuple[int, tuple[str, bytes]]]) -> None:
        """Several of these share an iterator: no more files are in memory than are read at once."""
        for number, (name, content) in some:
            place = folder / str(number)
            place.mkdir()
            path = place / name
            await asyncio.to_thread(path.write_bytes, content)
            outcomes[await _outcome(pools, path, place)] += 1
            await asyncio.to_thread(_remove, place)

    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="docproc-mutated-") as name:
            folder = Path(name)
            await asyncio.gather(*(read_on(folder, warm) for _ in range(AT_ONCE)))
            before = _memory()
            await asyncio.gather(*(read_on(folder, files) for _ in range(AT_ONCE)))
            after = _memory()
    finally:
        pools.close()
    return _told(outcomes, before, after, total / (time.monotonic() - began))


async def _outcome(pools: Pools, path: Path, place: Path) -> str:
    try:
        async with asyncio.timeout(SECONDS_EACH):
            await pools.run_in_process(unfold, path, path.name, place)
    except UnreadableFileError:
        return "refused"
    except ChildDiedError:
        return "child_died"
    except TimeoutError:
        return "too_slow"
    except Exception as error:  # noqa: BLE001 # counted: anything else is a mistake of ours
        return f"error_{type(error).__name__}"
    return "read"


def _remove(place: Path) -> None:
    for path in sorted(place.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    place.rmdir()


def _memory() -> float:
    gc.collect()
    return psutil.Process().memory_info().rss / MB


def _told(outcomes: Counter[str], before: float, after: float, rate: float) -> dict[str, Any]:
    system = "docproc unfold in children"
    rows = [(name, float(number), "files") for name, number in sorted(outcomes.items())]
    rows += [("parent_before", before, "MB"), ("parent_after", after, "MB"), ("rate", rate, "1/s")]
    return {
        "results": [
            {"system": system, "metric": metric, "value": round(value, 2), "unit": unit}
            for metric, value, unit in rows
        ],
        "ratios": {"parent's memory after vs before": round(after / before, 3)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute")
    parser.add_argument("--json", action="store_true", help="one object on standard output")
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    done = asyncio.run(run(300 if chosen.quick else chosen.files, chosen.seed))
    if chosen.json:
        print(json.dumps(done))
        return
    for row in done["results"]:
        print(f"{row['metric']:<30}{row['value']:>10} {row['unit']}")
    for name, ratio in done["ratios"].items():
        print(f"{name:<40}{ratio:>10}")


if __name__ == "__main__":
    main()
