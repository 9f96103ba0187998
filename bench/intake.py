"""How files come in: large uploads beside raw uvicorn and a disk, a hot folder beside the pipeline itself."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.servers import _free_ports
from docproc.client import Client
from tests import papers

MB = 1024 * 1024
HOST = "127.0.0.1"
BOUNDARY = "docproc-bench"
RAW, OURS = "raw uvicorn + disk", "docproc api"


@dataclass(frozen=True)
class Sizes:
    upload_mb: int
    uploads: int
    at_once: int
    rounds: int
    files: int


# --- the raw server: the least that durable means -------------------------------------------------------


async def raw(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Writes a body to disk as it comes, and answers when it is there to stay. As our server, it writes in
    threads, in pieces of a megabyte: a loop that waits for its disk serves nobody meanwhile."""
    if scope["type"] != "http":
        return
    path = Path(os.environ["RAW_FOLDER"]) / secrets.token_hex(8)
    with path.open("wb") as file:
        more, parts, length = True, [], 0
        while more:
            message = await receive()
            more = message.get("more_body", False)
            parts.append(message.get("body", b""))
            length += len(parts[-1])
            if length >= MB or not more:
                await asyncio.to_thread(file.write, b"".join(parts))
                parts, length = [], 0
        await asyncio.to_thread(_sync, file)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"{}"})


