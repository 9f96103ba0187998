"""The monitor's pages beside a million requests: how long each takes to answer, and a look of the watcher.

    python bench/monitor.py [--requests 1000000] [--rounds 40] [--quick] [--json] [--only sqlite|postgresql]

The table of requests is filled with ended requests of the last five weeks (SQLite: a tenth of them), each
with seven events, every tenth with a task; beside them a day of history by minute and five weeks by hour, as
the watcher keeps it. The pages are asked for through the whole application, in this process, one by one.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx

from bench.fanout import Findings, percentile, say
from docproc import logs
from docproc.alerts import axes, history, people_metrics, request_metrics, situation, stage_metrics
from docproc.alerts.samples import Sample
from docproc.alerts.tables import MetricRow
from docproc.alerts.watcher import Watcher
from docproc.app import App
from docproc.console.servers import gateway
from docproc.engine.message import utc_now
from docproc.engine.store import migrate, rows
from docproc.engine.store.session import Store
from docproc.settings import Settings
from tests import services

PAGES = (
    "/monitor?time=hour",
    "/monitor?time=day",
    "/monitor?time=week",
    "/monitor/alerts",
    "/monitor/dead-letters",
    "/monitor/queues",
    "/monitor/tenants",
    "/monitor/prometheus",
)
STAGES = (
    "split",
    "ocr",
    "classify",
    "classification_aggregation",
    "extract",
    "extraction_aggregation",
    "consolidate",
)
TENANTS = 20

# Both databases count from 1 and make an id of the number.
NUMBERS = {
    "postgresql": "FROM generate_series(1, :number) AS n",
    "sqlite": "FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < :number) "
    "SELECT n FROM c)",
}
IDS = {
    "postgresql": "CAST(lpad(to_hex(n), 8, '0') || '-0000-4000-8000-000000000000' AS uuid)",
    "sqlite": "printf('%08x-0000-4000-8000-000000000000', n)",
}
MOMENTS = {  # :seconds before now, and so much later
    "postgresql": "CAST(:now AS timestamptz) + ({later} - n % :seconds) * interval '1 second'",
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f000', :now, ({later} - n % :seconds) || ' seconds')",
}
REQUESTS = """
INSERT INTO requests (id, tenant_id, channel, workflow_name, status, priority, sla_seconds, band,
    answer_version, result_generation, metadata, created_at, updated_at, deadline_utc, completed_at)
SELECT {id}, 'default', 'api', 'default', CASE WHEN n % 100 = 0 THEN 'sla_breached' ELSE 'completed' END,
    5, 60, 5, 1, 1, '{{}}', {created}, {ended}, {deadline}, {ended} {numbers}
"""
EVENTS = """
INSERT INTO events (request_id, tenant_id, kind, stage, unit_key, attempt, outcome, started_at, finished_at,
    busy_seconds)
SELECT {id}, 'default', 'handled', :stage, 'page:0', 1, 'done', {created}, {ended}, 0.5 {numbers}
"""
TASKS = """
INSERT INTO backoffice_tasks (id, tenant_id, request_id, task_type, status, priority, required_skills,
    needs_role, created_at, completed_at)
