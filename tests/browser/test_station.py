"""The review station in a real browser, with a real pipeline behind it."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect, sync_playwright

from bench.servers import HOST, _free_ports
from tests import papers
from tests.deployments import Deployment, _processes, _running
from tests.processes import ROOT, until

# Its services are started once, so its tests stay in one process.
pytestmark = pytest.mark.xdist_group("browser")

CHROMIUM = Path(os.environ.get("TEST_CHROMIUM", "/usr/bin/chromium"))
SCREENSHOTS = Path(os.environ.get("TEST_SCREENSHOTS", ROOT / "build" / "screenshots"))
WARM_SECONDS = 120
PATIENCE_MS = 10_000

FLOW = """
name: NAME
sla: {deadline_seconds: 7200}
stages:
  - {name: split, component: splitter}
  - {name: ocr, component: ocr, parallel: true}
  - {name: classify, component: classifier, TYPES}
  - {name: group, component: classification_aggregator, SPLITS}
  - {name: extract, component: extractor, FIELDS}
  - {name: all, component: extraction_aggregator}
  - {name: answer, component: consolidator}
extraction_schemas:
  invoice:
    fields:
      - {name: invoice_number, required: true}
      - {name: total_amount, type: decimal, required: true}
      - {name: date, type: date}
      - {name: net_amount, type: decimal}
      - {name: tax_amount, type: decimal}
      - {name: vendor_tax_id, validators: [tax_id]}
      - name: line_items
        type: table
        review: false
        columns: [{name: description}, {name: amount, type: decimal}]
    rules: [net_amount + tax_amount == total_amount]
  payslip:
    fields: [{name: employee_name, required: true}]
"""
SURE = "confidence_threshold: 0.0"
ASKING = "confidence_threshold: 1.0, when_no_time: wait, backoffice_queue"
FLOWS = {
    "types": {"TYPES": f"{ASKING}: task.classification", "SPLITS": "options: {}", "FIELDS": SURE},
    "fields": {"TYPES": SURE, "SPLITS": "options: {}", "FIELDS": f"{ASKING}: task.extraction"},
    "splits": {"TYPES": SURE, "SPLITS": f"{ASKING}: task.classification", "FIELDS": SURE},
}
FILE = papers.pdf(papers.INVOICE, papers.PAYSLIP)
INVOICE = papers.pdf(papers.INVOICE)


@dataclass(frozen=True)
class Station:
    """The pipeline, and the address where people work."""

    deployment: Deployment
    url: str

    def ask(self, workflow: str, file: bytes, questions: int = 1) -> str:
        """A request whose questions wait for people."""
        request_id = self.deployment.submit(("factura.pdf", file), workflow=workflow)
        where = f"request_id = '{request_id}' AND status = 'pending'"
        count = f"SELECT count(*) FROM backoffice_tasks WHERE {where}"
        until(lambda: self.deployment.query(count)[0][0] == questions, f"{questions} questions wait", 60)
        return request_id

    def value(self, query: str) -> object:
        return self.deployment.query(query)[0][0]

    def execute(self, statement: str) -> None:
        path = self.deployment.processes.settings.effective_database_url.partition("///")[2]
        with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection, connection:
            connection.execute(statement)

    def documents(self, request_id: str) -> list[dict[str, Any]]:
        done = self.deployment.finished(request_id)
        assert done["status"] == "completed", done["error"]
        found: list[dict[str, Any]] = done["result"]["documents"]
        return found


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Station]:
    """`docproc up`, on SQLite."""
    processes = _processes(tmp_path_factory.mktemp("station"))
    for name, parts in FLOWS.items():
        text = FLOW.replace("NAME", name)
        for part, value in parts.items():
            text = text.replace(part, value)
        (processes.settings.workflows_dir / f"{name}.yaml").write_text(text, encoding="utf-8")
    port, desk = _free_ports(2)
    # Texts are read from the files here: no model for pictures need be loaded.
    service = processes.start(
        "up",
        "--port",
        str(port),
        BACKOFFICE_PORT=desk,
        PROCESSES=1,
        WARM_UP="false",
        REVIEW="ask",
        BACKOFFICE_PUSH="false",
    )
    with _running(processes, [service], port) as deployment:
        service.until_status("/ready", 200, WARM_SECONDS)
        yield Station(deployment, f"http://{HOST}:{desk}")


@pytest.fixture
def station(running: Station) -> Iterator[Station]:
    """A test leaves no question for the next one, and nothing learnt."""
    yield running
    for statement in (
        "UPDATE backoffice_tasks SET status = 'completed' WHERE status <> 'completed'",
        "UPDATE operators SET current_task_id = NULL",
        "DELETE FROM layout_keys",
        "DELETE FROM layouts",
    ):
        running.execute(statement)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        missing = f"no browser at {CHROMIUM} (install Debian's chromium, or set TEST_CHROMIUM)"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    print(f"screenshots: {SCREENSHOTS}")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield launched
        launched.close()


Opener = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, station: Station) -> Iterator[Opener]:
    """`opened("ana", "es-ES")`: a person's list. Whatever a page complains about fails the test."""
    contexts, complaints = [], []

    def look(line: ConsoleMessage) -> None:
        # A refusal is told by the browser as well; the page shows it.
        if line.type == "error" and "Failed to load resource" not in line.text:
            complaints.append(line.text)

    def opens(operator: str, locale: str = "en-GB", width: int = 1366, height: int = 768) -> Page:
        context = browser.new_context(locale=locale, viewport={"width": width, "height": height})
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", look)
        page.goto(f"{station.url}/?operator={operator}")
        return page

    expect.set_options(timeout=PATIENCE_MS)
    yield opens
    for context in contexts:
        context.close()
    assert complaints == []


