"""Scale: what breaks first between 10 and 10 000 pages a second, from slopes measured here.

    python bench/scale.py [--json] [--pages 20,120] [--slopes FILE]

Digital documents of two lengths go through DocProc on a PostgreSQL of their own. What a further page costs
(processor time, commits, write-ahead log, messages, files) hardly depends on how busy the machine is. From
these slopes follow the cores, the database primaries and the storage for each rate. How evenly tenants of
very different sizes fill several databases is simulated, because that decides how many are needed.
`--slopes` computes the table from an earlier run's JSON instead of measuring.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import resource
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

RATES = (10, 100, 1_000, 10_000)
SCANNED = 0.5
# Processor seconds that OCR takes for a page (bench/ocr.py).
OCR_SECONDS = 1.4
# Of a page that was scanned at 200 dpi and compressed.
SCAN_BYTES = 250_000
# What one PostgreSQL primary on a good disk is planned for: half of what such machines are known to sustain.
COMMITS_PER_S = 10_000
WAL_MB_PER_S = 150.0
# One RabbitMQ cluster, with publisher confirms and persistent messages.
MESSAGES_PER_S = 20_000
# Prices of a month of cloud computing, in US dollars, as an order of magnitude: change them to yours.
USD_PER_CORE_HOUR = 0.04
USD_PER_GB_MONTH = 0.023
# Tenants whose sizes follow Zipf's law, dealt out to databases by their names.
TENANTS = 1_000
MOST_FULL = 0.8


@dataclass(frozen=True, slots=True)
class Slopes:
    """What one page more costs."""

    cpu_seconds: float
    commits: float
    wal_bytes: float
    messages: float
    file_bytes: float


@dataclass(frozen=True, slots=True)
class Row:
    """What a rate needs."""

    pages_per_s: int
    worker_cores: int
    commits_per_s: float
    wal_mb_per_s: float
    messages_per_s: float
    files_mb_per_s: float
    databases: int
    brokers: int
    usd_per_million_pages: float


# --- measuring --------------------------------------------------------------------------------------------


async def measured(lengths: tuple[int, int]) -> Slopes:
    from bench.servers import PostgresServer
    from docproc.apps.documents.cli import embedded
    from docproc.apps.documents.cli.sources import Batch, Source
    from docproc.engine.store import migrate
    from docproc.http.reception import Arrival
    from docproc.terminal.output import load_settings
    from tests import papers

    arrival = Arrival(workflow="default", channel="bench", review="flag", is_watched=False)
    with tempfile.TemporaryDirectory(prefix="docproc-scale-") as name, PostgresServer() as server:
        folder = Path(name)
        settings = load_settings(
            home=folder / "home", storage_path=folder / "files", database_url=server.url, warm_up=False
        )
        from docproc.app import App

        app = App(settings)
        await migrate.upgrade(app.store, app.applications.migrations)
        await app.close()
        counts = []
        async with embedded.opened(settings, arrival) as engine:
            for pages in (lengths[0], *lengths):  # the first loads what is loaded once
                path = folder / f"{pages}.pdf"
                path.write_bytes(papers.pdf(*[papers.INVOICE] * pages))
                before = await _counters(engine.application.store, settings.storage_path)
                await engine.finish(Batch(path.name, (Source(path, path.name),)), arrival)
                after = await _counters(engine.application.store, settings.storage_path)
                counts.append([b - a for a, b in zip(before, after, strict=True)])
    _, small, large = counts
    more = lengths[1] - lengths[0]
    return Slopes(*(max(0.0, (b - a) / more) for a, b in zip(small, large, strict=True)))


async def _counters(store: Any, files: Path) -> tuple[float, ...]:
    from docproc.engine.store import rows

    async with store.reading() as session:
        await rows.execute(session, "SELECT pg_stat_force_next_flush()")
        [row] = await rows.execute(
            session,
            "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS wal, xact_commit, "
            "(SELECT count(*) FROM events WHERE kind = 'handled') AS messages "
            "FROM pg_stat_database WHERE datname = current_database()",
        )
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(one.ru_utime + one.ru_stime for one in used) + _living_children()
    size = await asyncio.to_thread(_size, files)
    return cpu, float(row.xact_commit), float(row.wal), float(row.messages), float(size)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _living_children() -> float:
    import psutil

    times = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
    return float(sum(one.user + one.system for one in times))


# --- computing --------------------------------------------------------------------------------------------


def table(slopes: Slopes) -> list[Row]:
    return [_row(slopes, rate) for rate in RATES]


def _row(slopes: Slopes, rate: int) -> Row:
    cores = rate * (slopes.cpu_seconds + SCANNED * OCR_SECONDS) / MOST_FULL
    commits, wal = rate * slopes.commits, rate * slopes.wal_bytes / 1e6
    file_bytes = slopes.file_bytes + SCANNED * SCAN_BYTES
    messages, files = rate * slopes.messages, rate * file_bytes / 1e6
    needed = max(commits / COMMITS_PER_S, wal / WAL_MB_PER_S)
    hours = 1e6 / rate / 3600
    usd = cores * hours * USD_PER_CORE_HOUR + file_bytes * 1e6 / 1e9 * USD_PER_GB_MONTH
    return Row(
        rate,
        math.ceil(cores),
        round(commits, 1),
        round(wal, 2),
        round(messages, 1),
        round(files, 2),
        databases_for(needed),
        max(1, math.ceil(messages / MESSAGES_PER_S)),
        round(usd, 2),
    )


def databases_for(needed: float, seed: int = 1) -> int:
    """The fewest databases of which none is fuller than planned, with tenants dealt out by their names.

    `needed` is how many perfectly even ones would do. A tenant is never split, so the largest one sets a
    limit: beyond it more databases do not help, and that tenant's work has to be divided first.
    """
    number = max(1, math.ceil(needed / MOST_FULL))
    while number < TENANTS:
        if needed * fullest(number, seed) <= MOST_FULL or largest_share() * needed > MOST_FULL:
            return number
        number += 1
    return number


def largest_share() -> float:
    return 1 / sum(1 / rank for rank in range(1, TENANTS + 1))


def fullest(databases: int, seed: int) -> float:
    """The share of all work that the fullest of so many databases has."""
    chance = random.Random(seed)
    loads = [0.0] * databases
    for rank in range(1, TENANTS + 1):
        loads[chance.randrange(databases)] += 1 / rank
    return max(loads) / sum(loads)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--pages", default="20,120", help="two lengths of documents (default 20,120)")
    parser.add_argument("--slopes", type=Path, help="the JSON of an earlier run")
    given = parser.parse_args()
    if given.slopes:
        slopes = Slopes(**json.loads(given.slopes.read_text())["slopes"])
    else:
        short, long = map(int, given.pages.split(","))
        slopes = asyncio.run(measured((short, long)))
    rows = table(slopes)
    if given.json:
        found = {"slopes": asdict(slopes), "table": [asdict(row) for row in rows]}
        print(json.dumps({**found, "load_average": os.getloadavg()[0]}))
        return 0
    for name, value in asdict(slopes).items():
        print(f"{name:16} {value:12.4f} a page")
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in asdict(row).items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
