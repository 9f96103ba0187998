"""The page that describes the API, in a real browser: drawn under the policy that forbids foreign scripts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from bench.servers import _free_ports
from tests.processes import Processes

CHROMIUM = os.environ.get("TEST_CHROMIUM", "/usr/bin/chromium")


@pytest.fixture
def page() -> Iterator[Page]:
    if not Path(CHROMIUM).exists():
        if os.environ.get("CI") == "true":
            pytest.fail("Chromium is missing")
        pytest.skip("Chromium is missing")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


def test_docs_show_the_operations_and_load_nothing_from_elsewhere(page: Page, tmp_path: Path) -> None:
    processes = Processes(tmp_path)
    (port,) = _free_ports(1)
    gateway = processes.start(COMPONENT_NAME="api_gateway", API_PORT=port, ALERTS="off")
    try:
        gateway.until_status("/ready", 200, 90)
        asked: list[str] = []
        refused: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda said: refused.append(said.text) if said.type == "error" else None)
        page.goto(f"http://127.0.0.1:{port}/docs")
        expect(page.get_by_text("/process", exact=True).first).to_be_visible(timeout=20_000)
        assert all(url.startswith((f"http://127.0.0.1:{port}/", "data:")) for url in asked), asked
        assert [text for text in refused if "Content Security Policy" in text] == []
    finally:
        processes.close()