def keep_picture(page: Page, name: str) -> None:
    """A screenshot for people, and nobody kept out: no violation of level serious or above."""
    page.screenshot(path=SCREENSHOTS / f"{name}.png")
    if name.endswith("-en") and (SCREENSHOTS / f"{name[:-3]}-es.png").exists():
        return  # the same page was looked at in the other language
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page).response["violations"]
        grave = [one for one in found if one["impact"] in ("serious", "critical")]
        assert grave == [], [(scheme, one["id"], [node["html"] for node in one["nodes"]]) for one in grave]


def begin(page: Page, key: str = "Enter") -> None:
    """Take the next task from the list."""
    expect(page.locator("#queue[data-ready] button[data-task]").first).to_be_visible()
    page.keyboard.press(key)
    expect(ready(page)).to_be_visible()


def ready(page: Page) -> Locator:
    """A task's page that can be worked with."""
    return page.locator("#work[data-ready]")


def pictures_are_there(page: Page) -> None:
    """Asked again and again from outside: the page's policy allows no evaluated scripts."""
    loaded = "[...document.images].every((one) => one.complete && one.naturalWidth > 0)"
    until(lambda: page.evaluate(loaded), "the pictures are there", 30)


LANGUAGES = pytest.mark.parametrize(
    ("locale", "words"),
    [
        ("es-ES", {"type": "¿Qué es esta página?", "fields": "Factura: Revise los datos",
                   "split": "¿Empieza aquí otro documento?", "done": "no queda nada"}),
        ("en-GB", {"type": "What is this page?", "fields": "Invoice: Check the fields",
                   "split": "Does a new document begin here?", "done": "nothing is left"}),
    ],
    ids=["es", "en"],
)  # fmt: skip


@LANGUAGES
def test_types_are_answered_by_keyboard_alone(
    station: Station, opened: Opener, locale: str, words: dict[str, str]
) -> None:
    request_id = station.ask("types", FILE, 2)
    page = opened("ana", locale)
    expect(page.locator(".counter.pending dd")).to_have_text("2")
    keep_picture(page, f"queue-{locale[:2]}")
    begin(page)
    expect(page.locator("h1")).to_have_text(words["type"])
    expect(page.locator('input[name="doc_type"]:checked')).to_have_value("invoice")
    pictures_are_there(page)
    keep_picture(page, f"type-{locale[:2]}")
    first = page.url
    page.keyboard.press("Enter")  # as suggested
    page.wait_for_url(lambda url: url != first)
    expect(ready(page)).to_be_visible()
    expect(page.locator('input[name="doc_type"]:checked')).to_have_value("payslip")
    names = page.locator('input[name="doc_type"]').evaluate_all("all => all.map((one) => one.value)")
    page.keyboard.press(str(names.index("other") + 1))
    page.keyboard.press("Enter")
    expect(page.locator("#told")).to_contain_text(words["done"])
    expect(page.locator(".counter.done dd")).not_to_have_text("0")
    found = [(one["doc_type"], one["page_indices"]) for one in station.documents(request_id)]
    assert found == [("invoice", [0]), ("other", [1])]


