"""The monitor measures what really happened: axes and resources, and its pages over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import insert, select

from docproc.alerts import activity, axes, history
from docproc.alerts.samples import Sample
from docproc.app import App
from docproc.console.servers import gateway
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import tasks
from docproc.engine.store.tables import DeadLetter, Event, Request, Worker
from docproc.engine.store.task_tables import BackofficeTask
from docproc.settings import Settings
from tests import schema


@pytest.fixture
async def app(tmp_path: Path, database_url: str) -> AsyncIterator[App]:
    given: dict[str, Any] = {
        "database_url": database_url,
        "home": tmp_path,
        "storage_path": tmp_path / "files",
    }
    found = App(Settings.load(_env_file=None, **given))
    await schema.upgrade(found.store)
    yield found
    await found.close()


async def measured(app: App) -> list[Sample]:
    """One look of the watcher, and its samples in the history."""
    now = utc_now()
    async with app.store.reading() as session:
        samples = await activity.measure(app, session, now - timedelta(minutes=1))
    async with app.store.writing() as session:
        await history.record(session, samples, now)
    return samples


async def work(app: App, pages: int, asked: int) -> None:
    """A request of so many pages, of which a person is asked about some; it ends in time."""
    request, now = uuid4(), utc_now()
    row = {
        "id": request, "workflow_name": "default", "status": "completed", "sla_seconds": 60, "metadata_": {},
        "created_at": now, "updated_at": now, "completed_at": now,
        "deadline_utc": now + timedelta(seconds=55),
    }  # fmt: skip
    common = {"request_id": request, "kind": "handled", "outcome": "done", "finished_at": now}
    async with app.store.writing() as session:
        await session.execute(insert(Request).values(row))
        for page in range(pages):
            message = PipelineMessage(request_id=request, current_stage="classify", unit_key=f"page:{page}")
            if page < asked:
                await tasks.create(
                    session, message, task_type="classification", reference_id=uuid4(), input_data={}
                )
            for stage, seconds, found in (("ocr", 2.0, None), ("classify", 0.5, {"type": "invoice"})):
                began = now - timedelta(seconds=seconds)
                event = {"stage": stage, "unit_key": f"page:{page}", "started_at": began, "data": found}
                await session.execute(insert(Event).values({**common, **event}))
        ended = {"request_id": request, "kind": "status", "outcome": "completed"}
        await session.execute(insert(Event).values({**ended, "started_at": now, "finished_at": now}))


async def test_axes_count_everything_once(app: App) -> None:
    assert all("stage" not in one.labels for one in await measured(app))
    await work(app, pages=20, asked=5)
    await work(app, pages=10, asked=0)
    for _ in range(4):  # more looks must not count more
        await measured(app)
    async with app.store.reading() as session:
        sums = await history.totals(session, utc_now() - timedelta(minutes=5), axes.METRICS)
    stages = {one.stage: one for one in axes.stages(sums, 1)}
    assert (stages["ocr"].handled, stages["ocr"].component) == (30, "ocr")
    assert stages["ocr"].mean == pytest.approx(2.0, abs=0.01)
    assert stages["ocr"].p95 == pytest.approx(2.0, rel=0.25)
    assert stages["classify"].asked_share == pytest.approx(5 / 30)
    assert [(one.stage, one.type, one.handled, one.asked) for one in axes.types(sums)] == [
        ("classify", "invoice", 30, 5)
    ]
    [documents] = axes.requests(sums)
    assert (documents.application, documents.received, documents.ended) == ("documents", 2, 2)
    assert (documents.in_time_share, documents.straight_share) == (1.0, 0.5)


async def test_workers_are_told_with_what_they_use(app: App) -> None:
    now = utc_now()
    row = {
        "id": "one", "host": "here", "pid": 1, "components": "ocr", "is_ready": True, "started_at": now,
        "beat_at": now, "cpu_pct": 150.0, "memory_mb": 512.0,
    }  # fmt: skip
    async with app.store.writing() as session:
        await session.execute(insert(Worker).values(row))
        await session.execute(insert(Worker).values({**row, "id": "two", "pid": 2}))
        dead = {**row, "id": "dead", "pid": 3, "beat_at": now - timedelta(minutes=1)}
        await session.execute(insert(Worker).values(dead))
    found = {(one.metric, one.series): one.value for one in await measured(app)}
    assert found["workers.active", "component=ocr"] == 2
    assert found["workers.cpu", "component=ocr"] == 3.0
    assert found["workers.memory", "component=ocr"] == 1024 * 2**20


# --- pages


@pytest.fixture
async def client(app: App) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(gateway(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as found:
        yield found


async def test_first_page_and_prometheus_tell_the_axes(app: App, client: httpx.AsyncClient) -> None:
    await measured(app)
    await work(app, pages=20, asked=5)
    for _ in range(3):
        await measured(app)
    for time in ("hour", "day", "week"):
        page = (await client.get(f"/monitor?time={time}&lang=es")).text
        assert "clasificar" in page and "25&nbsp;%" in page.replace("\u00a0", "&nbsp;")
    told = (await client.get("/monitor/prometheus")).text
    assert 'docproc_stage_asked_ratio{component="classifier",stage="classify",type=""} 0.25' in told
    assert 'docproc_stage_latency_seconds{component="ocr",stage="ocr",statistic="p99"}' in told
    assert 'docproc_straight_through_ratio{application="documents"} 0.0' in told
    assert "docproc_stage_bucket" not in told
    rules = (await client.get("/monitor/prometheus-rules")).text
    assert "alert: DocProc_people_short" in rules


async def letter(app: App, **more: Any) -> str:
    message = PipelineMessage(request_id=uuid4(), current_stage="ocr", unit_key="page:0")
    row = {
        "id": uuid4(), "queue": "q.ocr", "stage": "ocr", "reason": "no such page", "attempts": 4,
        "history": [], "body": message.encode(),
    }  # fmt: skip
    async with app.store.writing() as session:
        request = {"id": message.request_id, "workflow_name": "default", "status": "failed", "metadata_": {}}
        await session.execute(insert(Request).values(request))
        await session.execute(insert(DeadLetter).values({**row, "request_id": message.request_id, **more}))
    return str(row["id"])


async def test_dead_letters_are_sent_again_or_set_aside_once(app: App, client: httpx.AsyncClient) -> None:
    first, second = await letter(app), await letter(app)
    page = (await client.get("/monitor/dead-letters?lang=en")).text
    assert first in page and "no such page" in page
    answer = await client.post(f"/dead-letters/{first}/replay")
    assert answer.status_code == 200
    again = await client.post(f"/dead-letters/{first}/replay")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "conflict")
    assert (await client.post(f"/dead-letters/{second}/discard")).status_code == 200
    found = (await client.get("/dead-letters?everything=true")).json()
    assert found["open"] == 0
    settled = {one["id"]: one["replayed_as"] for one in found["dead_letters"]}
    assert settled == {first: answer.json()["replayed_as"], second: None}
    assert (await client.post(f"/dead-letters/{uuid4()}/discard")).status_code == 404


async def test_bytes_that_are_no_message_cannot_be_sent_again(app: App, client: httpx.AsyncClient) -> None:
    unreadable = await letter(app, body=b"\xff\x00 no message")
    answer = await client.post(f"/dead-letters/{unreadable}/replay")
    assert answer.status_code == 409
    async with app.store.reading() as session:
        assert await session.scalar(select(DeadLetter.settled_at)) is None
        assert (await session.scalars(select(BackofficeTask.id))).all() == []
    assert json.loads(answer.text)["error"]["remedy"]
