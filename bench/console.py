"""The console with many requests: how long the inbox, its pages and a search take, and how they grow.

    python bench/console.py [--database sqlite|postgresql …] [--requests N] [--rounds 40] [--quick] [--json]

Every request has a document with its fields and 200 indexed words, drawn so that some words are in nearly
every request and most in few. Times are of whole pages: asked through the server's own code, with templates,
without a network. Beside them what one would have without an index: a search by LIKE over the same words, and
pages by OFFSET.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import logging
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx
import structlog
from sqlalchemy import insert, text

from docproc.app import App
from docproc.apps.documents.tables import Document, File
from docproc.console.servers import gateway
from docproc.engine.store import migrate, search
from docproc.engine.store.search import Entry, Stale
from docproc.engine.store.tables import Request
from docproc.settings import Settings
from tests import services

LIMIT_MS = 200.0
WORDS = 200
VOCABULARY = 50_000
CHUNK = 2_000
LARGEST = {"sqlite": 100_000, "postgresql": 1_000_000}
QUICK = {"sqlite": 4_000, "postgresql": 4_000}
VENDORS = 2_000
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
# By Zipf's law: the first words are in nearly every request, most are in few.
SYLLABLES = [one + two for one in "bcdfglmnprstv" for two in ("a", "e", "i", "o", "u", "an", "er")]
POSSIBLE = ["".join(parts) for parts in itertools.islice(itertools.product(SYLLABLES, repeat=3), VOCABULARY)]
random.Random(1).shuffle(POSSIBLE)
HOW_OFTEN = list(itertools.accumulate(1 / (number + 10) for number in range(VOCABULARY)))
STATUSES = ("completed",) * 96 + ("failed", "failed", "sla_breached", "processing")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A request with what is in it."""

    request: dict[str, Any]
    document: dict[str, Any]
    file: dict[str, Any]
    entry: Entry


def drawn(number: int, chance: random.Random) -> Drawn:
    request_id = UUID(int=chance.getrandbits(128), version=4)
    created = BEGAN + timedelta(seconds=20 * number)
    status = STATUSES[chance.randrange(100)]
    over = status != "processing"
    total, vendor = f"{chance.randrange(100, 5_000_000) / 100:.2f}", f"Vendor{chance.randrange(VENDORS)}"
    doubts = 1 if chance.random() < 0.03 else 0
    values = {"invoice_number": f"F-26-{number:07}", "vendor_name": vendor, "total_amount": total}
    fields = {name: {"value": value, "confidence": 0.95, "page": 0} for name, value in values.items()}
    document = {
        "request_id": request_id, "doc_type": "invoice", "page_indices": [0], "status": "completed",
        "extracted_data": values, "fields": fields, "needs_review": ["total_amount"][:doubts], "doubts": [],
    }  # fmt: skip
    request = {
        "id": request_id, "workflow_name": "default", "status": status, "created_at": created,
        "updated_at": created, "deadline_utc": created + timedelta(minutes=10),
        "completed_at": created + timedelta(seconds=3) if over else None, "external_id": f"R{number}",
        "uploads": [{"key": "x", "name": f"invoice-{number}.pdf", "size": 1, "sha256": "0"}],
        "answer_version": 1, "indexed_version": 1, "channel": "api", "metadata_": {},
        "result_payload": {"documents": [{"doc_type": "invoice", "fields": fields}]},
    }  # fmt: skip
    entry = Entry(
        title=f"invoice-{number}.pdf",
        texts=[str(request_id), f"R{number}", *values.values()],
        summary={
            "types": [["invoice", 1]],
            "pages": 1,
            "issuer": vendor,
            "issuers": 1,
            "total": total,
            "currency": "EUR",
        },
        attention=doubts,
        facets={"type": ["invoice"], "channel": ["api"]},
    )
    file = {
        "request_id": request_id, "file_index": 0, "name": f"invoice-{number}.pdf", "page_count": 1,
        "media_type": "application/pdf", "notes": [],
    }  # fmt: skip
    return Drawn(request, document, file, entry)