@LANGUAGES
def test_fields_are_answered_by_keyboard_alone(
    station: Station, opened: Opener, locale: str, words: dict[str, str]
) -> None:
    request_id = station.ask("fields", INVOICE)
    page = opened("ana", locale)
    begin(page, "s")
    expect(page.locator("h1")).to_have_text(words["fields"])
    expect(page.locator("#field-invoice_number")).to_be_focused()
    expect(page.locator(".mark")).to_be_visible()
    page.keyboard.type("F-2026-0043")
    page.keyboard.press("Enter")
    expect(page.locator("#field-total_amount")).to_be_focused()
    page.keyboard.type("1.121,00" if locale == "es-ES" else "1,121.00")
    shown = page.locator("#say-total_amount")
    expect(shown).to_contain_text("1.121,00" if locale == "es-ES" else "1,121.00")
    expect(page.locator("#hints li")).to_have_count(1)  # net and tax are another sum
    keep_picture(page, f"fields-{locale[:2]}")
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(page.locator("#field-total_amount")).to_have_value("121,00" if locale == "es-ES" else "121.00")
    expect(page.locator("#hints li")).to_have_count(0)
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.locator("#field-date")).to_be_focused()
    page.keyboard.type("13/3/26")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#told")).to_contain_text(words["done"])
    (invoice,) = station.documents(request_id)
    fields = invoice["fields"]
    told = {name: fields[name]["value"] for name in ("invoice_number", "total_amount", "date")}
    assert told == {"invoice_number": "F-2026-0043", "total_amount": "121.00", "date": "2026-03-13"}
    assert fields["total_amount"]["origin"] == "BACKOFFICE" and fields["total_amount"]["box"]
    assert fields["invoice_number"]["source"] == "operator"


@LANGUAGES
def test_splits_are_answered_by_keyboard_alone(
    station: Station, opened: Opener, locale: str, words: dict[str, str]
) -> None:
    request_id = station.ask("splits", papers.pdf(papers.INVOICE, papers.INVOICE))
    page = opened("ana", locale)
    begin(page)
    expect(page.locator("h1")).to_have_text(words["split"])
    pictures_are_there(page)
    keep_picture(page, f"split-{locale[:2]}")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator("#told")).to_contain_text(words["done"])
    assert [one["page_indices"] for one in station.documents(request_id)] == [[0], [1]]


