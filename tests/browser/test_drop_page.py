"""The drop page in a real browser, with a real pipeline behind it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, expect, sync_playwright

from bench.servers import _free_ports
from docproc.registry import COMPONENT_REGISTRY
from tests.processes import Processes, Service, until

# Its services are started once, so its tests stay in one process.
pytestmark = pytest.mark.xdist_group("browser")

CHROMIUM = Path(os.environ.get("TEST_CHROMIUM", "/usr/bin/chromium"))
PIPELINE = [name for name in COMPONENT_REGISTRY if name != "collect"]
WARM_SECONDS = 90
ANSWER_MS = 60_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def samples(folder: Path) -> Path:
    made = Processes(folder).run(
        "samples", str(folder / "samples"), "--language", "es", "--form", "digital", "--json"
    )
    assert made.code == 0, made.err
    return folder / "samples"


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """A gateway and a worker on one embedded database."""
    processes = Processes(folder)
    port = _free_ports(1)[0]
    gateway = processes.start(COMPONENT_NAME="api_gateway", API_PORT=port)
    worker = processes.start("worker", *PIPELINE, "--processes", "1", REVIEW="flag")
    try:
        worker.until_status("/ready", 200, WARM_SECONDS)
        api = Service(gateway.process, gateway.log, port)
        until(lambda: api.status("/ready") == 200, "the gateway answers")
        yield f"http://127.0.0.1:{port}"
    finally:
        processes.close()


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
def page(browser: Browser, address: str) -> Iterator[Page]:
    """In Spanish; whatever the page complains about fails the test."""
    context = browser.new_context(locale="es-ES", viewport={"width": 1366, "height": 768})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda line: complaints.append(line.text) if is_complaint(line) else None)
    opened.goto(address)
    yield opened
    context.close()
    assert complaints == []


def is_complaint(line: ConsoleMessage) -> bool:
    """A refused upload is told by the browser as well; the page shows it."""
    return line.type == "error" and "Failed to load resource" not in line.text


def send(page: Page, *files: Path) -> None:
    page.set_input_files("#files", list(map(str, files)))


def test_file_becomes_fields_with_their_place_on_the_page(page: Page, samples: Path) -> None:
    expect(page.locator("strong")).to_have_text("Suelte aquí sus ficheros")
    send(page, samples / "invoice-es-digital-01.pdf")
    expect(page.locator(".head .state")).to_contain_text("Completada", timeout=ANSWER_MS)
    expect(page.locator(".document h4")).to_have_text("Factura")
    expect(page.locator("td.sure").first).to_contain_text("%")

    page.get_by_role("button", name="importe total").click()
    expect(page.locator("#box")).to_be_visible(timeout=20_000)
    assert page.evaluate("document.getElementById('picture').naturalWidth") > 0
    assert page.locator("#box").bounding_box() != page.locator("#picture").bounding_box()
    expect(page.locator('tr[aria-selected="true"]')).to_contain_text("importe total", ignore_case=True)


def test_request_is_there_after_a_reload_and_in_english(page: Page, samples: Path) -> None:
    send(page, samples / "payslip-es-digital-01.pdf")
    expect(page.locator(".head .state")).to_contain_text("Completada", timeout=ANSWER_MS)
    page.reload()
    expect(page.locator(".head h3")).to_have_text("payslip-es-digital-01.pdf")
    page.get_by_role("link", name="English").click()
    expect(page.locator("strong")).to_have_text("Drop files here")
    expect(page.locator(".head h3")).to_have_text("payslip-es-digital-01.pdf")
    expect(page.locator(".document h4")).to_have_text("Payslip")


def test_steps_are_drawn_for_requests_that_go_them(page: Page, samples: Path) -> None:
    """Those of other applications are in the list, too."""
    send(page, samples / "invoice-es-digital-01.pdf")
    expect(page.locator(".head .state")).to_contain_text("Completada", timeout=ANSWER_MS)
    for workflow, steps in (("default", 5), (None, 5), ("parcels", 0)):
        page.unroute_all()
        page.route("**/requests/*", at_work(workflow))
        page.reload()
        expect(page.locator(".head .state")).to_contain_text("En curso")
        expect(page.locator(".steps li")).to_have_count(steps)


def at_work(workflow: str | None) -> Callable[[Route], None]:
    """As if the request were still at work, in that workflow."""

    def answer(route: Route) -> None:
        true = route.fetch()
        told = {**true.json(), "status": "processing", "workflow_name": workflow, "completed_at": None}
        route.fulfill(response=true, json=told)

    return answer


@pytest.mark.parametrize("kind", ["json", "csv", "xlsx"])
def test_answer_can_be_taken_away(page: Page, samples: Path, kind: str) -> None:
    send(page, samples / "receipt-es-digital-01.pdf")
    expect(page.locator(".head .state")).to_contain_text("Completada", timeout=ANSWER_MS)
    with page.expect_download() as download:
        page.get_by_role("link", name=f"Descargar {kind.upper()}").click()
    assert download.value.suggested_filename.endswith(f".{kind}")
    assert Path(download.value.path()).stat().st_size > 50


def test_every_file_is_a_request_of_its_own(page: Page, samples: Path) -> None:
    send(page, samples / "invoice-es-digital-01.pdf", samples / "contract-es-digital-01.pdf")
    for index, name in enumerate(("contract-es-digital-01.pdf", "invoice-es-digital-01.pdf")):
        row = page.locator("button.request").nth(index)
        expect(row).to_contain_text(name, timeout=ANSWER_MS)
        expect(row).to_contain_text("Completada", timeout=ANSWER_MS)


def test_file_that_cannot_be_read_says_why(page: Page, folder: Path) -> None:
    rubbish, empty = folder / "rubbish.pdf", folder / "empty.pdf"
    rubbish.write_bytes(b"%PDF-1.7 and nothing else")
    empty.write_bytes(b"")
    send(page, rubbish)
    expect(page.locator(".head .state")).to_contain_text("Fallida", timeout=ANSWER_MS)
    expect(page.locator("#answer .alert")).to_contain_text("damaged")
    send(page, empty)
    expect(page.locator("div.request")).to_contain_text(re.compile("is empty"))


def test_keyboard_alone_is_enough(page: Page, samples: Path) -> None:
    page.keyboard.press("Tab")  # past the frame
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "files"
    send(page, samples / "invoice-es-digital-01.pdf")
    expect(page.locator(".head .state")).to_contain_text("Completada", timeout=ANSWER_MS)
    label = page.get_by_role("button", name="fecha").first
    label.focus()
    page.keyboard.press("Enter")
    expect(page.locator('tr[aria-selected="true"]')).to_contain_text("fecha", ignore_case=True)
    assert page.evaluate("document.activeElement.dataset.key") == "0/date"


def test_page_fits_a_phone_with_field_and_evidence_in_sight(
    browser: Browser, address: str, samples: Path
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark", locale="en-GB")
    phone = context.new_page()
    phone.goto(address)
    send(phone, samples / "invoice-es-digital-01.pdf")
    expect(phone.locator(".head .state")).to_contain_text("Completed", timeout=ANSWER_MS)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    expect(phone.locator("#viewer")).to_be_hidden()
    phone.get_by_role("button", name="total amount").click()
    expect(phone.locator("#box")).to_be_in_viewport(timeout=20_000)
    row = phone.locator('tr[aria-selected="true"]').bounding_box()
    sheet = phone.locator("#viewer").bounding_box()
    assert row and sheet and row["y"] >= 0 and row["y"] + row["height"] <= sheet["y"]
    if folder := os.environ.get("TEST_SCREENSHOTS"):
        phone.screenshot(path=f"{folder}/phone.png")
    phone.locator("#close").click()
    expect(phone.locator("#viewer")).to_be_hidden()
    context.close()
