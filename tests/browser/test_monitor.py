"""The monitor in a real browser: four views, two languages, and the page keeps itself up to date."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from bench.servers import _free_ports
from docproc.alerts import history, store
from docproc.alerts.evaluation import Fired
from docproc.alerts.rules import Above, Level, Rule
from docproc.alerts.samples import Sample
from docproc.app import open_database
from docproc.engine.message import utc_now
from docproc.settings import Settings
from tests.processes import Processes, Service, until

# Its services are started once, so its tests stay in one process.
pytestmark = pytest.mark.xdist_group("browser")

CHROMIUM = Path(os.environ.get("TEST_CHROMIUM", "/usr/bin/chromium"))
SLOW = Rule("service_slow", "service.latency", ("service",), Above(2), Level.MEDIUM, "watch_closely")
SAMPLES = [
    Sample("service.latency", 2.5, {"service": "agent-execution"}),
    Sample("service.availability", 0.97, {"service": "agent-execution"}),
    Sample("retry.count", 4, {"service": "agent-execution"}),
    Sample("circuit_breaker.state", 1.0, {"service": "agent-execution", "endpoint": "primary"}),
    Sample("circuit_breaker.state", 0.0, {"service": "agent-execution", "endpoint": "secondary"}),
    Sample("queue.depth", 7, {"application": "orchestrator", "queue": "agent:execution"}),
    Sample("queue.depth", 3, {"tenant": "acme"}),
    Sample("message.error_rate", 0.02, {"tenant": "acme"}),
]


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
        for minutes in range(30, -1, -1):
            await history.record(session, SAMPLES, now - timedelta(minutes=minutes))
        assert await store.fire(session, Fired(SLOW, SAMPLES[0], 2.0), now)


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
    "": ("General", "General"),
    "/services": ("Services", "Servicios"),
    "/queues": ("Queues", "Colas"),
    "/tenants": ("Tenants", "Inquilinos"),
}


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_there_for_everybody(page: Page, address: str, view: str) -> None:
    for language, title in zip(("en", "es"), VIEWS[view], strict=True):
        for theme in ("light", "dark"):
            page.goto(f"{address}/monitor{view}?lang={language}&theme={theme}")
            expect(page.locator(".tabs a[aria-current]")).to_have_text(title)
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()


def test_a_service_is_told_by_its_numbers_and_alerts(page: Page, address: str) -> None:
    page.goto(f"{address}/monitor/services?lang=es")
    line = page.get_by_role("row", name="agent-execution").last
    expect(line).to_contain_text("97.0 %")
    expect(line).to_contain_text("2.5 s")
    expect(line).to_contain_text("abierto")
    assert line.locator("svg").count() == 4
    alert = page.get_by_role("row", name="service_slow")
    expect(alert).to_contain_text("Medio")
    expect(alert).to_contain_text("watch_closely")


def test_the_page_renews_itself(page: Page, address: str, processes: Processes) -> None:
    page.goto(f"{address}/monitor?lang=en")
    expect(page.get_by_role("row", name="service_slow")).to_be_visible()
    aside(_resolve(processes.settings))
    expect(page.locator("#monitor")).to_contain_text("There are no open alerts.", timeout=15_000)


async def _resolve(settings: Settings) -> None:
    async with open_database(settings) as app, app.store.writing() as session:
        [alert] = await store.opened(session)
        assert await store.resolve(session, alert, utc_now())
