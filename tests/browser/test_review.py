"""Review beyond plain fields in a real browser: line items, wrong types, answers taken back, whole files."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from bench.servers import HOST, _free_ports
from tests import papers
from tests.browser.test_station import (
    ASKING,
    FLOW,
    SURE,
    WARM_SECONDS,
    Opener,
    Station,
    begin,
    browser,
    keep_picture,
    opened,
    pictures_are_there,
    ready,
    station,
)
from tests.deployments import _processes, _running
from tests.processes import until

__all__ = ["browser", "opened", "station"]  # fixtures

pytestmark = pytest.mark.xdist_group("browser")

INVOICE = papers.pdf(papers.INVOICE)
COLUMNS = (
    "[{name: description}, "
    + ", ".join(f"{{name: {name}, type: decimal}}" for name in ("quantity", "unit_price", "amount"))
    + "]"
)
LINES = FLOW.replace("        review: false\n", "").replace(
    "[{name: description}, {name: amount, type: decimal}]", COLUMNS
).replace(
    "rules: [net_amount + tax_amount == total_amount]",
    "rules: [net_amount + tax_amount == total_amount, sum(line_items.amount) == net_amount]",
)  # fmt: skip
FLOWS = {
    "lines": {"TYPES": SURE, "SPLITS": "options: {}", "FIELDS": f"{ASKING}: task.extraction"},
    "types": {"TYPES": f"{ASKING}: task.classification", "SPLITS": "options: {}", "FIELDS": SURE},
}
SIZES = {"1366": (1366, 768), "1024": (1024, 768), "390": (390, 844)}
# Elements that reach beyond the window and are not inside something that scrolls by itself.
TOO_WIDE = """[...document.querySelectorAll("body *")].filter((one) =>
  one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".scroll, .strip, .viewer")
).map((one) => `${one.tagName}#${one.id}.${one.className}`).slice(0, 8)"""
LANGUAGES = pytest.mark.parametrize("locale", ["es-ES", "en-GB"], ids=["es", "en"])


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Station]:
    """`docproc up`, on SQLite, where every field and every type is asked for."""
    processes = _processes(tmp_path_factory.mktemp("review"))
    for name, parts in FLOWS.items():
        text = LINES.replace("NAME", name)
        for part, value in parts.items():
            text = text.replace(part, value)
        (processes.settings.workflows_dir / f"{name}.yaml").write_text(text, encoding="utf-8")
    port, desk = _free_ports(2)
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


def pictures(page: Page, name: str, locale: str) -> None:
    """In all sizes, nothing wider than the window, and nobody kept out in any."""
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            pytest.fail(f"{name} is wider than {size}: {page.evaluate(TOO_WIDE)}")
        keep_picture(page, f"{name}-{size}-{locale[:2]}")
    page.set_viewport_size({"width": 1366, "height": 768})


def cell(row: int, column: str) -> str:
    return f"tbody tr:nth-child({row}) [data-column={column}]"


@LANGUAGES
def test_line_items_are_edited_by_keyboard_alone(station: Station, opened: Opener, locale: str) -> None:
    request_id = station.ask("lines", INVOICE)
    page = opened("ana", locale)
    begin(page)
    expect(page.locator(".lines tbody tr")).to_have_count(2)
    while not page.locator(".lines input:focus").count():
        page.keyboard.press("Enter")  # every other field is right
    expect(page.locator(cell(1, "description"))).to_be_focused()
    expect(page.locator("[data-sum=amount]")).to_have_class("fits")
    page.locator(cell(2, "description")).focus()
    page.keyboard.press("End")
    page.keyboard.type(" y folios")
    for _ in range(len("folios")):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Alt+Enter")  # two lines that were read as one
    expect(page.locator(".lines tbody tr")).to_have_count(3)
    expect(page.locator(cell(2, "description"))).to_have_value("Tóner negro y")
    expect(page.locator(cell(3, "description"))).to_have_value("folios")
    expect(page.locator(cell(3, "quantity"))).to_be_focused()
    page.keyboard.type("3")
    page.keyboard.press("Tab")
    page.keyboard.type("2,50" if locale == "es-ES" else "2.50")
    page.keyboard.press("Tab")
    page.keyboard.type("7,50" if locale == "es-ES" else "7.50")
    expect(page.locator("[data-sum=amount]")).to_have_text("≠ 107,50" if locale == "es-ES" else "≠ 107.50")
    expect(page.locator("#hints li")).to_have_count(1)
    pictures_are_there(page)
    pictures(page, "lines", locale)
    page.keyboard.press("Alt+ArrowDown")  # a row too many
    expect(page.locator(".lines tbody tr")).to_have_count(4)
    page.keyboard.press("Alt+Delete")
    expect(page.locator(".lines tbody tr")).to_have_count(3)
    page.keyboard.press("ArrowUp")
    expect(page.locator(cell(2, "amount"))).to_be_focused()
    page.keyboard.type("42,50" if locale == "es-ES" else "42.50")
    expect(page.locator("[data-sum=amount]")).to_have_class("fits")
    expect(page.locator("#hints li")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#queue")).to_be_visible()
    (invoice,) = station.documents(request_id)
    rows = invoice["extracted_data"]["line_items"]
    assert [(row["description"], row["amount"]) for row in rows] == [
        ("Papel A4", 50.0), ("Tóner negro y", 42.5), ("folios", 7.5),
    ]  # fmt: skip
    assert [place["page"] for place in invoice["fields"]["line_items"]["rows"]] == [0, 0, None]


def test_rows_are_undone_and_brought_back(station: Station, opened: Opener) -> None:
    station.ask("lines", INVOICE)
    page = opened("ana")
    begin(page)
    page.locator(cell(1, "description")).focus()
    page.keyboard.press("Alt+Delete")
    expect(page.locator(".lines tbody tr")).to_have_count(1)
    page.reload()  # nothing typed is lost
    expect(ready(page)).to_be_visible()
    expect(page.locator(".lines tbody tr")).to_have_count(1)
    page.locator(cell(1, "amount")).fill("nothing")
    page.keyboard.press("Control+Enter")
    expect(page.locator(cell(1, "amount"))).to_be_focused()
    expect(page.locator(cell(1, "amount"))).to_have_attribute("aria-invalid", "true")
    page.locator(".table-field .revert").click()
    expect(page.locator(".lines tbody tr")).to_have_count(2)
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(page.locator(".lines tbody tr")).to_have_count(1)


@LANGUAGES
def test_wrong_type_is_corrected_from_the_fields(station: Station, opened: Opener, locale: str) -> None:
    request_id = station.ask("lines", INVOICE)
    page = opened("ana", locale)
    begin(page)
    page.keyboard.press("Escape")
    page.keyboard.press("w")
    expect(page.locator("#type-dialog")).to_be_visible()
    names = page.locator("#type-form input").evaluate_all("all => all.map((one) => one.value)")
    page.keyboard.press(str(names.index("payslip") + 1))
    pictures(page, "wrong-type", locale)
    here = page.url
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url != here)
    # Its fields are asked for again, as those of a payslip: at once, or when they are read.
    if page.locator("#queue").count():
        begin(page)
    expect(ready(page)).to_be_visible()
    expect(page.locator("h1")).to_contain_text("Nómina" if locale == "es-ES" else "Payslip")
    page.locator("#field-employee_name").fill("Óscar")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#queue")).to_be_visible()
    (document,) = station.documents(request_id)
    assert (document["doc_type"], document["extracted_data"]) == ("payslip", {"employee_name": "Óscar"})


@LANGUAGES
def test_last_answer_is_taken_back(station: Station, opened: Opener, locale: str) -> None:
    request_id = station.ask("lines", INVOICE)
    page = opened("ana", locale)
    begin(page)
    page.keyboard.type("F-WRONG")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#queue[data-ready]")).to_be_visible()
    assert station.documents(request_id)[0]["fields"]["invoice_number"]["value"] == "F-WRONG"
    pictures(page, "last-answers", locale)
    page.locator("[data-undo]").first.focus()
    page.keyboard.press("Enter")
    expect(ready(page)).to_be_visible()
    expect(page.locator("#field-invoice_number")).to_have_value("F-WRONG")
    expect(page.locator(".taken-back")).to_be_visible()
    pictures_are_there(page)
    pictures(page, "taken-back", locale)
    page.locator("#field-invoice_number").fill("F-RIGHT")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#queue")).to_be_visible()
    answered = f"SELECT answer_version FROM requests WHERE id = '{request_id}'"
    until(lambda: station.value(answered) == 2, "the answer is amended", 60)
    assert station.documents(request_id)[0]["fields"]["invoice_number"]["value"] == "F-RIGHT"


@LANGUAGES
def test_whole_file_is_sorted_on_one_strip_by_keyboard(station: Station, opened: Opener, locale: str) -> None:
    request_id = station.ask(
        "types", papers.pdf(papers.INVOICE, papers.INVOICE, papers.PAYSLIP, papers.LETTER), 4
    )
    page = opened("ana", locale)
    expect(page.locator(".file-row")).to_have_count(1)
    pictures(page, "queue-grouped", locale)
    page.locator("[data-together]").focus()
    page.keyboard.press("Enter")
    expect(ready(page)).to_be_visible()
    expect(page.locator(".leaf")).to_have_count(4)
    shown = (
        "[...document.images].filter((one) => one.src).every((one) => one.complete && one.naturalWidth > 0)"
    )
    until(lambda: page.evaluate(shown), "the pictures on the strip are there", 30)
    pictures(page, "packet", locale)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    if page.locator('.leaf[data-page="1"] .cut[aria-pressed=true]').count():
        page.keyboard.press("c")  # the second page goes on with the first
    expect(page.locator('.leaf[data-page="1"] .cut')).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("End")
    names = page.locator('#types input[name="doc_type"]').evaluate_all("all => all.map((one) => one.value)")
    page.keyboard.press(str(names.index("other") + 1))
    expect(page.locator('#types input[value="other"]')).to_be_checked()
    page.keyboard.press("Enter")
    expect(page.locator("#queue")).to_be_visible()
    found = [(one["doc_type"], one["page_indices"]) for one in station.documents(request_id)]
    assert found == [("invoice", [0, 1]), ("payslip", [2]), ("other", [3])]


@LANGUAGES
def test_supervisor_corrects_line_items_of_a_finished_request(
    station: Station, opened: Opener, locale: str
) -> None:
    request_id = station.ask("lines", INVOICE)
    page = opened("ana", locale)
    begin(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#queue")).to_be_visible()
    station.documents(request_id)
    page.goto(f"{station.url}/supervisor/requests/{request_id}?operator=sofia")
    expect(page.locator("h1")).to_have_text("factura.pdf")  # its name, no id
    expect(page.locator("time[data-local]").first).to_be_visible()  # by the clock of whoever looks
    pictures(page, "supervised-request", locale)
    page.locator(".document a.button.primary").focus()
    page.keyboard.press("Enter")
    expect(ready(page)).to_be_visible()
    expect(page.locator("[data-action]")).to_have_count(0)  # there is no task to hand on
    expect(page.locator(cell(1, "amount"))).to_be_visible()  # all of it is accepted, and open
    page.locator(cell(1, "amount")).fill("60")
    expect(page.locator("[data-sum=amount]")).to_have_class("differs")
    pictures_are_there(page)
    pictures(page, "supervised-fields", locale)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".note.good")).to_be_visible()
    answered = f"SELECT answer_version FROM requests WHERE id = '{request_id}'"
    until(lambda: station.value(answered) == 2, "the answer is amended", 60)
    (invoice,) = station.documents(request_id)
    assert [row["amount"] for row in invoice["extracted_data"]["line_items"]] == [60.0, 50.0]


def test_right_fields_take_one_key_each_and_one_to_send(station: Station, opened: Opener) -> None:
    station.ask("lines", INVOICE)
    page = opened("ana")
    begin(page)
    doubtful = page.locator('.field[data-doubtful="true"]').count()
    keys = 0
    while page.locator("#submit:focus").count() == 0:
        page.keyboard.press("Enter")
        keys += 1
    page.keyboard.press("Enter")
    keys += 1
    expect(page.locator("#queue")).to_be_visible()
    assert doubtful >= 5 and keys <= doubtful + 1
