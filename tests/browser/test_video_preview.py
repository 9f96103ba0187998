"""The preview in a real browser, while a film is made and afterwards; pictures of it are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from bench.servers import _free_ports
from bench.video_deployment import VideoDeployment, until
from tests.films import Look, draw

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.timeout(170)]

CHROMIUM = Path(os.environ.get("TEST_CHROMIUM", "/usr/bin/chromium"))
SCREENSHOTS = Path(os.environ.get("TEST_SCREENSHOTS", Path(__file__).parents[2] / "build/screenshots"))
FRAMES = 90
MADE_MS = 60_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        missing = f"no browser at {CHROMIUM} (install Debian's chromium, or set TEST_CHROMIUM)"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VideoDeployment]:
    """A server that filters by itself, and the preview beside it."""
    folder = tmp_path_factory.mktemp("preview")
    port = _free_ports(1)[0]
    deployment = VideoDeployment(folder, VIDEO_PREVIEW_PORT=port)
    try:
        preview = deployment.start("video", "preview")
        deployment.server()
        yield deployment
        assert preview.stop() == 0, preview.said()
    finally:
        deployment.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """In Spanish; whatever the page complains about fails the test."""
    context = browser.new_context(locale="es-ES", viewport={"width": 1366, "height": 768})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []


def look(page: Page, name: str) -> None:
    """A picture for people, and nobody kept out, in either colour scheme."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=SCREENSHOTS / f"video-{name}-{scheme}.png", full_page=True)
        found = Axe().run(page).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert not serious, [(one["id"], [node["html"] for node in one["nodes"]]) for one in serious]


def test_film_is_followed_from_its_first_frame_to_the_last(
    place: VideoDeployment, page: Page, tmp_path: Path
) -> None:
    draw(tmp_path / "pelota.mp4", Look(frames=FRAMES, width=640, height=360))
    address = f"http://127.0.0.1:{place.environment['DOCPROC_VIDEO_PREVIEW_PORT']}"
    slow = [
        "--processing",
        "custom",
        "--filter",
        "blur:kind=bilateral,size=21",
        "--filter",
        "edges:low=20,high=60",
    ]
    client = place.sending(tmp_path / "pelota.mp4", *slow)
    session_id = place.new_session()
    until(lambda: 5 < place.progress(session_id)["frames_processed"] < FRAMES, "it is under way")
    page.goto(address)
    expect(page.locator("#name")).to_have_text("pelota.mp4")
    expect(page.locator("#status")).to_have_text("Filtrando")
    assert page.url.endswith(f"/session/{session_id}"), "the newest is shown, and has an address"
    expect(page.locator("#workers li").first).to_be_visible()
    _both_pictures(page)
    look(page, "live")

    first = page.locator("#done").inner_text()
    expect(page.locator("#done")).not_to_have_text(first, timeout=MADE_MS)
    place.made(client)
    expect(page.locator("#status")).to_have_text("Completada", timeout=MADE_MS)
    expect(page.locator("#done")).to_have_text(f"{FRAMES} / {FRAMES}")
    expect(page.locator("#filters li")).to_have_count(2)
    assert page.locator("#curve").get_attribute("points"), "the chart has a line"
    _until(page, "document.getElementById('video').readyState >= 1")
    assert page.evaluate("document.getElementById('video').duration") == pytest.approx(3.0, abs=0.1)

    page.locator("#strip button").nth(4).click()
    expect(page.locator("#follow")).not_to_be_checked()
    expect(page.locator('#strip button[aria-pressed="true"]')).to_have_count(1)
    _both_pictures(page)
    line = page.locator("#line")
    line.focus()
    for _ in range(10):
        line.press("ArrowRight")
    assert page.evaluate("document.getElementById('before').style.clipPath") == "inset(0px 40% 0px 0px)"
    look(page, "done")

    page.get_by_role("link", name="EN", exact=True).click()
    expect(page.locator("#status")).to_have_text("Completed")
    with page.expect_download() as loaded:
        page.get_by_role("link", name="Download the film").click()
    assert loaded.value.suggested_filename == "pelota.mp4"
    page.screenshot(path=SCREENSHOTS / "video-done-en.png")
    page.set_viewport_size({"width": 390, "height": 844})
    for language, word in (("ES", "Completada"), ("EN", "Completed")):
        page.get_by_role("link", name=language, exact=True).click()
        expect(page.locator("#status")).to_have_text(word)
        _both_pictures(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, "nothing sticks out on a phone"
        page.screenshot(path=SCREENSHOTS / f"video-phone-{language.lower()}.png")


def _both_pictures(page: Page) -> None:
    for name in ("before", "after"):
        _until(page, f"document.getElementById('{name}').naturalWidth > 0")


def _until(page: Page, script: str) -> None:
    """Asked again and again from outside: the page's policy allows no evaluated scripts."""
    for _ in range(200):
        if page.evaluate(script):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"not: {script}")
