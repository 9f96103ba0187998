"""The home page's server side: nothing unescaped, and what its script says."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import httpx
import pytest

from docproc.app import App
from docproc.apps.documents.application import application as documents
from docproc.apps.documents.http import home
from docproc.console import servers
from docproc.people import texts as people_texts
from docproc.settings import Settings
from docproc.texts import LANGUAGES, Catalogue

STATIC, TEXTS = documents.views.static, documents.views.texts
assert STATIC and TEXTS
SCRIPTS = STATIC / "home"
CATALOGUE = Catalogue(TEXTS, people_texts.FOLDER)


def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, workflows: list[str]) -> str:
    """The page with workflows of these names."""
    monkeypatch.setattr(home, "_workflow_names", lambda application, tenant_id: workflows)
    application = App(Settings.load(home=tmp_path, _env_file=None))

    async def get() -> str:
        transport = httpx.ASGITransport(servers.gateway(application))
        async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
            return (await client.get("/", params={"lang": language})).text

    return asyncio.run(get())


def test_page_has_no_inline_script_and_escapes_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    html = shown(tmp_path, monkeypatch, "es", ["<b>x</b>"])
    assert "<b>" not in html and "&lt;b&gt;x" in html
    assert html.count("<script") == 1 and 'src="/static/documents/home/drop.js"' in html
    assert "style=" not in html and "onclick" not in html
    assert '<html lang="es">' in html


def test_both_languages_have_the_same_texts() -> None:
    english, spanish = (home.script_texts(CATALOGUE, language) for language in ("en", "es"))
    assert list(english) == list(spanish)
    for name in ("steps", "statuses", "types", "names"):
        assert english[name] and list(english[name]) == list(spanish[name])


def test_script_is_given_every_text_it_says() -> None:
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS.rglob("*.js"))
    said = set(re.findall(r"\btexts\.(\w+)", scripts)) | set(re.findall(r'\bsay\("(\w+)"', scripts))
    said |= {"field", "value", "confidence"}  # heads of a table, one after the other
    for language in LANGUAGES:
        assert said == set(home.script_texts(CATALOGUE, language))