def entry_row(one: Drawn, dialect: str, chance: random.Random) -> dict[str, Any]:
    """As the indexer writes it; words of the page are drawn as words: cutting texts is not measured."""
    stale = Stale(one.request["id"], "default", 1, one.request["created_at"], one.entry)
    row = search._row(stale, one.entry, dialect)
    drawn_words = set(chance.choices(POSSIBLE, cum_weights=HOW_OFTEN, k=WORDS))
    if dialect == "postgresql":
        return {**row, "said": [*row["said"], *drawn_words]}
    return {**row, "said": " ".join((row["said"], *drawn_words))}


async def fill(app: App, since: int, until: int) -> None:
    chance = random.Random(since)
    for start in range(since, until, CHUNK):
        made = [drawn(number, chance) for number in range(start, min(start + CHUNK, until))]
        async with app.store.writing() as session:
            await session.execute(insert(Request), [one.request for one in made])
            await session.execute(insert(Document), [one.document for one in made])
            await session.execute(insert(File), [one.file for one in made])
            dialect = session.get_bind().dialect.name
            rows = [entry_row(one, dialect, chance) for one in made]
            await session.execute(search._upsert(dialect), rows)
    if not app.store.is_sqlite:
        async with app.store.claiming() as connection:
            await connection.execute(text("ANALYZE"))


def questions(count: int, chance: random.Random) -> dict[str, Callable[[], str]]:
    """Addresses by kind; each call gives another one."""

    def word(low: float, high: float) -> str:
        return POSSIBLE[min(VOCABULARY - 1, int(VOCABULARY * chance.uniform(low, high)))]

    def somewhere() -> str:
        moment = BEGAN + timedelta(seconds=20 * chance.randrange(count))
        return f"{int(moment.timestamp() * 1e6)}_ffffffff-ffff-4fff-bfff-ffffffffffff"

    return {
        "inbox": lambda: "/",
        "inbox, some page": lambda: f"/?cursor={somewhere()}",
        "inbox, failed": lambda: "/?state=failed",
        "inbox, in progress": lambda: "/?state=running",
        "inbox, doubts": lambda: "/?state=doubts",
        "search, a number": lambda: f"/?q=F-26-{chance.randrange(count):07}",
        "search, a vendor": lambda: f"/?q=vendor{chance.randrange(VENDORS)}",
        "search, a rare word": lambda: f"/?q={word(0.5, 1.0)}",
        "search, a usual word": lambda: f"/?q={word(0.001, 0.05)}",
        "search, a word of most requests": lambda: f"/?q={POSSIBLE[0]}",
        "search, a beginning": lambda: f"/?q={word(0.0, 1.0)[:4]}",
        "search, two words": lambda: f"/?q={word(0.001, 0.02)}+{word(0.001, 0.02)}",
        "search, failed with a word": lambda: f"/?state=failed&q={word(0.0, 0.01)}",
        "search, a type and a word": lambda: f"/?type=invoice&q={word(0.001, 0.05)}",
    }


async def measure(app: App, count: int, rounds: int) -> dict[str, list[float]]:
    chance = random.Random(7)
    transport = httpx.ASGITransport(gateway(app))
    found: dict[str, list[float]] = {}
    asked = questions(count, chance)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=120) as client:
        await client.get("/")  # templates and texts are read once
        for _ in range(rounds):
            for kind, address in asked.items():
                where = address()
                began = time.perf_counter()
                answer = await client.get(where)
                found.setdefault(kind, []).append((time.perf_counter() - began) * 1000)
                assert answer.status_code == 200, answer.text
    return found


async def without_index(app: App, count: int, rounds: int) -> dict[str, float]:
    """What the same questions take without it: medians, few rounds."""
    chance = random.Random(9)
    words = "words::text" if not app.store.is_sqlite else "words"
    statements: dict[str, Callable[[], str]] = {
        "LIKE": lambda: (
            f"SELECT request_id FROM search_entries WHERE {words} LIKE "
            f"'%{POSSIBLE[-1 - chance.randrange(20_000)]}%' ORDER BY id DESC LIMIT 51"
        ),
        "OFFSET": lambda: (
            "SELECT id FROM requests WHERE tenant_id = 'default' ORDER BY created_at DESC, id DESC "
            f"LIMIT 51 OFFSET {count // 2}"
        ),
    }
    found = {}
    for name, statement in statements.items():
        times = []
        for _ in range(min(rounds, 5)):
            async with app.store.reading() as session:
                began = time.perf_counter()
                list(await session.execute(text(statement())))
                times.append((time.perf_counter() - began) * 1000)
        found[name] = statistics.median(times)
    return found


