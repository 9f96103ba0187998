"""The material worker beside a raw loop: the same events, broker, bucket, model and database, in the same
run.

The raw loop is what somebody writes first: take an event, download, keep the file (fsync), pdftotext, two
calls, check the JSON and the questions, store both documents and the two rows in one transaction,
acknowledge. It does the same work with the same functions, without all that keeps a crash, a time-out or a
second worker from losing or paying anything twice. The model answers at once, so that what is measured is
everything but the model.

`raw that keeps` is the same loop with the least of that: events and answers are committed when they come
(materials_raw.py).

`one_at_a_time`: by the queue, whose prefetch is 1. `several`: POST /materials with some of them under way at
once, beside a raw loop that has as many under way.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import psutil

from bench import materials_raw
from bench.materials_raw import QUEUE, WARM

ROOT = Path(__file__).parents[1]
DONE = "SELECT count(*) FROM material_summary_link WHERE status = 'completed'"
# Of requests by the queue; a stage that was chained has its share of the transaction, not its commit.
STAGES = """
    WITH found AS (
        SELECT e.stage, e.started_at, e.finished_at, r.id, r.created_at, r.completed_at
        FROM events e JOIN requests r ON r.id = e.request_id
        WHERE e.kind = 'handled' AND r.channel = 'materials' AND r.completed_at IS NOT NULL
    ), times AS (
        SELECT stage, finished_at - started_at AS taken FROM found
        UNION ALL SELECT 'whole', completed_at - created_at FROM found WHERE stage = 'store'
        UNION ALL SELECT 'between_stages', max(completed_at) - min(created_at) - sum(finished_at - started_at)
        FROM found GROUP BY id
    )
    SELECT stage, percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM taken)) * 1000 AS ms
    FROM times GROUP BY stage ORDER BY stage
