"""Inbox and request page in a real browser with a real pipeline behind them: by keyboard, in both languages,
at three sizes; axe finds nothing serious, and pictures are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from bench.servers import _free_ports
from docproc.registry import COMPONENT_REGISTRY
from tests.processes import Processes, Service, until

# Its services are started once, so its tests stay in one process.
pytestmark = pytest.mark.xdist_group("browser")

CHROMIUM = Path(os.environ.get("TEST_CHROMIUM", "/usr/bin/chromium"))
SHOTS = Path(__file__).parents[2] / "build" / "screenshots"
PIPELINE = [name for name in COMPONENT_REGISTRY if name != "collect"]
WARM_SECONDS = 120
ANSWER_MS = 90_000
Scheme = Literal["light", "dark"]
SCHEMES: list[tuple[str, Scheme]] = [("es", "light"), ("en", "dark")]
SIZES = {"desk": (1366, 768), "tablet": (1024, 768), "phone": (390, 844)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("console")


@pytest.fixture(scope="module")
def samples(folder: Path) -> Path:
    made = Processes(folder).run(
        "samples", str(folder / "samples"), "--language", "es", "--form", "digital", "--json"
    )
    assert made.code == 0, made.err
    return folder / "samples"


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """A gateway and a worker on one embedded database; nobody is asked, doubts are flagged."""
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
    """In Spanish, in Madrid; whatever the page complains about fails the test."""
    context = browser.new_context(
        locale="es-ES", timezone_id="Europe/Madrid", viewport={"width": 1366, "height": 768}
    )
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda line: complaints.append(line.text) if is_complaint(line) else None)
    opened.goto(address)
    yield opened
    context.close()
    assert complaints == []


def is_complaint(line: ConsoleMessage) -> bool:
    """A refused upload, or a picture that is not there yet, is told by the browser as well."""
    return line.type == "error" and "Failed to load resource" not in line.text


def send(page: Page, *files: Path) -> None:
    page.set_input_files("#files", list(map(str, files)))


def drawn(page: Page) -> None:
    """The picture of the page on show has come."""
    picture = page.locator(".viewer .page:not([hidden]) img").first
    expect(picture).to_have_js_property("complete", True, timeout=20_000)
    assert picture.evaluate("image => image.naturalWidth") > 0


def check(page: Page, name: str) -> None:
    """Accessible, nothing wider than the window; a picture is kept."""
    serious = [
        f"{found['id']}: {found['nodes'][0]['html'][:160]}"
        for found in Axe().run(page).response["violations"]
        if found["impact"] in ("serious", "critical")
    ]
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")
    assert serious == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture(scope="module")
def sent(browser: Browser, address: str, samples: Path, folder: Path) -> list[str]:
    """A few requests, so that there is something to look at; one cannot be read."""
    (folder / "roto.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    context = browser.new_context(locale="es-ES")
    page = context.new_page()
    page.goto(address)
    names = ["invoice-es-digital-01.pdf", "payslip-es-digital-01.pdf", "receipt-es-digital-01.pdf"]
    send(page, *(samples / name for name in names), folder / "roto.pdf")
    for name in names:
        expect(page.locator("tr:not([data-live])", has_text=name)).to_be_visible(timeout=ANSWER_MS)
    expect(page.locator("tr", has_text="roto.pdf")).to_contain_text("Fichero dañado", timeout=ANSWER_MS)
    context.close()
    return names


def test_file_goes_in_and_its_fields_have_their_place_on_the_page(page: Page, samples: Path) -> None:
    send(page, samples / "invoice-es-digital-01.pdf")
    line = page.locator("tr", has_text="invoice-es-digital-01.pdf").first
    expect(line).to_contain_text("1 factura", timeout=ANSWER_MS)
    expect(line.locator(".cell-total")).to_contain_text("€", timeout=ANSWER_MS)
    expect(line.locator("img")).to_be_visible()
    line.get_by_role("link").click()
    expect(page.get_by_role("tab")).to_have_text(["Factura"])
    page.get_by_role("button", name="Importe total").click()
    expect(page.locator(".viewer .mark")).to_be_visible(timeout=20_000)
    drawn(page)
    mark = page.locator(".viewer .mark").bounding_box()
    viewer = page.locator(".viewer").bounding_box()
    assert mark and viewer and viewer["y"] <= mark["y"] <= viewer["y"] + viewer["height"]
    width = page.locator(".viewer .page").first.bounding_box()
    page.get_by_role("button", name="Ampliar").click()
    larger = page.locator(".viewer .page").first.bounding_box()
    assert width and larger and larger["width"] > width["width"]
    expect(page.locator(".lines table").first).to_be_visible()  # its items; taxes by rate follow
    expect(page.locator("svg.timeline rect.bar-work").first).to_be_visible()


def test_search_finds_by_text_field_and_name_with_the_keyboard_alone(page: Page, sent: list[str]) -> None:
    page.keyboard.press("/")
    page.keyboard.type("palabra que nadie ha escrito")
    page.keyboard.press("Enter")
    expect(page.locator(".empty")).to_contain_text("Ninguna solicitud coincide")
    page.wait_for_load_state()
    page.keyboard.press("/")
    page.keyboard.type("payslip")
    page.keyboard.press("Enter")
    expect(page.locator("table.inbox tbody tr")).to_have_count(1)
    page.wait_for_load_state()
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#chosen-count")).to_have_text("1 elegida")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab")).to_contain_text(["Nómina"])


def test_view_is_kept_and_answers_are_taken_away(page: Page, sent: list[str]) -> None:
    page.get_by_role("combobox", name="Todos los tipos").select_option("receipt")
    expect(page.locator("table.inbox tbody tr")).to_have_count(1)
    page.once("dialog", lambda dialog: dialog.accept("Tiques"))
    page.get_by_role("button", name="Guardar esta vista").click()
    expect(page.get_by_role("link", name="Tiques", exact=True)).to_be_visible()
    for kind in ("xlsx", "csv"):
        with page.expect_download() as download:
            page.get_by_role("link", name=f"Exportar {kind.upper()}").click()
        assert download.value.suggested_filename.endswith(f".{kind}")
        assert Path(download.value.path()).stat().st_size > 100
    page.get_by_role("link", name="Ver todo").click()
    page.get_by_role("link", name="Tiques", exact=True).click()
    expect(page.locator("table.inbox tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Olvidar la vista Tiques").click()
    expect(page.get_by_role("link", name="Tiques", exact=True)).to_have_count(0)


def test_several_are_processed_again_and_deleted(page: Page, samples: Path) -> None:
    send(page, samples / "contract-es-digital-01.pdf")
    lines = page.locator("tr", has_text="contract-es-digital-01.pdf")
    expect(lines.first).to_contain_text("1 contrato", timeout=ANSWER_MS)
    lines.first.get_by_role("checkbox").check()
    page.locator("#chosen").get_by_role("button", name="Procesar de nuevo").click()
    expect(lines).to_have_count(2, timeout=20_000)
    for index in range(2):
        lines.nth(index).get_by_role("checkbox").check()
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator("#chosen").get_by_role("button", name="Borrar").click()
    expect(lines).to_have_count(0, timeout=20_000)


def test_file_dropped_anywhere_is_sent_and_an_empty_one_refused(page: Page) -> None:
    transfer = page.evaluate_handle(
        "() => { const t = new DataTransfer(); t.items.add(new File([], 'vacio.pdf')); return t }"
    )
    page.dispatch_event("h1", "dragover", {"dataTransfer": transfer})
    expect(page.locator("body.dropping")).to_have_count(1)
    page.dispatch_event("h1", "drop", {"dataTransfer": transfer})
    expect(page.locator("#uploads .bad")).to_contain_text("vacio.pdf", timeout=20_000)


def test_times_are_those_of_the_browser(page: Page, sent: list[str]) -> None:
    first = page.locator("td.received time").first.text_content()
    page.reload()  # now the server knows where the browser is
    assert page.locator("td.received time").first.text_content() == first


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("language", "scheme"), SCHEMES)
def test_pages_at_every_size(
    browser: Browser, address: str, sent: list[str], size: str, language: str, scheme: Scheme
) -> None:
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, timezone_id="Europe/Madrid"
    )  # fmt: skip
    page = context.new_page()
    page.goto(f"{address}/?lang={language}")
    expect(page.locator("h1")).to_have_text({"es": "Entrada", "en": "Inbox"}[language])
    page.wait_for_load_state("networkidle")
    check(page, f"inbox-{size}-{language}-{scheme}")
    page.locator("tr", has_text="invoice-es-digital-01.pdf").first.get_by_role("link").click()
    expect(page.locator(".viewer .mark")).to_be_visible(timeout=20_000)
    # The page stays in sight beside the field, whatever the size.
    expect(page.locator(".viewer")).to_be_in_viewport()
    field = page.locator(".document:not([hidden]) .field").last
    field.focus()
    expect(page.locator(".viewer")).to_be_in_viewport()
    page.evaluate("scrollTo(0, 0)")
    drawn(page)
    check(page, f"request-{size}-{language}-{scheme}")
    context.close()