@contextmanager
def database_of(kind: str) -> Iterator[dict[str, Any]]:
    """Settings of a database of one's own."""
    with ExitStack() as stack:
        folder = tempfile.TemporaryDirectory(prefix="docproc-bench-", ignore_cleanup_errors=True)
        home = Path(stack.enter_context(folder))
        values: dict[str, Any] = {"home": home, "storage_path": home / "storage", "_env_file": None}
        if kind == "postgresql":
            values["database_url"] = stack.enter_context(services.postgres_database())
        yield values


@asynccontextmanager
async def opened(values: dict[str, Any]) -> AsyncIterator[App]:
    app = App(Settings.load(**values))
    try:
        await migrate.upgrade(app.store, app.applications.migrations)
        yield app
    finally:
        await app.close()


def p95(times: Sequence[float]) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * 0.95))]


def sizes(largest: int) -> Iterator[int]:
    """A tenth of it, and all of it: what grows can be seen."""
    yield from (largest // 10, largest)


async def measured(
    database: str, values: dict[str, Any], largest: int, rounds: int
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    results: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}
    worst: dict[int, float] = {}
    async with opened(values) as app:
        filled = 0
        for count in sizes(largest):
            began = time.perf_counter()
            await fill(app, filled, count)
            filled = count
            print(f"{database}: {count} requests in {time.perf_counter() - began:.0f} s", file=sys.stderr)
            found = await measure(app, count, rounds)
            system = f"docproc {database}, {count} requests"
            everything = [one for times in found.values() for one in times]
            worst[count] = p95(everything)
            for kind, times in {**found, "all": everything}.items():
                for name, value in (("p50", statistics.median(times)), ("p95", p95(times))):
                    metric = {"metric": f"{kind}: {name}", "value": round(value, 1), "unit": "ms"}
                    results.append({"system": system, **metric})
            plain = await without_index(app, count, rounds)
            rare, page = (
                statistics.median(found[one]) for one in ("search, a rare word", "inbox, some page")
            )
            ratios[f"{system}: LIKE vs search"] = round(plain["LIKE"] / rare, 2)
            ratios[f"{system}: OFFSET vs a page"] = round(plain["OFFSET"] / page, 2)
    few, many = sorted(worst)
    ratios[f"{database}: p95 of {many} vs {few} requests"] = round(worst[many] / worst[few], 2)
    ratios[f"{database}: p95 vs the limit of {LIMIT_MS:.0f} ms"] = round(worst[many] / LIMIT_MS, 2)
    return results, ratios


def run(databases: Sequence[str], requests: int | None, rounds: int, quick: bool) -> dict[str, Any]:
    results: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}
    for database in databases:
        largest = requests or (QUICK if quick else LARGEST)[database]
        with database_of(database) as values:
            found, compared = asyncio.run(measured(database, values, largest, rounds))
        results += found
        ratios |= compared
    return {"results": results, "ratios": ratios, "load": os.getloadavg()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--database", nargs="+", choices=list(LARGEST), default=list(LARGEST))
    parser.add_argument("--requests", type=int, help="the largest number; default 1 000 000 and 100 000")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--quick", action="store_true", help="4 000 requests, 5 rounds")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rounds = 5 if given.quick else given.rounds
    # One transaction a chunk: the writer is held long, and would say so.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    found = run(given.database, given.requests, rounds, given.quick)
    if given.json:
        print(json.dumps(found))
        return
    for one in found["results"]:
        print(f"{one['system']:42} {one['metric']:44} {one['value']:10.1f} {one['unit']}")
    for name, value in found["ratios"].items():
        print(f"{name:86} {value:8.2f}")


if __name__ == "__main__":
    main()