def _sync(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def running(command: list[str], environment: dict[str, str], ready: str, folder: Path) -> Iterator[int]:
    """A server's process id, once it answers."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DOCPROC_")}
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, *command], env={**kept, **environment}, stdout=log, stderr=log,
            cwd=Path(__file__).parents[1],
        )  # fmt: skip
    try:
        until = time.monotonic() + 120
        while not _answers(ready):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError((folder / "log").read_text()[-2000:])
            time.sleep(0.2)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(40)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


# --- uploads --------------------------------------------------------------------------------------------


def _form(size: int) -> tuple[bytes, bytes]:
    """What stands before and after the changing beginning of a file, in one form."""
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n'
        "Content-Type: application/pdf\r\n\r\n%PDF-1.4\n"
    )
    return head.encode(), secrets.token_bytes(size) + f"\r\n--{BOUNDARY}--\r\n".encode()


async def upload_all(port: int, sizes: Sizes) -> float:
    """MB a second of so many uploads, each of another content."""
    head, tail = _form(sizes.upload_mb * MB)
    length = len(head) + 32 + len(tail)
    start = (
        f"POST /process HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: close\r\nContent-Length: {length}\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n\r\n"
    ).encode()
    places = asyncio.Semaphore(sizes.at_once)

    async def one() -> None:
        async with places:
            reader, writer = await asyncio.open_connection(HOST, port)
            writer.write(start + head + secrets.token_hex(16).encode())
            for place in range(0, len(tail), MB // 4):
                writer.write(memoryview(tail)[place : place + MB // 4])
                await writer.drain()
            status = (await reader.readline()).split()[1]
            assert status == b"200", await reader.read()
            writer.close()

    began = time.monotonic()
    await asyncio.gather(*(one() for _ in range(sizes.uploads)))
    return sizes.upload_mb * sizes.uploads / (time.monotonic() - began)


class Watch:
    """The most memory that a process has while something goes on."""

    def __init__(self, pid: int) -> None:
        self.process = psutil.Process(pid)
        self.most = 0.0

    def cpu_seconds(self) -> float:
        used = self.process.cpu_times()
        return float(used.user + used.system)

    async def run(self) -> None:
        while True:
            self.most = max(self.most, self.process.memory_info().rss / MB)
            await asyncio.sleep(0.02)


async def measure_uploads(pids: dict[str, int], ports: dict[str, int], sizes: Sizes) -> dict[str, Any]:
    rates: dict[str, list[float]] = {RAW: [], OURS: []}
    for system in rates:  # imports, pools, first connections
        await upload_all(ports[system], Sizes(sizes.upload_mb, 2, 2, 1, 0))
    before = psutil.Process(pids[OURS]).memory_info().rss / MB
    peaks: list[float] = []
    busy: dict[str, list[float]] = {RAW: [], OURS: []}
    for _ in range(sizes.rounds):
        for system, port in ports.items():
            watch = Watch(pids[system])
            watching = asyncio.create_task(watch.run())
            cpu = watch.cpu_seconds()
            rates[system].append(await upload_all(port, sizes))
            busy[system].append(1000 * (watch.cpu_seconds() - cpu) / sizes.uploads)
            watching.cancel()
            if system == OURS:
                peaks.append(watch.most)
    return {"rates": rates, "busy": busy, "before": before, "peaks": peaks}


def uploads(folder: Path, sizes: Sizes) -> dict[str, Any]:
    raw_port, port, health = _free_ports(3)
    raw_folder = folder / "raw"
    raw_folder.mkdir()
    ours = {
        "DOCPROC_HOME": str(folder / "home"), "DOCPROC_COMPONENT_NAME": "api_gateway",
        "DOCPROC_API_PORT": str(port), "DOCPROC_HEALTH_PORT": str(health), "DOCPROC_LOG_LEVEL": "warning",
        "DOCPROC_APPLICATIONS": "documents",
    }  # fmt: skip
    server = [
        "-m",
        "uvicorn",
        "bench.intake:raw",
        "--port",
        str(raw_port),
        "--lifespan",
        "off",
        "--no-access-log",
    ]
    with (
        running(server, {"RAW_FOLDER": str(raw_folder)}, f"http://{HOST}:{raw_port}/", folder) as raw_pid,
        running(["-m", "docproc"], ours, f"http://{HOST}:{port}/ready", folder) as pid,
    ):
        pids, ports = {RAW: raw_pid, OURS: pid}, {RAW: raw_port, OURS: port}
        return asyncio.run(measure_uploads(pids, ports, sizes))


# --- the folder -----------------------------------------------------------------------------------------


def drain(folder: Path, sizes: Sizes) -> dict[str, float]:
    """Requests a second of the documents' pipeline: sent over HTTP, and found in the hot folder."""
    port, backoffice, health = _free_ports(3)
    inbox, staged = folder / "inbox", folder / "staged"
    staged.mkdir()
    environment = {
        "DOCPROC_HOME": str(folder / "up"), "DOCPROC_BACKOFFICE_PORT": str(backoffice),
        "DOCPROC_HEALTH_PORT": str(health), "DOCPROC_INBOX_FOLDER": str(inbox),
        "DOCPROC_WORKFLOWS_DIR": str(_patient_workflows(folder)), "DOCPROC_APPLICATIONS": "documents",
        "DOCPROC_INBOX_SETTLE_SECONDS": "0.2", "DOCPROC_INBOX_POLL_SECONDS": "0.2",
    }  # fmt: skip
    command = ["-m", "docproc", "up", "--port", str(port), "--review", "flag"]
    found = {}
    with running(command, environment, f"http://{HOST}:{health}/ready", folder):
        database = folder / "up" / "docproc.db"
        contents = [papers.pdf([f"Factura {number}", "Total 12,50 EUR"]) for number in range(2 * sizes.files)]
        with Client(f"http://{HOST}:{port}") as client, ThreadPoolExecutor(8) as pool:
            client.wait(client.submit(("warm.pdf", contents[0]))["request_id"], 120)
            began = time.monotonic()
            list(pool.map(lambda one: client.submit(("a.pdf", one), channel="http"), contents[: sizes.files]))
            _until_done(database, "http", sizes.files)
            found["pipeline"] = sizes.files / (time.monotonic() - began)
        for number, content in enumerate(contents[sizes.files :]):
            (staged / f"{number}.pdf").write_bytes(content)
        began = time.monotonic()
        for path in staged.iterdir():
            path.rename(inbox / path.name)
        _until_done(database, "folder", sizes.files)
        found["folder"] = sizes.files / (time.monotonic() - began)
    return found


def _patient_workflows(folder: Path) -> Path:
    """The default flow with a deadline that none of these reaches: late answers would be other work."""
    made = folder / "workflows"
    made.mkdir()
    text = (Path(__file__).parents[1] / "config/workflows/default.yaml").read_text(encoding="utf-8")
    lines = [
        "  deadline_seconds: 36000" if line.strip().startswith("deadline_seconds:") else line
        for line in text.splitlines()
    ]
    (made / "default.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return made


def _until_done(database: Path, channel: str, number: int) -> None:
    question = "SELECT count(*) FROM requests WHERE channel = ? AND completed_at IS NOT NULL"
    until = time.monotonic() + 3600
    while True:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30) as connection:
            (done,) = connection.execute(question, (channel,)).fetchone()
        if done >= number:
            return
        if time.monotonic() > until:
            raise RuntimeError(f"{done} of {number} requests of {channel} are done")
        time.sleep(0.1)


def run(sizes: Sizes, parts: str) -> dict[str, Any]:
    results: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}

    def add(system: str, metric: str, value: float, unit: str) -> None:
        results.append({"system": system, "metric": metric, "value": round(value, 2), "unit": unit})

    with tempfile.TemporaryDirectory(prefix="docproc-intake-") as name:
        if parts in ("all", "uploads"):
            measured = uploads(Path(name), sizes)
            rates = {system: statistics.median(values) for system, values in measured["rates"].items()}
            for system, rate in rates.items():
                add(system, "upload_rate", rate, "MB/s")
                add(system, "cpu_per_upload", statistics.median(measured["busy"][system]), "ms")
            add(OURS, "memory_before", measured["before"], "MB")
            add(OURS, "memory_peak_first", measured["peaks"][0], "MB")
            add(OURS, "memory_peak_last", measured["peaks"][-1], "MB")
            ratios["uploads: docproc vs raw"] = round(rates[OURS] / rates[RAW], 3)
            ratios["memory: last peak vs first"] = round(measured["peaks"][-1] / measured["peaks"][0], 3)
        if parts in ("all", "folder"):
            speeds = drain(Path(name), sizes)
            add("docproc documents over http", "requests_per_s", speeds["pipeline"], "1/s")
            add("docproc documents from a folder", "requests_per_s", speeds["folder"], "1/s")
            ratios["folder vs the pipeline's own speed"] = round(speeds["folder"] / speeds["pipeline"], 3)
    return {"results": results, "ratios": ratios, "load": os.getloadavg()[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="about a minute")
    parser.add_argument("--json", action="store_true", help="one object on standard output")
    parser.add_argument("--parts", choices=["all", "uploads", "folder"], default="all")
    parser.add_argument("--files", type=int, help="in the folder")
    chosen = parser.parse_args()
    sizes = (
        Sizes(10, 16, 8, 3, chosen.files or 60)
        if chosen.quick
        else Sizes(10, 64, 16, 5, chosen.files or 10_000)
    )
    socket.setdefaulttimeout(30)
    done = run(sizes, chosen.parts)
    if chosen.json:
        print(json.dumps(done))
        return
    for row in done["results"]:
        print(f"{row['system']:<34}{row['metric']:<22}{row['value']:>10} {row['unit']}")
    for name, ratio in done["ratios"].items():
        print(f"{name:<56}{ratio:>10}")
    print(f"load of the machine at the end: {done['load']:.1f}")


if __name__ == "__main__":
    main()
