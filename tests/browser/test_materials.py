"""A material in a real browser: read beside its pages, taken as a quiz, edited and published."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, async_playwright, expect

from bench.servers import _free_ports
from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.http.materials import documents_of
from docproc.apps.materials.store import Kind
from docproc.console.servers import gateway
from docproc.http.server import serve
from tests.browser.test_station import CHROMIUM
from tests.harness import Harness, opened, settings_for
from tests.shelved import shelve

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Harness]:
    async with opened(settings_for(tmp_path)) as harness:
        yield harness


@pytest.fixture
async def quiz(engine: Harness) -> Quiz:
    return await shelve(engine, "mat 1")


@pytest.fixture
async def page(engine: Harness) -> AsyncIterator[Page]:
    if not CHROMIUM.exists():
        missing = f"no browser at {CHROMIUM} (install Debian's chromium, or set TEST_CHROMIUM)"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    stopping, (port,) = asyncio.Event(), _free_ports(1)
    serving = asyncio.create_task(serve(engine.app, stopping, host="127.0.0.1", port=port, create=gateway))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield await browser.new_page(base_url=f"http://127.0.0.1:{port}", locale="es")
        await browser.close()
    stopping.set()
    await serving


async def accessible(page: Page) -> None:
    found = await Axe().run(page)
    assert found.response["violations"] == [], found.generate_report()


async def test_read_take_edit_and_publish(engine: Harness, quiz: Quiz, page: Page) -> None:
    await page.goto("/library")
    await accessible(page)
    await page.get_by_role("link", name=quiz.title).click()

    # The summary beside its pages.
    await expect(page.get_by_role("heading", name="Resumen")).to_be_visible()
    await expect(page.locator("#source mark").first).to_be_visible()
    await accessible(page)
    await page.get_by_role("link", name="Página siguiente").click()
    await expect(page.locator("#source-title")).to_have_text("Página 2 de 2")

    # The quiz, with one answer wrong.
    await page.get_by_role("link", name="Hacer el cuestionario").click()
    first, *others = quiz.questions
    for question in others:
        await page.locator(f"input[name={question.id}][value={question.correct_answer}]").check()
    await page.locator(f"input[name={first.id}][value={first.distractors[0].id}]").check()
    await accessible(page)
    await page.get_by_role("button", name="Comprobar mis respuestas").click()
    await expect(page.locator(".score")).to_contain_text(f"{100 - first.points} de 100 puntos")
    await expect(page.locator(".score")).to_contain_text("Aprobado")
    await expect(page.locator(".feedback.bad")).to_have_count(1)
    await expect(page.locator(".feedback.bad")).to_contain_text(first.feedback.incorrect)
    await expect(page.locator(".feedback.good").first).to_contain_text(others[0].feedback.correct)
    await accessible(page)

    # A question in other words; what cannot be is said and keeps what was typed.
    await page.get_by_role("link", name="Editar las preguntas").click()
    await page.locator("#questions[data-ready]").wait_for()
    await accessible(page)
    form = page.locator(f"form[data-question={first.id}]")
    await form.get_by_label("Opción a").fill(first.options[1].text.upper())
    await form.get_by_role("button", name="Publicar").click()
    await expect(page.locator("#told")).to_contain_text("two options say the same")
    await form.get_by_label("Opción a").fill("Una opción nueva")
    await form.get_by_role("button", name="Publicar").click()
    await expect(page.locator("#told")).to_have_text("Publicado: versión 2")
    await page.locator(f"form[data-question={others[0].id}]").get_by_role("button", name="Quitarla").click()
    await expect(page.locator("#told")).to_have_text("Publicado: versión 3")
    await expect(page.locator("form.question")).to_have_count(5)

    documents = documents_of(engine.app)
    assert await documents.versions(Kind.ASSESSMENT, "default", "mat 1") == [1, 2, 3]
    now = await documents.get(Kind.ASSESSMENT, "default", "mat 1")
    assert now is not None and now["total_questions"] == 5
    assert now["questions"][0]["options"][0]["text"] == "Una opción nueva"

    # Earlier versions can be taken; in English, too.
    await page.goto("/library/mat%201/quiz?version=1&lang=en")
    await expect(page.get_by_text("Version 1.")).to_be_visible()
    await expect(page.locator("fieldset")).to_have_count(6)
    await accessible(page)