SELECT {id}, 'default', {id}, 'classification', 'completed', 5, {none}, 'operator', {created}, {ended}
{numbers} WHERE n % 10 = 0
"""


async def fill(app: App, number: int) -> None:
    dialect = app.store.dialect
    moments = MOMENTS[dialect]
    parts = {
        "id": IDS[dialect], "numbers": NUMBERS[dialect], "created": moments.format(later=0),
        "ended": moments.format(later=4), "deadline": moments.format(later=60),
        "none": "'{}'" if dialect == "postgresql" else "'[]'",
    }  # fmt: skip
    values = {"number": number, "seconds": 35 * 86_400, "now": utc_now()}
    async with app.store.writing() as session:
        await rows.execute(session, REQUESTS.format(**parts), **values)
        for stage in STAGES:
            say(f"{dialect}: events of {stage}")
            await rows.execute(session, EVENTS.format(**parts), **values, stage=stage)
        await rows.execute(session, TASKS.format(**parts), **values)
    await remember(app)
    if dialect == "postgresql":
        async with app.store.writing() as session:
            await rows.execute(session, "ANALYZE")


async def remember(app: App) -> None:
    """What the watcher would have kept: a day by minute, five weeks by hour."""
    now = utc_now().replace(second=0, microsecond=0)
    moments = [(history.MINUTE, now - timedelta(minutes=one)) for one in range(26 * 60)]
    moments += [(history.HOUR, now.replace(minute=0) - timedelta(hours=one)) for one in range(36 * 24)]
    series = list(measured())
    async with app.store.writing() as session:
        for begin in range(0, len(moments), 100):
            made = [kept(one, *moment) for moment in moments[begin : begin + 100] for one in series]
            await rows.insert(session, MetricRow.__table__, made)  # type: ignore[arg-type] # is a Table
            say(f"history: {begin + 100} of {len(moments)} moments, {len(series)} series")


def kept(sample: Sample, resolution: str, at: datetime) -> dict[str, object]:
    value = sample.value * (60 if resolution == history.HOUR else 1)
    names = ("total", "least", "most", "latest")
    return {
        "metric": sample.metric, "series": sample.series, "resolution": resolution, "at": at, "samples": 4,
        "counted": 4, **dict.fromkeys(names, float(value)), "latest_at": at, "tenant_id": sample.tenant_id,
    }  # fmt: skip


def measured() -> Iterator[Sample]:
    """The series of a deployment with documents and twenty tenants."""
    for stage in STAGES:
        labels = {"stage": stage, "component": stage}
        yield from (Sample(metric, 60, labels) for metric in (stage_metrics.HANDLED, stage_metrics.SECONDS))
        yield Sample(stage_metrics.ASKED, 3, labels)
        yield from (
            Sample(stage_metrics.BUCKET, 6, {"stage": stage, "bucket": str(one)}) for one in range(24, 34)
        )
        for kind in ("invoice", "receipt", "payslip", "contract", "other"):
            yield Sample(stage_metrics.HANDLED, 12, {"stage": stage, "type": kind})
    ours = {"application": "documents"}
    for metric in (metric for metric in axes.METRICS if metric.startswith("requests.")):
        yield Sample(metric, 20, ours | ({"bucket": "33"} if metric == request_metrics.BUCKET else {}))
    for metric in situation.NOW:
        by = {"queue": [f"q.{stage}" for stage in STAGES], "tasks": ["classification", "extraction"]}
        for name in by.get(metric.partition(".")[0], [""]):
            label = "queue" if metric.startswith("queue") else "type" if metric.startswith("tasks") else ""
            extra = ours if label in ("queue", "") and not metric.startswith(("disk", "dead")) else {}
            place = {"place": "files"} if metric.startswith("disk") else {}
            yield Sample(metric, 3, {**extra, **place, **({label: name} if label else {})})
    yield Sample(people_metrics.PRESENT, 2, {})
    for number in range(TENANTS):
        for metric in ("queue.depth", "system.throughput", "message.processing_time", "message.error_rate"):
            yield Sample(metric, 1, {"tenant": f"tenant-{number}"})


async def ask(app: App, name: str, rounds: int, findings: Findings) -> None:
    transport = httpx.ASGITransport(gateway(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
        worst = 0.0
        for path in PAGES:
            times = []
            for turn in range(rounds + 2):
                began = time.perf_counter()
                answer = await client.get(path)
                if answer.status_code != 200:
                    raise SystemExit(f"{path} answered {answer.status_code}: {answer.text[:300]}")
                if turn >= 2:  # the first ones compile templates and statements
                    times.append(time.perf_counter() - began)
            findings.add(f"{name} {path}", "p95_ms", 1000 * percentile(times, 0.95), "ms")
            worst = max(worst, percentile(times, 0.95))
        findings.add(f"{name} slowest page", "p95_ms", 1000 * worst, "ms")


async def watch(app: App, name: str, rounds: int, findings: Findings) -> None:
    watcher = Watcher(app)
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        await watcher.look()
        times.append(time.perf_counter() - began)
    findings.add(f"{name} look of the watcher", "p50_ms", 1000 * percentile(times[1:], 0.5), "ms")


async def measure(url: str, name: str, number: int, rounds: int, findings: Findings) -> None:
    with tempfile.TemporaryDirectory(prefix="docproc-bench-") as folder:
        given = {"home": folder, "storage_path": f"{folder}/files", **({"database_url": url} if url else {})}
        settings = Settings.load(_env_file=None, **given, warm_up=False, log_level="error")
        logs.configure(settings)
        app = App(settings)
        try:
            store = Store(settings.effective_database_url)
            await migrate.upgrade(store, app.applications.migrations)
            await store.close()
            began = time.perf_counter()
            await fill(app, number)
            findings.add(name, "filling_s", time.perf_counter() - began, "s")
            findings.add(name, "requests", number, "")
            gc.collect()  # what filling left behind is not the pages' to sweep
            gc.freeze()
            await ask(app, name, rounds, findings)
            await watch(app, name, 5, findings)
        finally:
            await app.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=1_000_000, help="on PostgreSQL; on SQLite a tenth")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--quick", action="store_true", help="under a minute: 20 000 requests")
    parser.add_argument("--only", choices=("sqlite", "postgresql"))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    if given.quick:
        given.requests, given.rounds = 20_000, 20
    findings = Findings()
    for name in ("postgresql", "sqlite"):
        if given.only not in (None, name):
            continue
        number = given.requests if name == "postgresql" else given.requests // 10
        way = services.postgres_database() if name == "postgresql" else contextlib.nullcontext("")
        with way as url:
            asyncio.run(measure(url, name, number, given.rounds, findings))
    if given.json:
        print(json.dumps({k: getattr(findings, k) for k in ("results", "ratios", "skipped")}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
