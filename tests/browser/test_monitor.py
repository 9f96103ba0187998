"""The monitor in a real browser: every page in two languages and three sizes, by keyboard, up to date."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright
from sqlalchemy import insert

from bench.servers import _free_ports
from docproc.alerts import history, store
from docproc.alerts.evaluation import Fired
from docproc.alerts.latency import bucket_of
from docproc.alerts.rules import Above, Level, Rule
from docproc.alerts.samples import Sample
from docproc.app import open_database
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store.tables import DeadLetter, Request, Worker
from docproc.settings import Settings
from tests.processes import Processes, Service, until

# Its services are started once, so its tests stay in one process.
pytestmark = pytest.mark.xdist_group("browser")

CHROMIUM = Path(os.environ.get("TEST_CHROMIUM", "/usr/bin/chromium"))
SLOW = Rule("service_slow", "service.latency", ("service",), Above(2), Level.MEDIUM, "watch_closely")
LONG = Rule("manual_queue_long", "tasks.open", ("type",), Above(50), Level.MEDIUM)
URGENT = Rule("people_short", "operators.missing", ("type",), Above(0), Level.HIGH)
OURS = {"application": "documents"}
SERVICE = {"service": "agent-execution"}
SAMPLES = [
    Sample("service.latency", 2.5, SERVICE),
    Sample("service.availability", 0.97, SERVICE),
    Sample("retry.count", 4, SERVICE),
    Sample("circuit_breaker.state", 1.0, {**SERVICE, "endpoint": "primary"}),
    Sample("circuit_breaker.state", 0.0, {**SERVICE, "endpoint": "secondary"}),
    Sample("queue.depth", 7, {"application": "orchestrator", "queue": "agent:execution"}),
    Sample("queue.depth", 14, {**OURS, "queue": "q.ocr"}),
    Sample("queue.age", 75, {**OURS, "queue": "q.ocr"}),
    Sample("queue.depth", 3, {"tenant": "acme"}),
    Sample("message.error_rate", 0.02, {"tenant": "acme"}),
    Sample("operators.missing", 2, {"type": "extraction"}),
    Sample("operators.present", 2, {}),
    Sample("operators.present", 1, {"type": "extraction"}),
    Sample("operators.present", 2, {"type": "classification"}),
    Sample("tasks.open", 4, {"type": "extraction"}),
    Sample("tasks.open", 3, {"type": "classification"}),
    Sample("tasks.urgent", 3, {"type": "extraction"}),
    Sample("tasks.oldest", 312, {"type": "extraction"}),
    Sample("requests.open", 9, OURS),
    Sample("requests.at_risk", 1, OURS),
    Sample("dead_letters.open", 1, {}),
    Sample("disk.free", 0.62, {"place": "files"}),
]
# Stage, component, units a minute, seconds each, share asked: a day at an office.
STAGES = (
    ("split", "splitter", 12, 0.3, 0.0),
    ("ocr", "ocr", 57, 1.2, 0.0),
    ("classify", "classifier", 56, 0.09, 0.07),
    ("classification_aggregation", "classification_aggregator", 12, 0.05, 0.02),
    ("extract", "extractor", 21, 0.6, 0.12),
    ("extraction_aggregation", "extraction_aggregator", 12, 0.01, 0.0),
    ("consolidate", "consolidator", 12, 0.02, 0.0),
)
TYPES = (("invoice", 24, 0.05), ("receipt", 18, 0.11), ("payslip", 9, 0.02), ("contract", 5, 0.24))
PICTURES = Path(os.environ.get("TEST_SCREENSHOTS", Path(__file__).parents[2] / "build" / "screenshots"))
SIZES = {"desk": (1366, 768), "tablet": (1024, 768), "phone": (390, 844)}


def counted(busy: float) -> Iterator[Sample]:
    """What a minute brings, at a pace."""
    for stage, component, units, seconds, asked in STAGES:
        labels = {"stage": stage, "component": component}
        number = max(1, round(units * busy))
        yield Sample("stage.handled", number, labels)
        yield Sample("stage.seconds", number * seconds, labels)
        yield Sample("stage.asked", round(number * asked), labels)
        for factor, share in ((0.7, 0.6), (1.2, 0.3), (2.5, 0.08), (4.0, 0.02)):
            bucket = str(bucket_of(seconds * factor))
            yield Sample("stage.bucket", number * share, {"stage": stage, "bucket": bucket})
    for kind, units, asked in TYPES:
        labels = {"stage": "classify", "type": kind}
        yield Sample("stage.handled", units * busy, labels)
        yield Sample("stage.asked", units * busy * asked, labels)
    requests = {"received": 12, "ended": 12, "late": 0.04, "straight_through": 10.8, "failed": 0.02}
    for name, each in requests.items():
        yield Sample(f"requests.{name}", each * busy, OURS)
    for seconds, share in ((3.0, 0.7), (6.0, 0.25), (15.0, 0.05)):
        yield Sample("requests.bucket", 12 * busy * share, {**OURS, "bucket": str(bucket_of(seconds))})
    yield Sample("tasks.answered", 3 * busy, {"type": "extraction"})
    yield Sample("tasks.answer_seconds", 3 * busy * 41, {"type": "extraction"})


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    found = Processes(tmp_path_factory.mktemp("monitor"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def address(processes: Processes) -> str:
    """A gateway that measures nothing itself, with an hour of history."""
    assert processes.run("db", "upgrade").code == 0
    aside(_fill(processes.settings))
    port = _free_ports(1)[0]
    gateway = processes.start(COMPONENT_NAME="api_gateway", API_PORT=port, ALERTS="off")
    api = Service(gateway.process, gateway.log, port)
    until(lambda: api.status("/ready") == 200, "the gateway answers")
    return f"http://127.0.0.1:{port}"


def aside(job: Coroutine[Any, Any, None]) -> None:
    """In a thread of its own: the browser's driver has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, job).result()


