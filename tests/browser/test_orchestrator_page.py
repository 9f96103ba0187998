"""The demo page of the orchestrator in a real browser: a task submitted, its plan and events live."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, async_playwright, expect

from bench.servers import _free_ports
from docproc.console.servers import gateway
from docproc.http.server import serve
from tests.browser.test_station import CHROMIUM
from tests.harness import Harness, opened, settings_for
from tests.orchestration import COMPONENTS

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[str]:
    async with opened(settings_for(tmp_path)) as harness:
        stopping, (port,) = asyncio.Event(), _free_ports(1)
        serving = asyncio.create_task(
            serve(harness.app, stopping, host="127.0.0.1", port=port, create=gateway)
        )
        await _workers(harness)
        yield f"http://127.0.0.1:{port}"
        stopping.set()
        await serving


async def _workers(harness: Harness) -> None:
    await harness.start(*COMPONENTS)


@pytest.fixture
async def page(address: str) -> AsyncIterator[Page]:
    if not CHROMIUM.exists():
        missing = f"no browser at {CHROMIUM} (install Debian's chromium, or set TEST_CHROMIUM)"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield await browser.new_page(base_url=address, locale="en")
        await browser.close()


async def test_task_is_submitted_and_its_plan_and_events_are_shown_live(page: Page) -> None:
    await page.goto("/orchestrator")
    await expect(page.get_by_role("heading", name="Orchestrator", level=1)).to_be_visible()
    await page.get_by_label("What should the agent do?").fill("Find it")
    await page.get_by_role("button", name="Submit").click()
    await expect(page.locator("#events")).to_contain_text("task.completed", timeout=20_000)
    for step in ("agent", "tools", "remember"):
        await expect(page.locator(f"#step-{step}")).to_have_attribute("data-state", "completed")
    found = await Axe().run(page)
    assert found.response["violations"] == [], found.generate_report()
    await page.goto("/orchestrator?lang=es")
    await expect(page.get_by_role("button", name="Enviar")).to_be_visible()