"""
LOOK_SECONDS = 0.1
# Of several.
AT_ONCE = 4
# Of a call; real models take ten times as long.
SLOW_SECONDS = 0.5


class Report(Protocol):
    skipped: list[str]

    def add(self, system: str, metric: str, value: float, unit: str) -> float: ...

    def ratio(self, name: str, value: float) -> None: ...


def measure(report: Report, *, quick: bool) -> None:
    """Throughput by the queue, and the memory that a long book takes."""
    from bench.s3_server import S3Server
    from tests import services

    for problem in (services.postgres_problem(), services.rabbitmq_problem(), S3Server.available()):
        if problem:
            report.skipped.append(f"worker: {problem}")
            return
    with ExitStack() as stack:
        place = _Place(
            stack.enter_context(services.postgres_database()),
            stack.enter_context(services.rabbitmq_vhost()),
            stack.enter_context(S3Server()),
            stack.enter_context(_model()),
            Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="docproc-materials-"))),
        )
        count = 20 if quick else 150
        place.migrate()
        key = place.upload()
        systems = ("raw", "raw that keeps", "docproc", "raw several", "docproc several")
        rates: dict[str, list[float]] = {system: [] for system in systems}
        # In turns: the machine's mood is the same for both.
        for _ in range(2 if quick else 3):
            rates["raw"].append(asyncio.run(materials_raw.rate(place, key, count)))
            kept = materials_raw.rate(place, key, count, keeps=True)
            rates["raw that keeps"].append(asyncio.run(kept))
            rates["docproc"].append(_worked(place, key, count))
            rates["raw several"].append(asyncio.run(materials_raw.rate(place, key, count, at_once=AT_ONCE)))
            rates["docproc several"].append(_posted(place, count))
        best = {system: max(found) for system, found in rates.items()}
        for system, rate in best.items():
            report.add(f"{system} rabbitmq+postgresql+s3", "materials_per_s", rate, "1/s")
        report.ratio("one_at_a_time", best["docproc"] / best["raw"])
        report.ratio("one_at_a_time vs raw loop that keeps answers", best["docproc"] / best["raw that keeps"])
        report.ratio("several", best["docproc several"] / best["raw several"])
        report.ratio("several vs raw loop one at a time", best["docproc several"] / best["raw"])
        for system, stages in (("raw loop", materials_raw.stages()), ("docproc", place.stages())):
            for stage, milliseconds in stages.items():
                report.add(f"{system}, one at a time", f"{stage}_ms", milliseconds, "ms")
        _measure_slow(report, place, key, stack.enter_context(_model(SLOW_SECONDS)), 6 if quick else 20)
        pages = (50, 200) if quick else (50, 500)
        peaks = {number: _peak_mb(place, number) for number in pages}
        for number, peak in peaks.items():
            report.add(f"docproc, a book of {number} pages", "peak_memory_mb", peak, "MB")
        report.ratio(f"memory of {pages[1]} pages vs {pages[0]}", peaks[pages[1]] / peaks[pages[0]])


def _measure_slow(report: Report, place: _Place, key: str, model: str, count: int) -> None:
    """With a model that takes its time, as all of them do."""
    slow = _Place(place.database, place.broker, place.s3, model, place.folder)
    raw, docproc = asyncio.run(materials_raw.rate(slow, key, count)), _worked(slow, key, count)
    report.add(f"raw loop, a model that takes {SLOW_SECONDS:g} s", "materials_per_s", raw, "1/s")
    report.add(f"docproc, a model that takes {SLOW_SECONDS:g} s", "materials_per_s", docproc, "1/s")
    report.ratio(f"docproc vs raw loop, a model that takes {SLOW_SECONDS:g} s", docproc / raw)


class _Place:
    def __init__(self, database: str, broker: str, s3: Any, model: str, folder: Path) -> None:
        self.database = database
        self.broker = broker
        self.s3 = s3
        self.model = model
        self.folder = folder

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DOCPROC_")}
        return {
            **kept,
            **self.s3.environment(),
            "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}",
            "DOCPROC_HOME": str(self.folder),
            "DOCPROC_STORAGE_PATH": str(self.folder / "files"),
            "DOCPROC_APPLICATIONS": "materials",
            "DOCPROC_DATABASE_URL": self.database,
            "DOCPROC_TRANSPORT": "sql",
            "DOCPROC_MATERIALS_RABBITMQ_URL": self.broker,
            "DOCPROC_MATERIALS_S3_ENDPOINT": self.s3.url,
            "DOCPROC_MATERIALS_MODEL_URL": self.model,
            "DOCPROC_MATERIALS_CALLS_PER_MINUTE": "1000000",
            # The played model's questions are thin: nobody is asked about them, as nobody is by the raw loop.
            "DOCPROC_REVIEW": "flag",
            "DOCPROC_LOG_LEVEL": "warning",
        }

    def migrate(self) -> None:
        subprocess.run(
            [sys.executable, "-m", "docproc", "db", "upgrade"], env=self.environment, check=True,
            capture_output=True, cwd=self.folder,
        )  # fmt: skip

    def upload(self, pages: int = 0) -> str:
        import obstore

        from tests import textbooks

        path = self.folder / "book.pdf"
        # Two pages and 640 words at a time.
        textbooks.draw(path, times=max(1, pages // 2))
        key = f"bench/{uuid.uuid4().hex}.pdf"
        obstore.put(self.store, key, path.read_bytes(), attributes={"Content-Type": "application/pdf"})
        return key

    @cached_property
    def store(self) -> Any:
        from obstore.store import S3Store

        names = self.s3.environment()
        return S3Store(
            self.s3.bucket,
            endpoint=self.s3.url,
            client_options={"allow_http": True},
            access_key_id=names["AWS_ACCESS_KEY_ID"],
            secret_access_key=names["AWS_SECRET_ACCESS_KEY"],
            region="us-east-1",
        )

    def event(self, key: str) -> bytes:
        payload = {"material_id": uuid.uuid4().hex, "file_url": f"s3://{self.s3.bucket}/{key}"}
        said = {"event_id": uuid.uuid4().hex, "event_type": "material_uploaded", "payload": payload}
        return json.dumps(said).encode()

    async def publish(self, key: str, count: int) -> None:
        import aiormq

        connection = await aiormq.connect(self.broker)
        channel = await connection.channel()
        await channel.queue_declare(QUEUE, durable=True)
        for _ in range(count):
            await channel.basic_publish(self.event(key), routing_key=QUEUE)
        await connection.close()

    def done(self) -> int:
        from tests.processes import query_postgres

        return int(asyncio.run(query_postgres(self.database, DONE))[0][0])

    def stages(self) -> dict[str, float]:
        """Milliseconds, medians: of each stage while it was worked on; from the request to its end."""
        from tests.processes import query_postgres

        stages = asyncio.run(query_postgres(self.database, STAGES))
        return {row["stage"]: float(row["ms"]) for row in stages}


# --- the model --------------------------------------------------------------------------------------------


def _serve(port: Any, seconds: float) -> None:
    from tests.model_server import Model

    model = Model()
    model.seconds = seconds
    port.value = model.server.server_port
    time.sleep(86_400)


class _model:  # noqa: N801 # a context manager that reads like a function
    """In a process of its own: it takes nothing of the interpreter that is measured."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def __enter__(self) -> str:
        context = multiprocessing.get_context("spawn")
        port = context.Value("i", 0)
        self.process = context.Process(target=_serve, args=(port, self.seconds), daemon=True)
        self.process.start()
        while not port.value:
            time.sleep(0.05)
        return f"http://127.0.0.1:{port.value}/v1"

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.join()