def test_words_on_the_page_fill_the_field(station: Station, opened: Opener) -> None:
    request_id = station.ask("fields", INVOICE)
    page = opened("ana", "es-ES")
    begin(page)
    page.locator("#field-invoice_number").focus()
    page.locator('.words span[title="Papel"]').click()
    expect(page.locator("#field-invoice_number")).to_have_value("Papel")
    page.locator('.words span[title="A4"]').click(modifiers=["Shift"])
    expect(page.locator("#field-invoice_number")).to_have_value("Papel A4")
    expect(page.locator("#field-invoice_number")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#queue")).to_be_visible()
    (invoice,) = station.documents(request_id)
    place = invoice["fields"]["invoice_number"]
    assert place["value"] == "Papel A4" and place["page"] == 0
    assert 0.05 < place["box"][0] < 0.12 and place["box"][2] > 0.15


def test_impossible_values_are_told_at_their_fields(station: Station, opened: Opener) -> None:
    station.ask("fields", INVOICE)
    page = opened("ana", "es-ES")
    begin(page)
    page.locator("#field-total_amount").fill("mucho")
    expect(page.locator("#say-total_amount")).to_contain_text("Escriba un importe")
    page.locator("#field-invoice_number").fill("")
    page.locator("#field-vendor_tax_id").fill("B16596448")
    expect(page.locator("#say-vendor_tax_id")).to_contain_text("dígitos de control")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#trouble")).not_to_be_empty()
    expect(page.locator("#field-invoice_number")).to_be_focused()
    expect(page.locator("#say-invoice_number")).to_contain_text("obligatorio")
    keep_picture(page, "problems-es")
    assert station.value("SELECT count(*) FROM backoffice_tasks WHERE status = 'assigned'") == 1


def test_two_people_work_at_once_and_see_what_the_other_takes(station: Station, opened: Opener) -> None:
    station.ask("types", FILE, 2)
    ana, luis = opened("ana", "es-ES"), opened("luis")
    expect(luis.locator("button[data-task]")).to_have_count(2)
    begin(ana)
    expect(luis.locator("button[data-task]")).to_have_count(1)  # without reloading
    expect(luis.locator("#news")).to_have_text("1 tasks waiting")
    luis.locator("button[data-task]").focus()
    luis.keyboard.press("Enter")
    expect(ready(luis)).to_be_visible()
    assert luis.url.partition("?")[0] != ana.url.partition("?")[0]
    stranger = luis.goto(ana.url.replace("operator=ana", "operator=luis"))
    assert stranger and stranger.status == 200
    expect(luis.locator("#gone")).to_contain_text("Somebody else has it.")
    keep_picture(luis, "gone-en")
    luis.keyboard.press("Enter")  # on to one's own
    expect(ready(luis)).to_be_visible()


def test_lost_task_says_so_and_loses_no_typing(station: Station, opened: Opener) -> None:
    station.ask("fields", INVOICE)
    page = opened("ana", "es-ES")
    begin(page)
    page.keyboard.type("F-77")
    free = "status = 'pending', assigned_to = NULL, accepted_at = NULL"
    station.execute(f"UPDATE backoffice_tasks SET {free} WHERE status = 'assigned'")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # the next sign of life, now
    expect(page.locator("#lost")).to_contain_text("ya no es suya")
    expect(page.locator("#field-invoice_number")).to_have_value("F-77")
    expect(page.locator("#field-invoice_number")).not_to_be_editable()
    expect(page.locator("#submit")).to_be_disabled()
    keep_picture(page, "lost-es")
    other = opened("luis")
    begin(other)
    expect(other.locator("#field-invoice_number")).to_have_value("F-2026-0042")  # ana's typing is hers
    page.locator("#lost-next").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#told")).to_contain_text("no queda nada")


def test_task_lost_while_sending_says_so(station: Station, opened: Opener) -> None:
    station.ask("fields", INVOICE)
    page = opened("ana")
    begin(page)
    page.keyboard.type("F-77")
    station.execute(
        "UPDATE backoffice_tasks SET status = 'completed', assigned_to = NULL WHERE status = 'assigned'"
    )
    page.keyboard.press("Control+Enter")
    expect(page.locator("#lost")).to_contain_text("no longer yours")
    expect(page.locator("#field-invoice_number")).to_have_value("F-77")


def test_reload_in_the_middle_keeps_what_was_typed(station: Station, opened: Opener) -> None:
    request_id = station.ask("fields", INVOICE)
    page = opened("ana")
    begin(page)
    page.keyboard.type("F-88")
    page.get_by_role("link", name="Español").click()  # a reload, too
    expect(page.locator("h1")).to_have_text("Factura: Revise los datos")
    page.reload()
    expect(ready(page)).to_be_visible()
    expect(page.locator("#field-invoice_number")).to_have_value("F-88")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#queue")).to_be_visible()
    assert station.documents(request_id)[0]["fields"]["invoice_number"]["value"] == "F-88"


def test_pages_can_be_enlarged_turned_and_read(station: Station, opened: Opener) -> None:
    station.ask("types", INVOICE)
    page = opened("ana")
    begin(page)
    sheet, viewer = page.locator(".sheet"), page.locator("#viewer")
    pictures_are_there(page)
    before = sheet.bounding_box()
    assert before is not None
    page.keyboard.press("+")
    larger = sheet.bounding_box()
    assert larger is not None and larger["width"] > before["width"] * 1.2
    page.keyboard.press("r")
    turned = sheet.bounding_box()
    assert turned is not None and turned["width"] > turned["height"]
    page.keyboard.press("r")
    page.keyboard.press("f")
    whole, frame = sheet.bounding_box(), viewer.bounding_box()
    assert whole and frame and whole["height"] <= frame["height"]
    page.keyboard.press("0")
    assert sheet.bounding_box() == before
    page.keyboard.press("v")
    page.keyboard.press("ArrowDown")
    until(lambda: viewer.evaluate("one => one.scrollTop > 0"), "the page moves")
    page.keyboard.press("t")
    expect(page.locator("#text")).to_contain_text("TOTAL FACTURA")
    page.keyboard.press("?")
    expect(page.locator("#help-dialog")).to_be_visible()
    keep_picture(page, "shortcuts-en")
    page.keyboard.press("Escape")
    expect(page.locator("#help-dialog")).to_be_hidden()


@pytest.mark.parametrize(("key", "outcome"), [("s", "skipped"), ("x", "completed")])
def test_tasks_are_handed_on_with_a_reason(station: Station, opened: Opener, key: str, outcome: str) -> None:
    request_id = station.ask("types", INVOICE)
    page = opened("ana")
    begin(page)
    page.keyboard.press(key)
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("torn page")
    page.keyboard.press("Enter")
    expect(page.locator("#told")).to_contain_text("nothing is left")
    where = f"request_id = '{request_id}' AND kind = 'task' AND outcome = '{outcome}'"
    assert "torn page" in str(station.value(f"SELECT data FROM events WHERE {where}"))


def test_tablet_has_everything_within_reach_of_a_finger(station: Station, opened: Opener) -> None:
    station.ask("fields", INVOICE)
    page = opened("ana", "es-ES", 820, 1180)
    begin(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 820
    heights = page.locator("#work button:visible, #panel input:visible").evaluate_all(
        "all => all.filter((one) => one.getBoundingClientRect().height < 40).map((one) => one.outerHTML)"
    )
    assert heights == []
    keep_picture(page, "tablet-es")


def test_nobody_named_is_asked_for_a_name(station: Station, opened: Opener) -> None:
    page = opened("ana", "es-ES")
    page.goto(station.url)
    expect(page.locator("#operator")).to_be_focused()
    keep_picture(page, "who-es")
    page.keyboard.type("Clara Gil")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"operator=Clara\+Gil"))
    expect(page.locator(".who")).to_contain_text("Usted es Clara Gil")
