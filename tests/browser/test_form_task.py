"""The form that a kind of task gets by itself, in a real browser."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, async_playwright, expect

from bench.servers import _free_ports
from docproc.console.servers import station as create_app
from docproc.people.station.app import serve
from tests.browser.test_station import CHROMIUM
from tests.harness import Harness, opened, settings_for
from tests.integration import test_foreign_kinds as parcels

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
async def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Harness]:
    parcels.install(monkeypatch, tmp_path / "parcels")
    async with opened(settings_for(tmp_path)) as harness:
        yield harness


@pytest.fixture
async def address(engine: Harness) -> AsyncIterator[str]:
    stopping, (port,) = asyncio.Event(), _free_ports(1)
    serving = asyncio.create_task(serve(engine.app, stopping, host="127.0.0.1", port=port, create=create_app))
    yield f"http://127.0.0.1:{port}"
    stopping.set()
    await serving


@pytest.fixture
async def page(address: str) -> AsyncIterator[Page]:
    if not CHROMIUM.exists():
        missing = f"no browser at {CHROMIUM} (install Debian's chromium, or set TEST_CHROMIUM)"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield await browser.new_page(base_url=address, locale="en")
        await browser.close()


async def test_form_is_answered_by_keyboard_and_says_what_is_wrong(engine: Harness, page: Page) -> None:
    request_id = await parcels._asked(engine)
    await page.goto("/?operator=ana")
    await page.locator("#queue[data-ready]").wait_for()
    await page.keyboard.press("s")
    await page.locator("#work[data-ready]").wait_for()
    weight = page.get_by_label("Weight (kg)")
    await expect(weight).to_have_value("12.5")
    await expect(weight).to_be_focused()
    found = await Axe().run(page)
    assert found.response["violations"] == [], found.generate_report()

    await weight.fill("-3")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator("#say-weight_kg")).to_contain_text("greater than 0")
    await expect(weight).to_be_focused()
    await page.reload()
    await page.locator("#work[data-ready]").wait_for()
    await expect(weight).to_have_value("-3")  # what was typed is kept

    await weight.fill("13.75")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Space")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator("#told")).to_contain_text("nothing is left")
    request = await engine.finished(request_id)
    assert request.result_payload is not None
    assert request.result_payload["weight_kg"] == 13.75 and request.result_payload["is_fragile"] is True