# --- docproc ----------------------------------------------------------------------------------------------


class _Worker:
    """A process: the material worker, or the component that is named."""

    def __init__(self, place: _Place, component: str = "", **more: str) -> None:
        from bench.servers import _free_ports

        environment = {**place.environment, **more, "DOCPROC_HEALTH_PORT": str(_free_ports(1)[0])}
        if component:
            environment["DOCPROC_COMPONENT_NAME"] = component
        self.log = (place.folder / "worker.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "docproc", *([] if component else ["material", "worker"])],
            env=environment,
            cwd=place.folder,
            stderr=self.log,
        )

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)
        self.log.close()

    def memory_mb(self) -> float:
        """Of the process and its children, what is theirs alone and their share of the rest."""
        total = 0
        for process in (psutil.Process(self.process.pid), *psutil.Process(self.process.pid).children(True)):
            try:
                total += process.memory_full_info().pss
            except psutil.Error:
                continue
        return total / 1024**2


def _worked(place: _Place, key: str, count: int) -> float:
    """Materials a second, once the first few are through."""
    worker = _Worker(place)
    try:
        return asyncio.run(_timed(place, key, count))
    finally:
        worker.stop()


async def _timed(place: _Place, key: str, count: int) -> float:
    """Looked at on one connection and not too often: looking must not take what is measured."""
    import asyncpg

    database = await asyncpg.connect(place.database)
    done = int(await database.fetchval(DONE))

    async def until(number: int) -> None:
        async with asyncio.timeout(240):
            while int(await database.fetchval(DONE)) < number:
                await asyncio.sleep(LOOK_SECONDS)

    await place.publish(key, WARM)
    await until(done + WARM)
    began = time.monotonic()
    await place.publish(key, count)
    await until(done + WARM + count)
    seconds = time.monotonic() - began
    await database.close()
    return count / seconds


def _posted(place: _Place, count: int) -> float:
    """Materials a second by POST /materials, AT_ONCE of them under way: an API and a worker."""
    from bench.servers import _free_ports

    [port] = _free_ports(1)
    # Without a broker there is no door: what is posted goes straight to the stages.
    api = _Worker(place, "api_gateway", DOCPROC_API_PORT=str(port), DOCPROC_HOST="127.0.0.1")
    worker = _Worker(place, DOCPROC_MATERIALS_RABBITMQ_URL="", DOCPROC_PREFETCH_COUNT=str(AT_ONCE))
    try:
        return asyncio.run(
            _post_all(f"http://127.0.0.1:{port}", (place.folder / "book.pdf").read_bytes(), count)
        )
    finally:
        worker.stop()
        api.stop()


async def _post_all(url: str, book: bytes, count: int) -> float:
    import httpx

    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        free = asyncio.Semaphore(AT_ONCE)

        async def one() -> None:
            async with free:
                fields = {"material_id": uuid.uuid4().hex}
                # Another file each: the same one again would be the same request.
                file = {"file": ("book.pdf", book + f"\n% {uuid.uuid4().hex}\n".encode())}
                answer = await client.post("/materials", files=file, data=fields)
                answer.raise_for_status()
                while (await client.get(f"/materials/{fields['material_id']}")).status_code != 200:
                    await asyncio.sleep(0.02)

        async with asyncio.timeout(240):
            while True:
                try:
                    if (await client.get("/health")).status_code == 200:
                        break
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.1)
            await asyncio.gather(*(one() for _ in range(WARM)))
            began = time.monotonic()
            await asyncio.gather(*(one() for _ in range(count)))
            return count / (time.monotonic() - began)


def _peak_mb(place: _Place, pages: int) -> float:
    key = place.upload(pages)
    worker = _Worker(place)
    try:
        before = place.done()
        asyncio.run(place.publish(key, 1))
        peak = 0.0
        while place.done() == before:
            peak = max(peak, worker.memory_mb())
            time.sleep(0.2)
        return peak
    finally:
        worker.stop()