async def _fill(settings: Settings) -> None:
    async with open_database(settings) as app, app.store.writing() as session:
        now = utc_now()
        for minutes in range(60, -1, -1):
            await history.record(
                session, [*SAMPLES, *counted(_pace(now, minutes))], now - timedelta(minutes=minutes)
            )
        for week in (0, 7):
            for hours in range(24, 1, -1):
                samples = [
                    *SAMPLES,
                    *(_hour(one) for one in counted(_pace(now, 60 * hours) * (1 - week / 40))),
                ]
                await history.record(session, samples, now - timedelta(days=week, hours=hours))
        assert await store.fire(session, Fired(SLOW, SAMPLES[0], 2.0), now - timedelta(minutes=9))
        short = next(one for one in SAMPLES if one.metric == "operators.missing")
        assert await store.fire(session, Fired(URGENT, short, 0.0), now - timedelta(minutes=4))
        old = await store.fire(
            session,
            Fired(LONG, Sample("tasks.open", 61, {"type": "classification"}), 50.0),
            now - timedelta(hours=3),
        )
        assert old and await store.resolve(session, old, now - timedelta(hours=2))
        for name, cpu, memory in (
            ("ocr", 96.0, 812.0),
            ("classifier,extractor", 41.0, 655.0),
            ("splitter", 3.0, 120.0),
        ):
            row = {
                "id": name,
                "host": "machine-1",
                "pid": 4000 + len(name),
                "components": name,
                "is_ready": True,
            }
            moments = {
                "started_at": now,
                "beat_at": now + timedelta(hours=1),
                "cpu_pct": cpu,
                "memory_mb": memory,
            }
            await session.execute(insert(Worker).values({**row, **moments}))
    await _letters(settings)


async def _letters(settings: Settings) -> None:
    async with open_database(settings) as app, app.store.writing() as session:
        for number in range(2):
            message = PipelineMessage(request_id=uuid4(), current_stage="ocr", unit_key=f"page:{number}")
            request = {
                "id": message.request_id,
                "workflow_name": "default",
                "status": "failed",
                "metadata_": {},
            }
            await session.execute(insert(Request).values(request))
            reason = "the page cannot be read: the image ends in the middle. Ask the sender for the file"
            letter = {
                "id": uuid4(),
                "queue": "q.ocr",
                "stage": "ocr",
                "unit_key": f"page:{number}",
                "attempts": 4,
            }
            whole = {
                "reason": reason,
                "history": [],
                "body": message.encode(),
                "request_id": message.request_id,
            }
            await session.execute(insert(DeadLetter).values({**letter, **whole}))


