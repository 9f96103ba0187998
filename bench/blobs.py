"""What storing costs: blob stores beside a raw loop of open, write, fsync, and memory for a large file."""

from __future__ import annotations

import argparse
import asyncio
import base64
import hashlib
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.s3_server import S3Server
from docproc.app import App
from docproc.engine.blobs import CHUNK, BlobStore
from docproc.settings import Settings

MB = 1024 * 1024
RAW = "raw open/write/fsync"
KEY = base64.b64encode(b"k" * 32).decode()


@dataclass
class Sizes:
    files: int
    file_mb: int
    large_mb: int
    runs: int


@dataclass
class Measured:
    """Of one system: values of all runs by metric."""

    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, metric: str, value: float) -> None:
        self.values.setdefault(metric, []).append(value)

    def median(self, metric: str) -> float:
        return statistics.median(self.values[metric])


class Raw:
    """The least that durable means: the content on disk, and the folder that names it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)

    async def put(self, key: str, chunks: AsyncIterator[bytes], tenant: str | None = None) -> None:
        digest = hashlib.sha256()
        with (self.folder / key.replace("/", "-")).open("wb") as file:
            async for chunk in chunks:
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        handle = os.open(self.folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)

    async def read(self, key: str) -> AsyncIterator[bytes]:
        with (self.folder / key.replace("/", "-")).open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk


async def content(mb: int, seed: int) -> AsyncIterator[bytes]:
    """No two files alike, and nothing to compress."""
    block = hashlib.shake_128(seed.to_bytes(8, "big")).digest(MB)
    for number in range(mb):
        yield number.to_bytes(8, "big") + block[8:]


def systems(folder: Path, s3: S3Server | None) -> dict[str, Any]:
    found: dict[str, Any] = {RAW: Raw(folder / "raw")}
    places: dict[str, dict[str, Any]] = {"local": {"storage_path": folder / "storage"}}
    if s3 is not None:
        os.environ.update(s3.environment())
        places["s3"] = {"storage_url": f"s3://{s3.bucket}/bench", "storage_endpoint": s3.url}
    for name, values in places.items():
        for suffix, key in (("", None), (" encrypted", KEY)):
            home = folder / f"home-{name}{suffix}"
            place = {**values, "storage_key": key, "home": home, "_env_file": None}
            found[name + suffix] = App(Settings.load(**place)).blobs
    return found


async def measure(store: Any, name: str, run: int, sizes: Sizes, measured: Measured) -> None:
    seeds = [run * 1000 + number for number in range(sizes.files)]
    total = sizes.files * sizes.file_mb

    async def write(prefix: str) -> None:
        for seed in seeds:
            await store.put(f"{prefix}-{run}-{seed}/in/0", content(sizes.file_mb, seed), tenant=name)

    async def read() -> None:
        for seed in seeds:
            async for _ in store.read(f"first-{run}-{seed}/in/0"):
                pass

    measured.add("write_mb_per_s", total / await timed(lambda: write("first")))
    measured.add("read_mb_per_s", total / await timed(read))
    if isinstance(store, BlobStore):
        key = f"first-{run}-{seeds[0]}/in/0"
        await store.fetch(key)
        measured.add("fetch_again_ms", 1000 * await timed(lambda: store.fetch(key)))
        measured.add("write_again_mb_per_s", total / await timed(lambda: write("second")))


async def measure_memory(store: Any, sizes: Sizes, measured: Measured) -> None:
    """How much more memory is in use while a large file passes, both ways."""
    await store.put("warm/in/0", content(20, 1))
    with peak_above() as peak:
        await store.put("large/in/0", content(sizes.large_mb, 2))
        async for _ in store.read("large/in/0"):
            pass
    measured.add("memory_mb_for_a_large_file", peak[0] / MB)


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    begun = time.perf_counter()
    await work()
    return time.perf_counter() - begun


@contextmanager
def peak_above() -> Iterator[list[int]]:
    process, ending, peak = psutil.Process(), threading.Event(), [0]
    before = process.memory_info().rss

    def watch() -> None:
        while not ending.wait(0.005):
            peak[0] = max(peak[0], process.memory_info().rss - before)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield peak
    finally:
        ending.set()
        watching.join()


async def run(sizes: Sizes) -> dict[str, Any]:
    skipped = {"s3": problem} if (problem := S3Server.available()) else {}
    with tempfile.TemporaryDirectory(prefix="docproc-blobs-") as folder, ExitStack() as ending:
        s3 = None if skipped else ending.enter_context(S3Server())
        found = systems(Path(folder), s3)
        measured = {name: Measured() for name in found}
        for number in range(sizes.runs):  # in turns: a machine's mood is everybody's
            for name, store in found.items():
                await measure(store, name, number, sizes, measured[name])
        for name, store in found.items():
            await measure_memory(store, sizes, measured[name])
    return report(measured, skipped)


UNITS = {
    "write_mb_per_s": "MB/s",
    "read_mb_per_s": "MB/s",
    "write_again_mb_per_s": "MB/s",
    "fetch_again_ms": "ms",
    "memory_mb_for_a_large_file": "MB",
}


def report(measured: dict[str, Measured], skipped: dict[str, str]) -> dict[str, Any]:
    results = [
        {"system": name, "metric": metric, "value": round(one.median(metric), 2), "unit": UNITS[metric]}
        for name, one in measured.items()
        for metric in one.values
    ]
    raw = measured[RAW]
    ratios = {
        f"{name} {what} vs raw": round(one.median(metric) / raw.median(metric), 2)
        for name, one in measured.items()
        for what, metric in (("write", "write_mb_per_s"), ("read", "read_mb_per_s"))
        if name != RAW
    }
    return {"results": results, "ratios": ratios, "skipped": skipped}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute")
    parser.add_argument("--json", action="store_true", help="one object on standard output")
    chosen = parser.parse_args()
    sizes = Sizes(10, 2, 128, 3) if chosen.quick else Sizes(40, 4, 1024, 5)
    done = asyncio.run(run(sizes))
    if chosen.json:
        print(json.dumps(done))
        return
    for row in done["results"]:
        print(f"{row['system']:<24}{row['metric']:<30}{row['value']:>10} {row['unit']}")
    for name, ratio in done["ratios"].items():
        print(f"{name:<54}{ratio:>10}")
    for name, problem in done["skipped"].items():
        print(f"{name} skipped: {problem}")


if __name__ == "__main__":
    main()