def _pace(now: datetime, minutes: int) -> float:
    """Quiet at night, busiest at noon, never quite the same."""
    hour = ((now - timedelta(minutes=minutes)).hour + now.minute / 60) % 24
    return 0.15 + max(0.0, 1 - abs(hour - 12.5) / 8) * (0.9 + 0.2 * math.sin(minutes))


def _hour(sample: Sample) -> Sample:
    return replace(sample, value=sample.value * 60)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        missing = f"no browser at {CHROMIUM} (install Debian's chromium, or set TEST_CHROMIUM)"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    yield opened
    context.close()
    assert complaints == []


VIEWS = {
    "": ("Overview", "Resumen"),
    "/alerts": ("Alerts", "Avisos"),
    "/dead-letters": ("Dead letters", "Mensajes fallidos"),
    "/services": ("Services", "Servicios"),
    "/queues": ("Queues", "Colas"),
    "/tenants": ("Tenants", "Inquilinos"),
}


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_there_for_everybody(page: Page, address: str, view: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    for (size, (width, height)), language, theme in zip(
        SIZES.items(), ("en", "es", "es"), ("dark", "light", "light"), strict=True
    ):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{address}/monitor{view}?lang={language}&theme={theme}")
        expect(page.locator(".tabs a[aria-current]")).to_have_text(VIEWS[view][language == "es"])
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        # Only tables and the flow scroll sideways, never the page.
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.screenshot(
            path=PICTURES / f"monitor{view.replace('/', '-')}-{size}-{language}.png", full_page=True
        )


def test_the_first_page_tells_the_axes(page: Page, address: str) -> None:
    page.goto(f"{address}/monitor?lang=es&time=hour")
    cards = page.locator(".kpi")
    expect(cards).to_have_count(7)
    expect(cards.first).to_contain_text("páginas por hora")
    expect(cards.filter(has_text="sin intervención")).to_contain_text("90 %")
    expect(page.get_by_role("row", name="leer")).to_contain_text("1,2 s")
    expect(page.get_by_role("row", name="Factura", exact=False).first).to_contain_text("classify")
    flow = page.locator("svg.flow")
    expect(flow.locator(".stage")).to_have_count(7)
    expect(flow.locator(".stage").nth(1)).to_contain_text("cola 14")
    expect(flow.locator(".people")).to_contain_text("7 abiertas · 2 presentes")
    expect(page.locator("#content")).to_contain_text("ocr")
    expect(page.get_by_role("link", name="Avisos abiertos: 2")).to_be_visible()


def test_the_monitor_is_used_by_keyboard(page: Page, address: str) -> None:
    page.goto(f"{address}/monitor?lang=en")
    link = page.get_by_role("link", name="Dead letters", exact=True)
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".letter")).to_have_count(2)
    page.locator("#content").focus()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.do") == "discard":
            break
    page.on("dialog", lambda dialog: dialog.accept())
    page.keyboard.press("Enter")
    expect(page.locator(".letter")).to_have_count(1)
    expect(page.locator("#said")).to_have_text("set aside")
    page.get_by_role("button", name="Send again").focus()
    page.keyboard.press("Space")
    expect(page.locator(".letter")).to_have_count(0)
    page.reload()
    expect(page.locator("#monitor")).to_contain_text("No message waits for a decision.")


def test_a_service_is_told_by_its_numbers_and_alerts(page: Page, address: str) -> None:
    page.goto(f"{address}/monitor/services?lang=es")
    line = page.get_by_role("row", name="agent-execution").last
    expect(line).to_contain_text("97,0 %")
    expect(line).to_contain_text("2,5 s")
    expect(line).to_contain_text("abierto")
    assert line.locator("svg").count() == 4
    alert = page.get_by_role("row", name="Un servicio va lento")
    expect(alert).to_contain_text("Medio")
    expect(alert).to_contain_text("se vigila más de cerca")


def test_the_page_renews_itself(page: Page, address: str, processes: Processes) -> None:
    page.goto(f"{address}/monitor/alerts?lang=en")
    expect(page.locator(".alert")).to_have_count(2)
    aside(_resolve(processes.settings))
    expect(page.locator(".alert")).to_have_count(0, timeout=15_000)


async def _resolve(settings: Settings) -> None:
    async with open_database(settings) as app, app.store.writing() as session:
        for alert in await store.opened(session):
            assert await store.resolve(session, alert, utc_now())
